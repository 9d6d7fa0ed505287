"""The probabilities of a block: its claims and rows under every prior, exact or estimated; and the priors of the study."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.attack.generate import GeneratedDatasets, generate, generate_block
from genverify.attack.probability import (
    ChainDraws,
    DatasetCount,
    Effort,
    Posterior,
    count_release,
    estimate,
    likely_singletons,
)
from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.claims import ANY, Codes, candidate_claims, matches
from genverify.model.domain import Domain, DomainFile
from genverify.model.release import Release, Schema
from genverify.model.settings import Generate
from genverify.model.work import derive_seed
from genverify.solve.counting.diagram import BUDGET, Budget, Diagram, TooManyStates
from genverify.solve.counting.prior import Prior, uniform
from genverify.solve.datasets import class_vectors, list_records
from genverify.solve.program import Program, WrongAnswer
from genverify.solve.program_settings import ProgramSettings
from studies.country.store import GEOGRAPHY, read_microdata
from studies.gtv.settings import Probability

# Which claims are asked about: candidates, claims that draws make likely, and some claims of one generated dataset.

CANDIDATE, SAMPLED = "candidate", "sampled"


def sampled_claims(dataset: Codes, min_k: int, number: int, rng: np.random.Generator) -> tuple[Codes, Ints]:
    """Some of the claims that are true of a dataset, drawn at random."""
    codes, m = candidate_claims(dataset[None], min_k)
    chosen = np.sort(rng.choice(len(m), min(number, len(m)), replace=False))
    return codes[chosen], m[chosen]


def joined(parts: dict[str, tuple[Codes, Ints]]) -> tuple[Codes, Ints, dict[str, npt.NDArray[np.bool_]]]:
    """The claims of all sources, each once, and which source each comes from."""
    every = np.concatenate([np.column_stack([codes, m]) for codes, m in parts.values()]).astype(np.int64)
    distinct, index = np.unique(every, axis=0, return_inverse=True)
    ends = np.cumsum([len(m) for _, m in parts.values()])
    split = zip(parts, np.split(index.ravel(), ends[:-1]), strict=True)
    sources = {name: np.isin(np.arange(len(distinct)), rows) for name, rows in split}
    return distinct[:, :-1].astype(np.int16), distinct[:, -1], sources


# Worlds: datasets drawn under a prior, as if each were the private block. With what holds in them one can say how far what
# is true may lie from its probabilities, given how the claims of a block hang together.

WORLDS = 60  # draws that are kept as the bits of one 64-bit number
Worlds = npt.NDArray[np.int64]
"""A bit for every world, set where something holds in it."""


def _worlds_of(prior: str) -> str:
    return f"{prior}_worlds"


def expected(rows: pd.DataFrame, source: str, seed: int, resamples: int) -> tuple[float, float]:
    """The ends (95 %) of the share that is true, were each block drawn as the prior says: one world for each block."""
    if _worlds_of(source) not in rows.columns:
        return np.nan, np.nan
    bits = (rows[_worlds_of(source)].to_numpy()[:, None] >> np.arange(WORLDS)) & 1
    index, names = pd.factorize(rows["block"])
    held = np.zeros((len(names), WORLDS))
    np.add.at(held, index, bits)
    drawn = np.random.default_rng(seed).integers(WORLDS, size=(resamples, len(names)))
    low, high = np.percentile(held[np.arange(len(names)), drawn].sum(axis=1) / len(rows), [2.5, 97.5])
    return float(low), float(high)


Claims = set[tuple[tuple[int, ...], int]]
EXACT, ESTIMATED = "exact", "estimated"
MORE = 5  # times the draws where they also give the probabilities, not the expectations alone


@dataclass(frozen=True)
class AttackFindings:
    """What the attack found out about a block: generated datasets, verified claims, whether every candidate is decided."""

    datasets: Codes
    verified: Claims
    decided: bool


@dataclass(frozen=True)
class PriorAnswer:
    """What gives probabilities under a prior, all datasets that fit or some draws, and datasets drawn under it."""

    source: Posterior | ChainDraws
    draws: Codes

    @property
    def numbers(self) -> str:
        return EXACT if isinstance(self.source, Posterior) else ESTIMATED

    def likeliest(self, most: int) -> Codes:
        return self.source.rows(most)[0] if isinstance(self.source, Posterior) else _often(self.draws, most)

    def present(self, records: Codes) -> Floats:
        return self.source.present(records) if isinstance(self.source, Posterior) else _share_with(records, self.draws)

    def probabilities(self, codes: Codes, m: Ints, verified: Flags) -> tuple[Floats, Floats, Floats]:
        """Of claims, with both ends of an interval: the same number where it is exact; what is proved has 1 in any case."""
        if isinstance(self.source, Posterior):
            return (self.source.probabilities(codes, m),) * 3
        p, low, high = (np.where(verified, 1.0, side) for side in self.source.probabilities(codes, m))
        return p, low, high

    def worlds(self, holds: Callable[[Codes], npt.NDArray[np.bool_] | np.bool_]) -> Worlds:
        """In which of some draws, spread over all (those of a chain hang together), something holds, as bits."""
        chosen = self.draws[np.arange(WORLDS) * len(self.draws) // WORLDS]
        bits = np.array([holds(dataset) for dataset in chosen]).astype(np.int64)
        result: Worlds = (bits << np.arange(WORLDS)[:, None]).sum(axis=0)
        return result


def weigh_block(
    program: Program, known: AttackFindings, priors: Mapping[str, Prior], settings: Probability, min_k: int, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    """
    Every number of a block: a row per claim, per record that may be there, and for the block itself. A verified claim whose
    probability is not 1, or the reverse, is a bug and stops the study.
    """
    try:
        counted = count_release(program, Budget(**settings.budget.model_dump()))
    except TooManyStates:
        counted = None
    rng = np.random.default_rng(derive_seed(seed, "draws"))
    answers = {name: _answer(program, counted, known, prior, settings, seed, rng) for name, prior in priors.items()}
    claims = _claims(program, known, answers, settings, min_k, seed)
    _hold_against_proofs(program.release.block, claims, known, list(priors))
    return claims, _rows(program, known.datasets, answers, settings.rows), _about(program, counted)


def _answer(
    program: Program, counted: DatasetCount | None, known: AttackFindings, prior: Prior, settings: Probability, seed: int,
    rng: np.random.Generator,
) -> PriorAnswer:  # fmt: skip
    """Exact where the diagram is small enough to ask claim by claim; else from exact draws, or from chains."""
    if counted is None:
        chains = estimate(program, prior, known.datasets, Effort(**settings.estimate.model_dump()), seed)
        return PriorAnswer(chains, chains.records.reshape(-1, *known.datasets.shape[1:]))
    posterior, large = counted.posterior(prior), counted.diagram.moves > settings.exact_moves
    drawn = posterior.draw(settings.draws * (MORE if large else 1), rng)
    return PriorAnswer(ChainDraws(drawn[:, None]) if large else posterior, drawn)


def _about(program: Program, counted: DatasetCount | None) -> dict[str, Any]:
    row: dict[str, Any] = {"block": program.release.block, "n_households": program.n, "classes": program.classes}
    row |= {"rows": len(program.rows), "numbers": EXACT if counted else ESTIMATED}
    if counted is None:
        return row | {"states": 0, "moves": 0, "class_vectors": None, "datasets": None}
    sizes = {"states": counted.diagram.states, "moves": counted.diagram.moves}
    # whole numbers of any length: as text, so that no digit is lost
    return row | sizes | {"class_vectors": str(counted.vectors), "datasets": str(counted.datasets)}


def _asked(
    known: AttackFindings, answers: Mapping[str, PriorAnswer], settings: Probability, min_k: int, seed: int
) -> tuple[Codes, Ints, dict[str, Flags]]:
    rng = np.random.default_rng(derive_seed(seed, "claims"))
    parts = {
        CANDIDATE: candidate_claims(known.datasets, min_k),
        SAMPLED: sampled_claims(known.datasets[0], min_k, settings.claims, rng),
    }
    for name in [name for name in answers if name in SINGLED]:
        likely = likely_singletons(answers[name].draws, min_k, settings.least)
        parts[name] = (likely, np.ones(len(likely), dtype=np.int64))
    return joined(parts)


def _claims(
    program: Program, known: AttackFindings, answers: Mapping[str, PriorAnswer], settings: Probability, min_k: int, seed: int
) -> pd.DataFrame:
    codes, m, sources = _asked(known, answers, settings, min_k, seed)
    frame = pd.DataFrame(codes, columns=list(program.types.domain.names)).astype("Int16").mask(codes == ANY)
    frame.insert(0, "block", program.release.block)
    verified = np.array([claim in known.verified for claim in zip(map(tuple, codes.tolist()), m.tolist(), strict=True)])
    # the claims of the first dataset are among those asked about, so that it would count for itself
    others = known.datasets[1:] if len(known.datasets) > 1 else known.datasets
    generated = np.mean([matches(codes, dataset).sum(axis=1) == m for dataset in others], axis=0)
    frame = frame.assign(m=m, k=(codes != ANY).sum(axis=1), verified=verified, generated=generated)
    for name, answer in answers.items():
        asked = np.flatnonzero(sources[CANDIDATE] | sources[SAMPLED] | sources.get(name, False))
        values = answer.probabilities(codes[asked], m[asked], verified[asked])
        for column, value in zip((name, f"{name}_low", f"{name}_high"), values, strict=True):
            frame[column] = pd.Series(value, index=asked).reindex(frame.index)
        frame["numbers"] = answer.numbers
    sampled = sources[SAMPLED]
    frame = frame.assign(candidate=sources[CANDIDATE], sampled=sampled)
    for name, answer in answers.items():  # the calibration is about the sampled claims; no world for the others
        worlds = np.zeros(len(m), dtype=np.int64)
        worlds[sampled] = answer.worlds(lambda dataset: matches(codes[sampled], dataset).sum(axis=1) == m[sampled])
        frame[_worlds_of(name)] = worlds
    return frame


def _hold_against_proofs(block: str, claims: pd.DataFrame, known: AttackFindings, priors: Sequence[str]) -> None:
    exact = claims[claims["numbers"] == EXACT]
    for prior in priors:
        below = exact[exact["verified"] & (exact[prior] != 1)]
        sure = exact[~exact["verified"] & (exact[prior] == 1)] if known.decided else exact[:0]
        for wrong, said in ((below, "is verified, but has"), (sure, "is not verified, but has")):
            if len(wrong):
                row = wrong.iloc[0]
                raise WrongAnswer(
                    f"block {block}: a claim with k = {row['k']}, m = {row['m']} {said} the probability "
                    f"{float(row[prior])!r} under the prior {prior}. One of the two is wrong: nothing is reported. "
                    "Please report this as a bug."
                )


def _rows(program: Program, generated: Codes, answers: Mapping[str, PriorAnswer], most: int) -> pd.DataFrame:
    listed = [answer.likeliest(most) for answer in answers.values()]
    records = np.unique(np.concatenate([*listed, _often(generated, most)]), axis=0).astype(np.int16)
    frame = pd.DataFrame(records, columns=list(program.types.domain.names))
    frame.insert(0, "block", program.release.block)
    frame["generated"] = _share_with(records, generated)
    for name, answer in answers.items():
        frame[name] = answer.present(records)
        frame["numbers"] = answer.numbers
        frame[_worlds_of(name)] = answer.worlds(lambda dataset: matches(records, dataset).any(axis=1))
    return frame


def _share_with(records: Codes, datasets: Codes) -> Floats:
    """The share of datasets that have each record."""
    return np.asarray(np.mean([matches(records, dataset).any(axis=1) for dataset in datasets], axis=0))


def _often(drawn: Codes, most: int) -> Codes:
    records, times = np.unique(drawn.reshape(-1, drawn.shape[2]), axis=0, return_counts=True)
    return records[np.argsort(-times, kind="stable")[:most]]


# What the attack has found out about the blocks of a batch, from its files.

OPEN = ("undecided", "uncertified")


def spread(releases: Sequence[Release], skip: int, every: int) -> Sequence[Release]:
    """One of `every` blocks of a batch, so that all states have a part; all of them where a batch has too few."""
    return releases[skip::every] or releases


def known_of(datasets: Mapping[str, Codes], claims: Path, blocks: Path, schema: Schema) -> dict[str, AttackFindings]:
    """Generated datasets and verified claims of every block; a block with undecided claims is not held to all of them."""
    verified = _verified(pd.read_parquet(claims), schema)
    decided = pd.read_parquet(blocks).set_index("block")
    left = decided[[name for name in decided.columns if name.startswith(OPEN)]].sum(axis=1)
    return {
        block: AttackFindings(records, verified.get(block, set()), bool(left.get(block, 0) == 0))
        for block, records in datasets.items()
    }


def _verified(claims: pd.DataFrame, schema: Schema) -> dict[str, Claims]:
    result: dict[str, Claims] = {}
    if not len(claims):
        return result
    codes = claims[list(schema.domain.names)].astype("Int16").fillna(ANY).to_numpy(dtype=np.int16)
    for block, row, m in zip(claims["block"], codes.tolist(), claims["m"], strict=True):
        result.setdefault(str(block), set()).add((tuple(row), int(m)))
    return result


# Priors of the study: what households of other blocks are like, in the tract, the state and the nation.

UNIFORM, NATION, STATE, TRACT = "uniform", "nation", "state", "tract"
PRIORS = (UNIFORM, NATION, STATE, TRACT)
SINGLED = (UNIFORM, TRACT)
"""Who is singled out is asked under the two ends: of somebody who knows nothing, and of one who knows the neighbourhood."""
TIMES = "households"


def chosen_smoothing(scored: pd.DataFrame) -> dict[str, float]:
    """The chosen value of every level, from the table of the rule choose_smoothing."""
    best = scored[scored["chosen"]]
    return {str(level): float(value) for level, value in zip(best["level"], best["smoothing"], strict=True)}


@dataclass(frozen=True)
class Areas:
    """The records of areas, each with its number of households, and how many records the wider area is worth beside them."""

    domain: Domain
    counts: Mapping[str, Mapping[str, pd.DataFrame]]
    smoothing: Mapping[str, float]

    @classmethod
    def of(cls, frame: pd.DataFrame, domain: Domain, smoothing: Mapping[str, float]) -> "Areas":
        by_level = ((str(level), group.groupby("area")) for level, group in frame.groupby("level"))
        return cls(domain, {level: {str(area): rows for area, rows in areas} for level, areas in by_level}, smoothing)

    def priors(self, block: str) -> dict[str, Prior]:
        """
        The priors of a block, from the uniform one to its tract's. Each is smoothed towards the one before it: what an
        area's households say, and `smoothing` households more that are drawn from the wider area.
        """
        result = {UNIFORM: uniform(self.domain)}
        table, floor = pd.DataFrame({name: [] for name in [*self.domain.names, "weight"]}), 1.0 / self.domain.size
        for name in (NATION, STATE, TRACT):
            inside = [rows for area, rows in self.counts.get(name, {}).items() if block.startswith(area)]
            table, floor = self._smoothed(inside[0] if inside else None, table, floor, self.smoothing.get(name, 0.0))
            codes = table[list(self.domain.names)].to_numpy(dtype=np.int16)
            result[name] = Prior(name, self.domain, codes, table["weight"].to_numpy(dtype=np.float64) + floor, floor)
        return result

    def _smoothed(
        self, entry: pd.DataFrame | None, wider: pd.DataFrame, floor: float, more: float
    ) -> tuple[pd.DataFrame, float]:
        """The probabilities of an area's records, given those of the wider area; without households, the wider area's."""
        if entry is None:
            return wider, floor
        total = float(entry[TIMES].sum()) + more
        parts = [entry.assign(weight=entry[TIMES] / total), wider.assign(weight=wider["weight"] * more / total)]
        names = list(self.domain.names)
        joined = pd.concat([part[[*names, "weight"]] for part in parts if len(part)], ignore_index=True)
        return joined.groupby(names, sort=True)["weight"].sum().reset_index(), floor * more / total


# The households of other blocks: counted by area as tables of weights for the priors, and state by state.


@dataclass(frozen=True)
class OutsideHouseholds:
    """The households outside the sampled blocks, state by state: no prior may know what is to be found out."""

    microdata: Path
    file: DomainFile
    universe: str
    published: Domain
    sampled: Collection[str]

    def states(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Every state with its households: block, and a code per published column."""
        left_out = list(self.sampled)
        for state in sorted(path.stem for path in self.microdata.glob("*.parquet")):
            records = read_microdata(self.microdata, ["block", *self.file.domain.names], states=[state]).to_pandas()
            rest = self.file.universe(self.universe).keeps.matches(dict(records.items()))
            rest &= ~records["block"].isin(left_out).to_numpy()
            for column in self.published.columns:
                rest &= records[column.name].isin(column.codes).to_numpy()
            yield state, records.loc[rest, ["block", *self.published.names]]

    def count_areas(self) -> pd.DataFrame:
        """How often each record occurs in the nation, in every state and in the tracts of the sampled blocks."""
        tracts = {block[: GEOGRAPHY[TRACT]] for block in self.sampled}
        parts = [part for state, records in self.states() for part in self._of_state(state, records, tracts)]
        counted = pd.concat(parts, ignore_index=True)
        return counted.groupby(["level", "area", *self.published.names], sort=True)[TIMES].sum().reset_index()

    def _of_state(self, state: str, records: pd.DataFrame, tracts: set[str]) -> Iterator[pd.DataFrame]:
        names = list(self.published.names)
        whole = records.groupby(names, observed=True).size().rename(TIMES).reset_index()
        yield whole.assign(area="", level=NATION)
        yield whole.assign(area=state, level=STATE)
        area = records["block"].str.slice(0, GEOGRAPHY[TRACT])
        local = records[area.isin(tracts)].assign(area=area)
        yield local.groupby(["area", *names], observed=True).size().rename(TIMES).reset_index().assign(level=TRACT)


# How many households of the wider area a prior needs: chosen by predicting blocks from their neighbours, as the priors will
# be used: given what the tables tell of every block. No sampled block has a part in it, neither as what predicts nor as
# what is predicted.

LEVELS = (NATION, STATE, TRACT)
COLUMNS = ["level", "smoothing", "nats_per_household", "households", "chosen"]


def score_smoothing(
    states: Callable[[], Iterable[pd.DataFrame]], sizes: Mapping[str, int], values: Sequence[float],
    levels: Sequence[str] = LEVELS, given: Sequence[str] = (),
) -> pd.DataFrame:  # fmt: skip
    """
    For every level and value the mean of -log P(household | its given columns) over all households outside the sample, each
    block predicted from all others; the best value of a level is chosen before the next narrower one. `states` gives the
    households of each state (block, and a code per column), as often as it is asked; `sizes` the number of codes of each
    column. The columns that are given are what the tables tell of a block anyway: a prior is needed for the rest.
    """
    # log P(household | given) = log P(household) - log P(given): the columns of each part, and its sign
    parts = [(list(names), 1 if names is sizes else -1) for names in (sizes, given) if names]
    nations = [_nation(states(), part) for part, _ in parts]
    chosen: dict[str, float] = {}
    records = []
    for level in levels:
        losses, households = np.zeros(len(values)), 0
        for entry in states():
            for (part, sign), nation in zip(parts, nations, strict=True):
                rows, size = left_out(entry, nation, part), prod(sizes[name] for name in part)
                losses += [sign * _loss(rows, {**chosen, level: value}, size) for value in values]
            households += len(entry)
        # without any other block there is nothing to learn from: the wider area then says most
        best = int(losses.argmin()) if households else int(np.argmax(values))
        chosen[level] = float(values[best])
        records += [(level, float(value), loss / max(households, 1), households, index == best)
                  for index, (value, loss) in enumerate(zip(values, losses, strict=True))]  # fmt: skip
    return pd.DataFrame(records, columns=COLUMNS)


def _nation(states: Iterable[pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    return _counted(pd.concat([_counted(state, names) for state in states], ignore_index=True), names, TIMES)


def _loss(rows: pd.DataFrame, smoothing: Mapping[str, float], size: int) -> float:
    return float(-(rows[TIMES].to_numpy(dtype=np.float64) @ np.log(predicted(rows, smoothing, size))))


def left_out(records: pd.DataFrame, nation: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Every kind of household of a block: how many, and by level how many of it and in all outside the block."""
    rows = records.groupby(["block", *names], observed=True).size().rename(TIMES).reset_index()
    in_block = rows.groupby("block")[TIMES].transform("sum")
    totals = rows[list(names)].merge(nation, on=list(names), how="left")[TIMES].to_numpy()
    rows[NATION], rows[f"{NATION}_n"] = totals - rows[TIMES], nation[TIMES].sum() - in_block
    for level in (STATE, TRACT):
        area = rows["block"].str.slice(0, GEOGRAPHY[level])
        rows[level] = rows.groupby([area, *names])[TIMES].transform("sum") - rows[TIMES]
        rows[f"{level}_n"] = rows.groupby(area)[TIMES].transform("sum") - in_block
    return rows


def predicted(rows: pd.DataFrame, smoothing: Mapping[str, float], size: int) -> Floats:
    """The probability of every row's household under the prior of the narrowest level that has a smoothing."""
    p = np.full(len(rows), 1.0 / size)
    for level in [level for level in LEVELS if level in smoothing]:
        seen, total = (rows[name].to_numpy(dtype=np.float64) for name in (level, f"{level}_n"))
        p = (seen + smoothing[level] * p) / (total + smoothing[level])
    return p


def _counted(rows: pd.DataFrame, names: Sequence[str], times: str | None = None) -> pd.DataFrame:
    grouped = rows.groupby(list(names), observed=True)
    counted = grouped[times].sum() if times else grouped.size()
    return counted.rename(TIMES).reset_index()


# Problem 1 by exact draws: datasets that fit a release, each as likely as the uniform prior makes it.

log = logging.getLogger(__name__)
PATIENCE = 50  # rounds of K draws; then fewer than K are given


def find_datasets(release: Release, settings: ProgramSettings, how: Generate, seed: int) -> GeneratedDatasets:
    """Datasets of a block by the method of the settings; the one-hot program has a way of its own."""
    find = _draw_block if how.method == "exact" and settings.proves else generate_block
    return find(release, settings, how.datasets, seed)


def _draw_block(release: Release, settings: ProgramSettings, K: int, seed: int) -> GeneratedDatasets:
    """K distinct datasets that fit the release of a block, drawn exactly; found by walking where counting takes too much."""
    bounder = settings.proving("drawing exactly (generate.method: exact)").bounder(release)
    drawn = _draw_exactly(bounder.program, K, seed)
    if drawn is None:
        return generate(bounder, K, seed)
    return GeneratedDatasets(drawn[0], len(class_vectors(bounder.program, drawn[0])), drawn[1])


def _draw_exactly(program: Program, K: int, seed: int, budget: Budget = BUDGET) -> tuple[Codes, bool] | None:
    """K distinct datasets as independent draws bring them, or all, and whether these are all; None beyond the budget."""
    try:
        counted = count_release(program, budget)
    except TooManyStates as error:
        log.warning("block %s: %s Its datasets are found by walking.", program.release.block, error)
        return None
    if counted.datasets <= K:
        listed = [records for z in all_vectors(counted.diagram) for records in list_records(program, z)]
        return np.array(listed), True
    return _distinct(counted, K, np.random.default_rng(seed)), False


def _distinct(counted: DatasetCount, K: int, rng: np.random.Generator) -> Codes:
    posterior = counted.posterior(uniform(counted.program.types.domain))
    result: dict[bytes, Codes] = {}
    for _ in range(PATIENCE):
        for records in posterior.draw(K, rng):
            result.setdefault(records.tobytes(), records)
        if len(result) >= K:
            break
    return np.array(list(result.values())[:K])


def all_vectors(diagram: Diagram) -> list[Ints]:
    """Every class vector that fits, for diagrams with few of them."""
    ways: dict[int, list[Ints]] = {0: [np.zeros(diagram.classes, dtype=np.int64)]}
    for step in diagram.steps:
        before = dict(ways)
        for move in step:
            taken = np.eye(1, diagram.classes, move.cls, dtype=np.int64)[0] * move.times
            for source, target in zip(move.source.tolist(), move.target.tolist(), strict=True):
                ways[target] = [*ways.get(target, []), *(z + taken for z in before.get(source, []))]
    return [z for end in diagram.ends.tolist() for z in ways.get(end, [])]
