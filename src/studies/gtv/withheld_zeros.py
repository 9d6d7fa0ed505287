"""The paper's Table 5: which claims survive when zeros are suppressed, explanations tried on the same blocks, their page."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from operator import itemgetter
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.attack.evaluate import Weights, evaluate, ratio_interval
from genverify.attack.generate import generate_block
from genverify.attack.verify import Verdict, Verifier, check_decisions, decide_onehot, verify_block
from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.claims import ANY, Claim
from genverify.model.domain import DomainFile
from genverify.model.errors import ConfigError, DataError, nearest
from genverify.model.query import Query
from genverify.model.release import Release, Schema
from genverify.model.work import derive_seed, progress
from genverify.report.pages import bullets, cell, document, markdown_table
from genverify.solve.program_settings import ProgramSettings
from genverify.solve.solvers.base import Optimal, WorkLimits, make_solver
from studies.country.store import read_records
from studies.gtv.settings import SearchRound
from studies.gtv.tables import PAPER_K

# The households of the study of withheld zeros: as sampled, or with one household of every block given some codes.


def read_households(
    folder: Path, blocks: Collection[str], domain: DomainFile, universe: str, codes: Mapping[str, int], seed: int
) -> pd.DataFrame:
    """The households of the blocks, sorted by block; where codes are given, one of every block at least has them."""
    rest = read_records(folder, domain, universe, blocks).astype({"block": str})
    rest = rest.sort_values("block", kind="stable", ignore_index=True)
    for name, code in codes.items():
        if code not in domain.domain[name].codes:
            raise ConfigError(f"config/zeros.yaml: zeros.records gives {name} the code {code}, which it does not have")
    return _force_codes(rest, codes, seed) if codes else rest


def _force_codes(records: pd.DataFrame, codes: Mapping[str, int], seed: int) -> pd.DataFrame:
    """The records with the codes put into one record, drawn at random, of every block that has none with all of them."""
    wanted = (records[list(codes)] == pd.Series(codes)).all(axis=1).to_numpy()
    changed = records.copy()
    for block, of_block in records.groupby("block").indices.items():
        rows = np.asarray(of_block, dtype=np.int64)
        if not wanted[rows].any():
            rng = np.random.default_rng(derive_seed(seed, "zeros", str(block)))
            changed.loc[int(rows[rng.integers(len(rows))]), list(codes)] = list(codes.values())
    return changed.astype(records.dtypes)


# Households behind singleton claims, how many of them a release loses, and how far that is from what the paper lost.

COMPARED = PAPER_K[:-1]
"""The k that losses are compared for: at k = 10 the paper has six households to lose."""


def find_households(claims: pd.DataFrame, records: pd.DataFrame) -> pd.DataFrame:
    """The claims with the household that each singles out, as its place in the block; an error if one is false."""
    household = np.full(len(claims), -1, dtype=np.int64)
    for part in evaluate(claims.assign(m=1), records):
        if part.false.any():
            raise DataError(
                f"block {part.block}: a verified singleton claim is false of its records. Either they changed after the "
                "counts were made: publish and attack again. Or the verification is wrong."
            )
        household[part.claims] = part.about
    return claims.assign(household=household.astype(np.int32))


def claims_by_block(claims: pd.DataFrame, names: Sequence[str]) -> dict[str, "BlockClaims"]:
    return {str(block): BlockClaims(rows, names) for block, rows in claims.groupby("block", sort=True)}


class BlockClaims:
    """The singleton claims of a block, with the k and the household of each."""

    def __init__(self, rows: pd.DataFrame, names: Sequence[str]) -> None:
        codes = rows[list(names)].fillna(ANY).to_numpy(dtype=np.int64)
        self.claims = [Claim(tuple(row), 1) for row in codes.tolist()]
        self.k, self.household = rows["k"].to_numpy(), rows["household"].to_numpy()

    def count(self, verified: Flags) -> Ints:
        """How many households the verified ones among the claims single out, by k (footnote 6)."""
        return np.array([len(np.unique(self.household[verified & (self.k == k)])) for k in PAPER_K], dtype=np.int64)


def losses(before: npt.ArrayLike, after: npt.ArrayLike) -> Floats:
    """The share of households that are lost, by k; not known where there are none to lose."""
    whole, left = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    lost: Floats = np.divide(whole - left, whole, out=np.full(whole.shape, np.nan), where=whole > 0)
    return lost


def paper_losses(variants: Mapping[str, Mapping[str, Mapping[int, int]]], name: str) -> Floats:
    """What a row of the paper's Table 5 loses against its first row."""
    whole, left = ([variants[row]["total"][k] for k in PAPER_K] for row in ("paper", name))
    return losses(whole, left)


def distance(ours: Floats, paper: Floats) -> float:
    """Mean absolute difference of the losses over k = 6 to 9, in points; a k without households counts as no loss."""
    end = len(COMPARED)
    return float(100 * np.abs(np.nan_to_num(ours[:end]) - paper[:end]).mean())


def _one_column_later(total: Mapping[int, int]) -> Iterator[int]:
    """A row of the paper as it would be if no claim could name one column that every claim could name before."""
    yield from (total.get(k + 1, 0) for k in PAPER_K)


# Which claims survive when less is published: those verified from all counts, decided again on fewer.

VERTICES = 6  # decide the speed only: what is verified depends on none


def publish_less(release: Release, withhold: Collection[int], missing: Collection[int]) -> Release:
    """The release without some answers (`withhold`) and without some lines, whatever their answers (`missing`)."""
    rest = ~(np.isin(release.lo, list(withhold)) | np.isin(release.cells, list(missing)))
    return replace(release, cells=release.cells[rest], lo=release.lo[rest], hi=release.hi[rest])


def singletons(release: Release, settings: ProgramSettings, K: int, min_k: int, seed: int) -> list[Claim]:
    """The singleton claims that are verified from all counts, every proof checked."""
    result = verify_block(release, generate_block(release, settings, K, seed).records, settings, min_k)
    return [claim for claim in result.claims if claim.m == 1]


def survivors(release: Release, claims: Sequence[Claim], settings: ProgramSettings, check: bool) -> tuple[Flags, int]:
    """
    Which of the claims are still verified, and how many stayed open. Fewer counts fit more datasets, so nothing is verified
    from them that is not verified from all: the claims of the whole release are the only candidates. Without `check` the
    proofs are not handed to the checker, which is enough to rank releases.
    """
    if not claims:
        return np.zeros(0, dtype=bool), 0
    bounder = settings.bounder(release)
    rng = np.random.default_rng(0)
    for _ in range(VERTICES):  # datasets that refute most of the lost claims at once; what is verified depends on none
        answer = bounder.lp.maximise(rng.standard_normal(bounder.program.classes))
        if isinstance(answer, Optimal):
            bounder.integral(answer.z)
    decisions = Verifier(bounder).decide(claims)
    verified = [decision for decision in decisions if decision.verdict is Verdict.VERIFIED]
    if check and verified:
        check_decisions(bounder.program, verified)
    open_ = sum(decision.verdict in (Verdict.UNDECIDED, Verdict.UNCERTIFIED) for decision in decisions)
    return np.array([decision.verdict is Verdict.VERIFIED for decision in decisions]), open_


# Gaps: sets of lines that a release might lack altogether, whatever their answers are.


@dataclass(frozen=True)
class Gap:
    """Lines that are not published, as positions in schema.queries, and what they have in common."""

    name: str
    cells: frozenset[int]

    def __or__(self, other: "Gap") -> "Gap":
        return Gap(" + ".join(filter(None, (self.name, other.name))), self.cells | other.cells)


NO_GAP = Gap("", frozenset())
KINDS = ("line", "table", "tables", "every", "columns")


def named_gap(schema: Schema, patterns: Sequence[str], where: str) -> Gap:
    """The lines whose ids match one of the patterns, such as `H3.occupied` or `H13?.*`."""
    result: set[int] = set()
    for pattern in patterns:
        part = {index for name, index in schema.position.items() if fnmatchcase(name, pattern)}
        if not part:
            raise ConfigError(f"{where}: {pattern!r} is not a line of it: {nearest(pattern, list(schema.position))}")
        result |= part
    return Gap(" + ".join(patterns), frozenset(result))


def possible_gaps(schema: Schema) -> list[Gap]:
    """What the search tries: tables, lines (with iterations or not), one clause, one set of columns; no lines twice."""
    groups: dict[str, set[int]] = {}
    family = _families({query.table for query in schema.queries})
    for index, query in enumerate(schema.queries):
        for name in _names(query, family[query.table]):
            groups.setdefault(name, set()).add(index)
    distinct: dict[frozenset[int], str] = {}
    for kind in KINDS:
        for name, cells in groups.items():
            if name.startswith(f"{kind} "):
                distinct.setdefault(frozenset(cells), name)
    return [Gap(name, cells) for cells, name in distinct.items()]


def _families(tables: set[str]) -> Mapping[str, str]:
    """The name under which a table and its iterations go."""
    base = {table: table.rstrip(ascii_uppercase) for table in tables}
    iterated = {base[table] for table in tables if base[table] != table} & tables
    return {table: f"{base[table]}*" if base[table] in iterated else table for table in tables}


def _names(query: Query, family: str) -> Iterator[str]:
    yield f"table {query.table}"
    yield f"tables {family}"
    yield f"line {family}.{query.id.partition('.')[2]}"
    yield from (f"every {column}={'/'.join(map(str, codes))}" for column, codes in query.predicate.clauses)
    yield f"columns {' x '.join(query.predicate.columns)}"


# The paper's own program under a limit: which claims that hold with and without zeros it fails to decide.

ZEROS = (0,)
NO_LIMIT = 2**31 - 1  # the largest number that solvers take: nodes and seconds alone decide


def choose_claims(
    releases: Sequence[Release], claims: Mapping[str, BlockClaims], settings: ProgramSettings, each: int, seed: int
) -> Iterator[tuple[Release, Claim]]:
    """For every k some claims that hold also without zeros: what the one-hot program loses, it loses to its limit."""
    rng = np.random.default_rng(seed)
    known = [release for release in releases if release.block in claims]
    rest = {
        release.block: survivors(publish_less(release, ZEROS, ()), claims[release.block].claims, settings, check=False)[0]
        for release in known
    }
    for k in PAPER_K:
        result = []
        for index in rng.permutation(len(known)):
            release, part = known[index], claims[known[index].block]
            indices = np.flatnonzero(rest[release.block] & (part.k == k))
            if len(indices):
                result.append((release, part.claims[rng.choice(indices)]))
        yield from result[:each]


def decide_both(chosen: Sequence[tuple[Release, Claim]], name: str, nodes: int, seconds: float) -> pd.DataFrame:
    """The one-hot program's verdict on every claim, with and without zeros, within nodes; seconds are a safety net."""
    solver, rows = make_solver(name, WorkLimits(NO_LIMIT, nodes, seconds)), []
    for release, claim in chosen:
        given, untold = (decide_onehot(part, [claim], solver)[0] for part in (release, publish_less(release, ZEROS, ())))
        row = {"block": release.block, "k": claim.k, "solver": solver.name}
        row |= {"with_zeros": given.verdict.value, "limit_with_zeros": given.limit or ""}
        rows.append(row | {"without_zeros": untold.verdict.value, "limit_without_zeros": untold.limit or ""})
    columns = ["block", "k", "solver", "with_zeros", "limit_with_zeros", "without_zeros", "limit_without_zeros"]
    return pd.DataFrame(rows, columns=columns)


def _verified_by_k(result: pd.DataFrame) -> pd.DataFrame:
    """Claims by k: how many were tried, and verified with and without zeros."""
    flags = result[["k"]].assign(tried=1)
    for name in ("with_zeros", "without_zeros"):
        flags[name] = (result[name] == Verdict.VERIFIED.value).astype("int64")
    return flags.groupby("k").sum().reindex(list(PAPER_K), fill_value=0)


# A greedy search for few gaps in the release that would make withheld zeros as costly as they were to the paper.


@dataclass(frozen=True)
class GapTrial:
    """
    A set of so many gaps that was tried: households by k with zeros published and withheld, and the three ways in which it
    can contradict the paper, in points: losses of withheld zeros that differ from Table 5's, households lost while zeros are
    published (Table 4 has them), and lines missing of the number of queries that it states.
    """

    size: int
    gap: Gap
    published: Ints
    withheld: Ints
    table5: float
    table4: float
    queries: float

    @property
    def score(self) -> float:
        return self.table5 + self.table4 + self.queries


class TrialBlocks:
    """Blocks on which gaps are tried; what was decided about a block is not decided again."""

    def __init__(
        self, releases: Sequence[Release], claims: Mapping[str, BlockClaims], settings: ProgramSettings, check: bool
    ) -> None:
        self.releases, self.claims, self.settings, self.check = releases, claims, settings, check
        self.known: dict[tuple[str, bytes], Flags] = {}
        self.undecided = 0

    def households(self, gap: Gap, withhold: Collection[int], first: int | None = None) -> Ints:
        """Households singled out in each block, by k; on request only in the first blocks."""
        rows = [self._block(release, gap.cells, withhold) for release in self.releases[:first]]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(PAPER_K))

    def trial(self, size: int, gap: Gap, paper: Floats, queries: int) -> GapTrial:
        """What the gap does on all blocks together, and how far a release with it is from the paper's."""
        kinds = ((NO_GAP, ()), (gap, ()), (gap, ZEROS))
        complete, published, withheld = (self.households(part, withhold).sum(axis=0) for part, withhold in kinds)
        spoilt = np.nan_to_num(losses(complete, published))[: len(COMPARED)].mean()
        table5 = distance(losses(published, withheld), paper)
        lines = 100 * len(gap.cells) / queries
        return GapTrial(size, gap, published, withheld, table5, 100 * float(spoilt), lines)

    def _block(self, release: Release, missing: Collection[int], withhold: Collection[int]) -> Ints:
        """Two gaps that leave the same counts of a block published ask the same question."""
        part = self.claims.get(release.block)
        if part is None:
            return np.zeros(len(PAPER_K), dtype=np.int64)
        less = publish_less(release, withhold, missing)
        key = release.block, less.cells.tobytes()
        if key not in self.known:
            self.known[key], undecided = survivors(less, part.claims, self.settings, self.check)
            self.undecided += undecided
        return part.count(self.known[key])


@dataclass(frozen=True)
class Search:
    """
    A greedy search: the best gap, then the best one to add to it, and so on. In every round the gaps are tried on a few
    blocks, zeros withheld, and the best go on to the next round; the last are tried on all blocks, zeros also published.
    """

    lab: TrialBlocks
    paper: Floats
    queries: int
    rounds: Sequence[SearchRound]

    def steps(self, gaps: Sequence[Gap], size: int) -> Iterator[list[GapTrial]]:
        """For every size the sets of the last round, best first; every one holds the best set of the size before."""
        result = NO_GAP
        for number in range(1, size + 1):
            larger = [result | gap for gap in gaps if not gap.cells & result.cells]
            tried = (self.lab.trial(number, gap, self.paper, self.queries) for gap in self._last(larger, result))
            ranked = sorted(tried, key=lambda one: (one.score, len(one.gap.cells), one.gap.name))
            if not ranked:
                return
            yield ranked
            result = ranked[0].gap

    def _last(self, gaps: Sequence[Gap], before: Gap) -> Sequence[Gap]:
        """The gaps that are left after all rounds; those that add nothing to the one before go first."""
        for settings in self.rounds:
            number = settings.blocks
            complete = self.lab.households(NO_GAP, (), number).sum(axis=0)
            rest = self.lab.households(before, ZEROS, number)
            gaps = [gap for gap in gaps if (self.lab.households(gap, ZEROS, number) != rest).any()] or gaps
            far = [(self._far(gap, complete, number), len(gap.cells), gap.name, gap) for gap in gaps]
            gaps = [gap for *_, gap in sorted(far, key=itemgetter(0, 1, 2))[: settings.keep]]
        return gaps

    def _far(self, gap: Gap, complete: Ints, blocks: int) -> float:
        lost = losses(complete, self.lab.households(gap, ZEROS, blocks).sum(axis=0))
        return distance(lost, self.paper) + 100 * len(gap.cells) / self.queries


# Explanations tried on the same blocks: households singled out, by k, for every answer that may be withheld.

WITHHELD: Mapping[str, tuple[int, ...]] = {"paper": (), "no_ones": (1,), "no_zeros": (0,), "no_zeros_ones": (0, 1)}
"""The rows of the paper's Table 5, and the answers that each withholds."""


def try_gaps(
    gaps: Mapping[str, Gap], releases: Sequence[Release], claims: Mapping[str, BlockClaims], settings: ProgramSettings,
    rows: Sequence[str] = tuple(WITHHELD),
) -> pd.DataFrame:  # fmt: skip
    """One row per explanation, row of Table 5, block and k. Every claim counted has a proof that the checker accepted."""
    lab = TrialBlocks(releases, claims, settings, check=True)
    parts = [
        _frame(lab, gap, withheld).assign(explanation=name, missing=gap.name, lines=len(gap.cells), withheld=withheld)
        for name, gap in progress(list(gaps.items()), "explanations tried")
        for withheld in rows
    ]
    return pd.concat(parts, ignore_index=True).assign(undecided=lab.undecided)


def _frame(lab: TrialBlocks, gap: Gap, withheld: str) -> pd.DataFrame:
    counted = pd.DataFrame(lab.households(gap, WITHHELD[withheld]), columns=list(PAPER_K))
    counted.insert(0, "block", [release.block for release in lab.releases])
    return counted.melt("block", var_name="k", value_name="households").astype({"k": "int64", "households": "int64"})


def steps_frame(steps: Sequence[GapTrial]) -> pd.DataFrame:
    """The sets of gaps after the search: what they lack, and the three ways in which they differ from the paper."""
    rows = []
    for step in steps:
        row = {"size": step.size, "missing": step.gap.name, "lines": len(step.gap.cells)}
        row |= {"table5": step.table5, "table4": step.table4, "queries": step.queries, "score": step.score}
        for name, counts in (("published", step.published), ("withheld", step.withheld)):
            row |= {f"{name}_k{k}": int(count) for k, count in zip(PAPER_K, counts, strict=True)}
        rows.append(row)
    return pd.DataFrame(rows).round(2)


# What each explanation of withheld zeros would cost, beside what the paper lost: a table and a page.

Printed = Mapping[str, Any]
ONEHOT = "one-hot program"
PAPER_UNIT = "households (paper)"
SEARCHED = "search, "
NOT_KNOWN = (np.nan, np.nan)
DESCRIBED = ["explanation", "missing", "lines", "withheld", "unit"]
FIGURES = ["k", "before", "after", "loss", "low", "high", "paper_loss", "distance"]


def losses_table(decided: pd.DataFrame, onehot: pd.DataFrame, printed: Printed, seed: int, label: str) -> pd.DataFrame:
    """One row per explanation, row of Table 5 and k: households before and after, the loss in percent and the paper's."""
    rows, paper = list[tuple[Any, ...]](), printed["table5"]["variants"]
    for name, part in decided.groupby("explanation", sort=False):
        for withheld in (withheld for withheld in part["withheld"].unique() if withheld != "paper"):
            rows += _explained(part, str(name), withheld, paper, seed)
    rows += [*_limited(onehot, paper), *_later(printed)]
    return pd.DataFrame(rows, columns=[*DESCRIBED, *FIGURES]).round(2).assign(data=label)


def _explained(part: pd.DataFrame, name: str, withheld: str, paper: Printed, seed: int) -> Iterator[tuple[Any, ...]]:
    before, after = (_by_block(part[part["withheld"] == row]) for row in ("paper", withheld))
    low, high = ratio_interval(before - after, before, Weights(["all"] * len(before), seed))
    given = (name, str(part["missing"].iloc[0]), int(part["lines"].iloc[0]), withheld, "households")
    yield from _rows(given, before.sum(axis=0), after.sum(axis=0), (low, high), paper_losses(paper, withheld))


def _by_block(rows: pd.DataFrame) -> Any:
    return rows.pivot(index="block", columns="k", values="households")[list(PAPER_K)].to_numpy()


def _limited(onehot: pd.DataFrame, paper: Printed) -> Iterator[tuple[Any, ...]]:
    """Claims that hold without zeros: how many of them the one-hot program verifies with zeros, and how many without."""
    result = _verified_by_k(onehot)
    row = (ONEHOT, "", 0, "no_zeros", "claims")
    yield from _rows(row, result["with_zeros"], result["without_zeros"], None, paper_losses(paper, "no_zeros"))


def _later(printed: Printed) -> Iterator[tuple[Any, ...]]:
    """The paper's own rows of Table 4 one column later: what is left if a column that was always known is not."""
    for design, row in printed["table4"]["designs"].items():
        before, after = [row["total"][k] for k in PAPER_K], list(_one_column_later(row["total"]))
        given = (f"Table 4, {design.replace('_', ' ')}, one column later", "", 0, "no_zeros", PAPER_UNIT)
        yield from _rows(given, before, after, None, paper_losses(printed["table5"]["variants"], "no_zeros"))


def _rows(
    given: tuple[Any, ...], before: Any, after: Any, interval: tuple[Floats, Floats] | None, paper: Floats
) -> Iterator[tuple[Any, ...]]:
    lost = losses(before, after)
    away = distance(lost, paper)
    for index, k in enumerate(PAPER_K):
        low, high = (100 * float(side[index]) for side in interval) if interval else NOT_KNOWN
        figures = (100 * float(lost[index]), low, high, 100 * float(paper[index]))
        yield *given, k, int(np.asarray(before)[index]), int(np.asarray(after)[index]), *figures, away


# Withheld zeros as a page: the losses of every explanation, the search, the paper's own numbers one column later.

ANSWERS = {"no_zeros": "answers of 0", "no_ones": "answers of 1", "no_zeros_ones": "answers of 0 and 1"}
BY_K = [f"k = {k}" for k in PAPER_K]
NOTES = (
    "Losses are percentages of the households that are singled out while all lines of the explanation are published, with "
    "95 % intervals (blocks resampled). `distance` is the mean absolute difference to the paper's losses over k = 6 to 9, "
    "in points.",
    "Every household counted rests on a proof that the checker accepted; the search ranks without checking, and its best "
    "sets are then checked on all blocks.",
    "one-hot program: percentages of claims, not of households. All of them hold with and without zeros: those that are "
    "lost ran into the limit.",
    "An explanation that fits is possible, not shown: only the authors' query set could show it.",
)
LATER = (
    "If a column that every claim could name is lost, a claim of k columns is one of k + 1 columns without it. So an exact "
    "attack can single out at most as many households at k as it did at k + 1 on the same blocks. The rows are called what "
    "the paper calls them; the first is printed beside 2,500 households, so that it might be the one about blocks of ten."
)


def zeros_page(
    table: pd.DataFrame, steps: pd.DataFrame, onehot: pd.DataFrame, printed: Mapping[str, Any], label: str
) -> str:
    parts = []
    for withheld, said in ANSWERS.items():
        parts += [f"## Households lost when {said} are withheld, %", _losses(table[table["withheld"] == withheld])]
    parts += ["## Lines whose absence the search tried", _steps(steps)]
    parts += ["## The paper's own numbers, one column later", _page_later(printed)]
    parts += ["## The one-hot program under a limit", _onehot(onehot), bullets(NOTES)]
    return document("Withheld zeros: what could explain Table 5", label, parts)


def _losses(table: pd.DataFrame) -> str:
    lines = [["**the paper**", "", "", *table.iloc[: len(PAPER_K)]["paper_loss"], ""]]
    for name, rows in table.groupby("explanation", sort=False):
        first, lost = rows.iloc[0], [_loss(row) for row in rows.to_dict("records")]
        lines.append([name, first["missing"], first["lines"], *lost, first["distance"]])
    return markdown_table(["explanation", "missing", "lines", *BY_K, "distance"], lines, left=2)


def _loss(row: Mapping[Any, Any]) -> str:
    said = cell(round(row["loss"], 1)) or "none to lose"
    return said if pd.isna(row["low"]) else f"{said} ({row['low']:.0f} to {row['high']:.0f})"


def _steps(steps: pd.DataFrame) -> str:
    columns = ["size", "missing", "lines", "table5", "table4", "queries", "score"]
    heads = ["gaps", "missing", "lines", "Table 5: points off", "Table 4: points lost", "% of queries missing", "sum"]
    return markdown_table(heads, steps[columns].to_numpy().tolist(), left=2)


def _page_later(printed: Mapping[str, Any]) -> str:
    withheld = printed["table5"]["variants"]["no_zeros"]["total"]
    lines = [["Table 5, zeros withheld", *(withheld[k] for k in PAPER_K)]]
    for design, row in printed["table4"]["designs"].items():
        lines.append([f"Table 4, {design.replace('_', ' ')}, at k + 1", *_one_column_later(row["total"])])
    return f"{LATER}\n\n{markdown_table(['', *BY_K], lines)}"


def _onehot(onehot: pd.DataFrame) -> str:
    result = _verified_by_k(onehot)
    names = {"tried": "claims tried", "with_zeros": "verified with zeros", "without_zeros": "verified without zeros"}
    return markdown_table(["", *BY_K], [[said, *result[name].tolist()] for name, said in names.items()])
