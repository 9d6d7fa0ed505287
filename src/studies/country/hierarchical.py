"""
Protected microdata by a small hierarchical mechanism: noisy counts of households from the nation down to blocks.

It is a mechanism of the kind of the Census Bureau's TopDown, not the Bureau's. Every level (nation, state, county, tract,
block) measures the same queries of each of its places: some margins, and the number of households of every type. The noise
of a measured count is discrete Gaussian. Level by level the households of a place, as protected, are shared out to the
places inside: least squares, then numbers that are not negative, then whole numbers, all within what the place around has
of each type. Thus every total of a place is that of its parts, and households move between the blocks of a tract, they are
not invented there.

Neighbours are two countries that differ in one household. It lies in one cell of each query before and in one after, so a
query has a squared sensitivity of 2: with the share c of rho its noise has the variance 1 / (c rho), and all of them
together are rho-zCDP. A level divides its share so that every margin has WEIGHT times as much as the types. What is made of
noisy counts costs nothing. Public and as they are: the number of households of the nation, which blocks exist, which types
are possible, and vacant units. A place that is alone in the place around it is the same place, and is not measured.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array, vstack

from genverify.model.arrays import Floats, Ints, positions, row_keys
from genverify.model.domain import DomainFile
from genverify.model.errors import ConfigError, DataError, nearest
from genverify.model.work import derive_seed
from studies.country.noise import as_written, sample, variance
from studies.country.people import possible_types
from studies.country.settings import Hierarchical
from studies.country.store import GEOGRAPHY

DIGITS = {"nation": 0, **dict(sorted(GEOGRAPHY.items(), key=lambda item: item[1]))}
"""The levels from the nation down, and how many digits of a block id name a place of each."""

BELOW = ("county", "tract", "block")  # levels inside a state
# How much more a margin counts than the types: with evenly shared noise a block would be filled with whatever types happened
# to draw high noise, and its total would be further off than the noisy total is.
WEIGHT = 8
SWEEPS = 2  # over the households of a place: bounds time; the fit may still be improved
DECIMALS = 6  # of fitted numbers: what is left of a fit of whole numbers is far below, and machines agree on ties


class Mechanism:
    """The queries over the possible types of households, the variance of their noise at each level, and the seed."""

    def __init__(self, settings: Hierarchical, domain_file: DomainFile, seed: int) -> None:
        records = possible_types(domain_file).records
        self.names, self.seed = tuple(records), seed
        self.types = np.column_stack([records[name] for name in self.names])
        self.inside = self._inside(settings.margins)
        rho, parts = as_written(settings.rho, "rho"), 1 + WEIGHT * len(settings.margins)
        shares = {level: Fraction(str(share)) / parts for level, share in settings.shares.items()}
        self.variances: dict[str, Fraction] = {level: variance(rho, share) for level, share in shares.items()}

    def _inside(self, margins: Sequence[Sequence[str]]) -> csr_array:
        """Which types (rows) lie in which cells of the margins; a margin of no column has one cell, the total."""
        cells: list[Ints] = []
        for margin in margins:
            for name in margin:
                if name not in self.names:
                    raise ConfigError(f"protection.hierarchical.margins: {name!r}: {nearest(name, list(self.names))}")
            codes = self.types[:, [self.names.index(name) for name in margin]]
            found = np.unique(codes, axis=0, return_inverse=True)[1].ravel() if margin else np.zeros(len(codes), np.int64)
            cells.append(found + (cells[-1].max() + 1 if cells else 0))
        lying = np.column_stack(cells).ravel() if cells else np.zeros(0, np.int64)
        rows = np.repeat(np.arange(len(self.types)), len(cells))
        shape = (len(self.types), int(lying.max(initial=-1)) + 1)
        return csr_array((np.ones(len(lying), dtype=np.int64), (rows, lying)), shape=shape)

    def counts(self, table: pa.Table) -> tuple[list[str], csr_array]:
        """The blocks of a table of housing units, and how many occupied ones of each type they have."""
        households = table.filter(pc.equal(table["VACS"], 0))
        block = households["block"].cast(pa.string()).combine_chunks().dictionary_encode()
        known, wanted = row_keys([self.types, np.column_stack([households[name].to_numpy() for name in self.names])])
        order = np.argsort(known)
        place = positions(known[order], wanted)
        if (place < 0).any():
            where = block[int(np.argmin(place))]
            raise DataError(
                f"block {where}: a household that the rules of the domain exclude; correct the rules or the record"
            )
        pairs = (np.ones(len(wanted), dtype=np.int64), (block.indices.to_numpy(), order[place]))
        return block.dictionary.to_pylist(), csr_array(pairs, shape=(len(block.dictionary), len(self.types)))

    def nation(self, counts: Ints) -> Ints:
        """The protected number of households of each type in the nation; their total is kept."""
        rng = np.random.default_rng(derive_seed(self.seed, "hierarchical", "nation"))
        detail, margins = self._measured(csr_array(counts[None, :]), np.arange(len(counts)), "nation", rng)
        fitted = least_squares(detail, margins, self.inside)
        shared: Ints = apportion(fitted, counts.sum(keepdims=True))[0]
        return shared

    def split(self, parent: Ints, children: csr_array, level: str, where: str) -> csr_array:
        """The protected households (rows, types) of the children of a place: they add up to the protected parent."""
        if children.shape[0] == 1:
            return csr_array(parent[None, :])
        rng = np.random.default_rng(derive_seed(self.seed, "hierarchical", level, where))
        live = np.flatnonzero(parent)
        detail, margins = self._measured(children, live, level, rng)
        inside = self.inside[live]
        fitted = least_squares(detail, margins, inside)
        # all children have the same variances, so what the parent lacks or has left is shared evenly by least squares
        fitted += (parent[live] - fitted.sum(axis=0)) / len(fitted)
        shared = moved(apportion(fitted.T, parent[live]).T, detail, margins, inside, rng)
        rows, columns = np.nonzero(shared)
        return csr_array((shared[rows, columns], (rows, live[columns])), shape=children.shape)

    def _measured(self, places: csr_array, live: Ints, level: str, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Noisy numbers of each type that can be there and of each cell of the margins, a row per place."""
        detail, margins = places[:, live].toarray(), (places @ self.inside).toarray()
        noise = sample(self.variances[level], detail.size, rng), sample(self.variances[level] / WEIGHT, margins.size, rng)
        return detail + noise[0].reshape(detail.shape), margins + noise[1].reshape(margins.shape)

    def down(
        self, parent: Ints, ids: npt.NDArray[np.str_], blocks: csr_array, levels: Sequence[str], where: str
    ) -> Iterator[tuple[str, csr_array]]:
        """The blocks of a place, each with its protected households, through the levels that are left."""
        level, *below = levels
        names, group = np.unique([name[: DIGITS[level]] for name in ids], return_inverse=True)
        together = csr_array((np.ones(len(ids), dtype=np.int64), (group, np.arange(len(ids)))))
        shared = self.split(parent, together @ blocks, level, where)
        for index, name in enumerate(names.tolist()):
            if below:
                rows = np.flatnonzero(group == index)
                yield from self.down(shared[[index]].toarray()[0], ids[rows], blocks[rows], below, name)
            else:
                yield name, shared[[index]]


def least_squares(detail: Ints, margins: Ints, inside: csr_array) -> Floats:
    """Numbers x of each type nearest to the noisy ones, |x - detail|^2 + WEIGHT |x inside - margins|^2, a row per place."""
    gram = (inside.T @ inside).toarray() + np.eye(inside.shape[1]) / WEIGHT
    fitted: Floats = detail + (inside @ np.linalg.solve(gram, margins.T - inside.T @ detail.T)).T
    return fitted


def apportion(values: Floats, totals: Ints) -> Ints:
    """Whole numbers, not negative, near each row of values, with the totals: projected, then the largest remainders."""
    falling = -np.sort(-values, axis=1)
    over = (np.cumsum(falling, axis=1) - totals[:, None]) / np.arange(1, values.shape[1] + 1)
    last = np.maximum((falling > over).sum(axis=1) - 1, 0)  # the least value that stays above 0
    near = np.round(np.maximum(values - np.take_along_axis(over, last[:, None], axis=1), 0), DECIMALS)
    down = np.floor(near).astype(np.int64)
    order = np.argsort(np.argsort(down - near, axis=1, kind="stable"), axis=1, kind="stable")
    left = totals - down.sum(axis=1)
    whole: Ints = down + (order < left[:, None])
    return whole


def moved(counts: Ints, detail: Ints, margins: Ints, inside: csr_array, rng: np.random.Generator) -> Ints:
    """The households of the places, one by one moved while that lowers the squares: it mends margins that rounding broke."""
    counts, width = counts.copy(), inside.shape[1]
    # a row per cell or type: rows are read one by one, which is fast only where they lie together
    away = np.ascontiguousarray(np.hstack([WEIGHT * (counts @ inside - margins), counts - detail]).T)
    rows_of = np.column_stack([inside.indices.reshape(counts.shape[1], -1), width + np.arange(counts.shape[1])])
    step = np.array([WEIGHT] * (rows_of.shape[1] - 1) + [1])
    least = step.sum()  # that a score must fall: squares grow where a household arrives and where it is missed
    place, kind = (np.repeat(one, counts[np.nonzero(counts)]) for one in np.nonzero(counts))
    for _ in range(SWEEPS):
        before = place.copy()
        for index in rng.permutation(len(place)).tolist():
            rows, here = rows_of[kind[index]], place[index]
            score = np.add.reduce(away.take(rows, axis=0), axis=0)
            there = score.argmin()
            if score[there] + least < score[here]:
                away[rows, here] -= step
                away[rows, there] += step
                place[index] = there
        if (before == place).all():
            break
    counts[:] = 0
    np.add.at(counts, (place, kind), 1)
    return counts


def protect_households(
    draw: Callable[[], Iterator[pa.Table]], settings: Hierarchical, domain_file: DomainFile, seed: int
) -> Iterator[pa.Table]:
    """Protected housing units, one state in memory at a time; `draw` gives the private ones by state, and is asked twice."""
    mechanism = Mechanism(settings, domain_file, seed)
    private = vstack([csr_array(mechanism.counts(table)[1].sum(axis=0)[None, :]) for table in draw()], format="csr")
    states = mechanism.split(mechanism.nation(private.sum(axis=0)), private, "state", "nation")
    for index, table in enumerate(draw()):
        ids, blocks = mechanism.counts(table)
        parent, where = states[[index]].toarray()[0], ids[0][: GEOGRAPHY["state"]]
        yield _table(mechanism, table, mechanism.down(parent, np.array(ids), blocks, BELOW, where))


def _table(mechanism: Mechanism, private: pa.Table, blocks: Iterator[tuple[str, csr_array]]) -> pa.Table:
    """The units of a state, sorted by block, in a block the occupied ones first."""
    vacant = private.filter(pc.not_equal(private["VACS"], 0))
    names, kinds = [], []
    for name, households in blocks:
        kinds.append(np.repeat(households.indices, households.data))
        names += [name] * len(kinds[-1])
    codes = mechanism.types[np.concatenate(kinds)]
    columns: dict[str, Any] = {"block": pa.array(names, pa.string())}
    for name in private.column_names[1:]:
        own = codes[:, mechanism.names.index(name)] if name in mechanism.names else np.zeros(len(codes), np.int8)
        columns[name] = pa.array(own.astype(np.int8))
    table = pa.concat_tables([pa.table(columns), vacant.cast(pa.table(columns).schema)])
    return table.take(pa.array(np.argsort(table["block"].to_numpy(zero_copy_only=False).astype(str), kind="stable")))
