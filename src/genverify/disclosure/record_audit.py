"""The audit of a release of records: claims and ranges of every area, with proofs, what is likely, and what to suppress."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product, takewhile
from math import inf
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array

from genverify.attack import verify
from genverify.attack.evaluate import check_against_microdata, evaluate
from genverify.attack.explain import Reasons, proof_cells
from genverify.attack.probability import DatasetCount, count_some, probable_singletons
from genverify.attack.verify import Decision, Verdict, VerifiedBlock, Verifier, attack_release, check_decisions, claim_where
from genverify.checker.certificate import CertificateError, write_proofs
from genverify.checker.record_proofs import check_block
from genverify.disclosure import audit_value
from genverify.disclosure.audit_value import MOST_SHOWN, PRINTED, RECORD, UNPUBLISHED, SecondarySuppression, SuppressionStep
from genverify.disclosure.release_data import SIZES, ReleaseDescription
from genverify.model.arrays import Ints
from genverify.model.claims import ANY, Claim, matches
from genverify.model.domain import Predicate
from genverify.model.errors import DataError
from genverify.model.proof_form import EXACTLY
from genverify.model.release import TOTAL, Release, Schema, ranges_frame, write_schema
from genverify.model.tablefiles import neutral_frame, stack, write_frame
from genverify.model.work import ProgressLog, derive_seed, progress
from genverify.protect.publishing import without
from genverify.solve.bounds import Bounder, Limits, certificate_of
from genverify.solve.counting.prior import Prior, uniform
from genverify.solve.program import Program, WrongAnswer, program_of, sparse_system
from genverify.solve.program_settings import ProgramSettings
from genverify.solve.solvers.base import Optimal, maximise_integers

# The attack on an area of many records, without exchanges of records: their number grows with the square of the classes.

UNDECIDED = (Verdict.UNDECIDED, Verdict.UNCERTIFIED)
LARGE = 300  # records of an area, from which on exchanges of records take longer than linear programs
NODES = 60  # of one question; what needs more is undecided, and counted as such


class LargeBounder(Bounder):
    def better(self, c: Ints, b: int) -> Ints | None:
        return None  # better points are looked for by linear programs alone; proofs are found as before

    def learn(self, fitting: Sequence[Ints]) -> None:
        self.seen.extend(fitting)


class BySize(ProgramSettings):
    """Settings under which a large area has another bounder."""

    def bounder(self, release: Release) -> Bounder:
        if release.n < LARGE:
            return super().bounder(release)
        limits = Limits(min(self.nodes, NODES), self.leaves, self.seconds)
        return LargeBounder(program_of(release, self.max_types), self.make_solver(), limits)


# Whom the claims single out: counted in the records where they are given, else the fewest people that there must be.

Codes = npt.NDArray[np.int16]


def singled_out(claims: pd.DataFrame, records: pd.DataFrame | None, names: Sequence[str]) -> int:
    """The number of people that singleton claims point to: exact with records, else those that are surely different."""
    if not len(claims):
        return 0
    if records is not None:
        return int(sum(part.represented() for part in evaluate(claims, records)))
    return sum(_surely_different(_codes(rows, names)) for _, rows in claims.groupby("block", sort=False))


def _codes(claims: pd.DataFrame, names: Sequence[str]) -> Codes:
    return claims[list(names)].fillna(ANY).to_numpy(dtype=np.int16)


def _surely_different(codes: Codes) -> int:
    """
    Claims of which every two differ in a column that both name, greedily, the longest first: nobody meets two of them.

    >>> _surely_different(np.array([[1, -1], [1, 2], [2, -1]], dtype=np.int16))
    2
    """
    chosen = np.zeros((0, codes.shape[1]), dtype=np.int16)
    for row in codes[np.argsort(-(codes != ANY).sum(axis=1), kind="stable")]:
        if ((chosen != row) & (chosen != ANY) & (row != ANY)).any(axis=1).all():
            chosen = np.vstack([chosen, row])
    return len(chosen)


def longest(claims: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The claims that no other claim of the same area extends: the most that is claimed of each person."""
    chosen = []
    for _, rows in claims.groupby("block", sort=False):
        codes = _codes(rows, names)
        inside = matches(codes, codes)
        np.fill_diagonal(inside, False)
        chosen += rows.index[np.flatnonzero(~inside.any(axis=1))].tolist()
    return claims.loc[chosen]


# The riskiest cells: how many proofs rest on each published cell.

MOST_PROOFS = 300  # of an area: bounds time, for the reasons of each are searched


def cells_in_proofs(releases: Sequence[Release], proofs: Sequence[dict[str, Any]]) -> dict[tuple[str, str], int]:
    """How many proofs of singleton claims (of each area at most MOST_PROOFS) rest on each published cell."""
    used: Counter[tuple[str, str]] = Counter()
    for release, proof in zip(releases, proofs, strict=True):
        singles = [claim for claim in proof["statements"] if claim["m"] == 1]
        first = {claim["proof"]: claim for claim in reversed(singles)}
        reasons = Reasons(release, proof["lemmas"])
        for claim in list(reversed(first.values()))[:MOST_PROOFS]:
            used.update((release.block, cell) for cell in proof_cells(reasons, proof, claim))
    return used


# The attack that a release file asks for, and the ranges of all cells.

MOST_RECORDS = 400  # kinds of records: each takes a search for two ends; of more kinds none gets a range
RECORDS, FEWEST = 200_000, 8  # of all generated datasets together; the verified claims do not depend on how many there are


@dataclass(frozen=True)
class Attack:
    """How the attack is run: the program's settings, datasets per area, least number of columns of a claim, seed."""

    settings: ProgramSettings
    datasets: int
    min_k: int
    seed: int

    @property
    def by_size(self) -> BySize:
        return BySize(**dict(self.settings))

    def __call__(self, release: Release) -> VerifiedBlock:
        seed = derive_seed(self.seed, "audit", release.block)
        fewer = max(FEWEST, min(self.datasets, RECORDS // max(release.n, 1)))
        return attack_release(release, self.by_size, min(self.datasets, fewer), self.min_k, seed)


def all_claims(verified: Sequence[VerifiedBlock], records: pd.DataFrame | None) -> pd.DataFrame:
    """The verified claims; where records are given, each is counted in them."""
    result = stack([verify.claims_frame(one) for one in verified])
    if records is not None:
        check_against_microdata(result, records)
    return result


def bounded_cells(
    program: Program, settings: ProgramSettings, suppress: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Every cell, and kind of record where there are few: what is printed, what follows, and statements that prove it."""
    release, verifier = program.release, Verifier(settings.bounder_of(program))
    printed = {int(c): (int(lo), int(hi)) for c, lo, hi in zip(release.cells, release.lo, release.hi, strict=True)}
    rows, statements = list[dict[str, Any]](), list[dict[str, Any]]()
    for table, name, label, predicate, at in _cells(release.schema):
        lo, hi = low, high = printed.get(at, (0, release.n))
        counts = verifier.range_of(predicate) if lo < hi else None
        bounds = counts.statements(predicate) if counts and not counts.limit else []
        if counts and len(bounds) == 2:  # both ends are proved, else what is printed stands
            low, high = counts.low, counts.high
            statements += [{"area": release.block, "cell": name, **bound} for bound in bounds]
        rows.append({
            "area": release.block, "table": table, "cell": name, "label": label,
            "published": "" if at not in printed else str(lo) if lo == hi else f"{lo} to {hi}", "lower": low, "upper": high,
            "known_exactly": low == high, "ends_attained": counts is None or len(bounds) == 2, "place": "",
            "hidden": at in printed and lo < hi < suppress, "unclear": lo < hi,
            "what": RECORD if at < 0 else PRINTED if at in printed else UNPUBLISHED,
        })  # fmt: skip
    check_block(release, cell_certificate(release, [lemma.as_dict() for lemma in program.lemmas], statements))
    return rows, statements


def cell_certificate(release: Release, lemmas: Sequence[Any], statements: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The statements about cells of one area, or kinds of records, as a certificate: these are known by their conditions."""
    said = [{key: one[key] for key in ("goal", "where", "m", "proof")} for one in statements]
    return certificate_of(release, (), *said) | {"lemmas": lemmas}


def _cells(schema: Schema) -> Iterator[tuple[str, str, str, Predicate, int]]:
    """Table, name, label, condition and number of every cell; the kinds of record, where there are few, have none (-1)."""
    for at, query in enumerate(schema.queries):
        yield query.table, query.id, query.label, query.predicate, at
    if schema.domain.size <= MOST_RECORDS:
        for codes in product(*(column.codes for column in schema.domain.columns)):
            kind = Predicate.of({name: [code] for name, code in zip(schema.domain.names, codes, strict=True)})
            words = (f"{c.label}: {c.meaning[kind.where[c.name][0]]}" for c in schema.domain.columns)
            yield RECORD, str(kind), ", ".join(words), kind, -1


# What is not certain but likely: claims of an audit with their probability, and how many there are at each level.

LEVELS, LEVEL_COLUMN = (0.99, 0.9, 0.5), "singleton_claims_"
MOST_CLASSES = 1000  # of a large area that is counted


def counted_areas(verified: Sequence[VerifiedBlock], every: bool = False) -> list[DatasetCount | None]:
    """The datasets that fit each area; none where they are too many, and, if every one is needed, in all areas after it."""
    counted = list[DatasetCount | None]()
    for program in (one.program for one in verified):
        # many records in many classes: half a minute would be spent until the budget is
        hopeless = program.release.n >= LARGE and program.classes > MOST_CLASSES
        counted.append(None if hopeless or (every and None in counted) else count_some(program))
    return counted


def probable_claims(
    verified: Sequence[VerifiedBlock], counted: Sequence[DatasetCount | None], prior: Prior | None,
    min_k: int, least: float, seed: int,
) -> pd.DataFrame:  # fmt: skip
    """Unverified claims about one record with at least this probability under a prior (none: uniform), of counted areas."""
    result = []
    for one, area in zip(verified, counted, strict=True):
        if area is not None:
            known = prior or uniform(one.program.types.domain)
            seed_of_area = derive_seed(seed, "probable", one.program.release.block)
            decided = not any(one.counts(verdict) for verdict in UNDECIDED)
            result.append(probable_singletons(area, known, one.claims, min_k, least, seed_of_area, decided))
    return stack(result) if result else pd.DataFrame({"k": [], "probability": []})


def by_level(verified: Sequence[VerifiedBlock], priors: Sequence[Prior], min_k: int, seed: int) -> dict[str, Any]:
    """Singleton claims verified or at least so likely, under the uniform prior and each given one; none if not counted."""
    sure = sum(claim.m == 1 for one in verified for claim in one.claims)
    counted = counted_areas(verified, every=True)
    left = sum(area is None for area in counted)
    row: dict[str, Any] = {}
    for prior in (None, *priors):
        probable = None if left else probable_claims(verified, counted, prior, min_k, min(LEVELS), seed)
        for level in LEVELS:
            column = f"{LEVEL_COLUMN}{100 * level:.0f}" + (f"_{prior.name}" if prior else "")
            row[column] = None if probable is None else sure + int((probable["probability"] >= level).sum())
    return {**row, "areas_not_counted": left}


# Which cells to suppress: few cells without which no singleton claim can be verified.
#
# Every proof of a claim rests on some published cells. Whatever set of cells is suppressed so that the claim cannot be
# verified any more, it holds one cell of each of its proofs. So: collect proofs, suppress the fewest cells that hit each of
# them, see which claims can still be verified and how, and repeat. Where this ends, no smaller set of cells does it.
#
# Every proof that is counted on is checked, and so is that its cells are enough for it. That no fewer cells hit all proofs
# is the solver's optimum of a covering program; that the chosen cells hit them all is counted.

# of one optimum each; then cells are added one by one, and the lower bound found so far is reported with them
HITTING_ROUNDS = 40
MOST_HIT = 120  # rows of the program for the fewest cells: bounds its time; beyond, cells are added one by one
PROOFS_AT_ONCE = 12  # bounds how fast that program grows
MOST_CELLS = 400  # suppressed, when they are added one by one: bounds time
Cells = frozenset[str]
OPTIMUM = "minimal by the solver's optimum of a covering program"


def search_cells(
    verified: Sequence[VerifiedBlock], attack: Attack, k: int, most: int, seconds: float = inf
) -> SecondarySuppression:
    """The cells to suppress so that no singleton claim of k columns or more is left, area by area, at most `most` in all."""
    deadline = time.process_time() + seconds  # then the cells are those that hit all proofs found so far
    steps, least = list[SuppressionStep](), 0
    for one in verified:  # with fewer cells no new claim can hold: it is enough to follow those of the whole release
        area = _Area(one, attack.by_size, k, deadline)
        cells, below = area.search()
        steps, least = [*steps, *area.steps(cells, max(most - len(steps), 0))], least + below
    in_time = time.process_time() < deadline
    before, left, undecided = left_without(verified, attack, k, steps)
    minimal = not left and least >= len(steps)
    how = OPTIMUM if minimal else f"a smaller set may exist, but none below {least} cells"
    return SecondarySuppression(tuple(steps), before, left, least, how, undecided, in_time, k)


def left_without(
    verified: Sequence[VerifiedBlock], attack: Attack, k: int, steps: Sequence[SuppressionStep]
) -> tuple[int, int, int]:
    """The singleton claims before these cells are suppressed, and those left and undecided after that, attacked again."""
    before = left = undecided = 0
    for one in verified:
        release, area = one.program.release, _Area(one, attack.by_size, k, inf)
        if not (cells := Cells(step.cell for step in steps if step.area == release.block)):
            still, open_ = len(area.claims), len(open_singles(one, k))
        elif release.n >= LARGE:  # these claims are asked for again
            _, decided = area.decided(cells, area.claims)
            still, open_ = len(verify.verified_of(decided)), sum(d.verdict in UNDECIDED for d in decided)
        else:
            remaining = attack(without(release, cells))
            still, open_ = len(singles(remaining, k)), len(open_singles(remaining, k))
        before, left, undecided = before + len(area.claims), left + still, undecided + open_
    return before, left, undecided


def singles(verified: VerifiedBlock, k: int) -> list[Claim]:
    """The verified singleton claims with at least k columns."""
    return [claim for claim in verified.claims if claim.m == 1 and claim.k >= k]


def open_singles(verified: VerifiedBlock, k: int) -> list[Claim]:
    """The singleton claims with at least k columns that ran into a limit."""
    return [d.claim for d in verified.decisions if d.verdict in UNDECIDED and d.claim.m == 1 and d.claim.k >= k]


class _Area:
    def __init__(self, verified: VerifiedBlock, settings: ProgramSettings, k: int, deadline: float) -> None:
        self.release, self.settings, self.deadline = verified.program.release, settings, deadline
        self.claims = singles(verified, k)
        self.fixed = {query.id for query in self.release.queries if query.table == SIZES}
        self.supports: dict[Cells, None] = {}
        self.proved, self.say = True, ProgressLog()

    def search(self) -> tuple[Cells, int]:
        """The cells to suppress, and the number below which no set does as well: proofs only join, as they are needed."""
        cells, least = Cells(), 0
        for _ in range(HITTING_ROUNDS):
            if self._late() or not self._supports(cells):
                return cells, least
            hit = self._fewest() if len(self.supports) <= MOST_HIT else None
            if hit is None:
                break
            cells, least = hit, len(hit) if self.proved else least
        return self._needed(self._grown(cells)), least

    def _late(self) -> bool:
        return time.process_time() > self.deadline

    def _grown(self, cells: Cells) -> Cells:
        """More cells, each time the one that most of the proofs still open rest on, until no claim is left."""
        while (new := self._supports(cells)) and len(cells) < MOST_CELLS and not self._late():
            while new:
                cells |= {_most_used(new)}
                new = {support for support in new if not support & cells}
        return cells

    def _needed(self, cells: Cells) -> Cells:
        """The cells without those that can be published again: no more claims are left than before."""
        left = 0 if self._late() else self._left(cells)
        for cell in sorted(cells):
            if not self._late() and self._left(cells - {cell}) <= left:
                cells -= {cell}
        return cells

    def steps(self, cells: Cells, most: int) -> list[SuppressionStep]:
        """At most so many cells, each hits most of the proofs that those before it leave; the claims left after each."""
        open_, order, labels = list(self.supports), list[str](), {query.id: query.label for query in self.release.queries}
        while len(order) < len(cells):
            left = cells - set(order)
            order.append(_most_used([support & left for support in open_], left))
            open_ = [support for support in open_ if order[-1] not in support]
        return [  # how many claims are left is not known where there is no time to see
            SuppressionStep(self.release.block, cell, labels[cell], None if self._late() else self._left(Cells(order[:at])))
            for at, cell in enumerate(order[:most], 1)
        ]

    def _open(self, cells: Cells, claims: Sequence[Claim]) -> tuple[Program, list[Decision]]:
        """Which of the claims can still be verified when the cells are suppressed; their proofs are checked."""
        program, decided = self.decided(cells, claims)
        verified = verify.verified_of(decided)
        check_decisions(program, verified)
        return program, verified

    def _left(self, cells: Cells) -> int:
        return len(self._open(cells, self.claims)[1])

    def decided(self, cells: Cells, claims: Sequence[Claim]) -> tuple[Program, list[Decision]]:
        self.say("search for cells to suppress: %d cells, %d claims ...", len(cells), len(claims))
        bounder = self.settings.bounder(without(self.release, cells))
        return bounder.program, Verifier(bounder).decide(claims)

    def _supports(self, cells: Cells) -> set[Cells]:
        """The cells that the proofs of these claims rest on; a proof that rests on sizes and rules alone cannot be hit."""
        program, open_ = self._open(cells, self.claims)
        reasons = Reasons(program.release, [lemma.as_dict() for lemma in program.lemmas])
        first = {(id(d.lower), id(d.upper)): d for d in reversed(open_)}  # of claims that share a proof, one
        different = list(reversed(first.values()))[:PROOFS_AT_ONCE]
        in_time = takewhile(lambda _: not self._late(), different)  # one proof in a large area may take seconds
        new = {support for decision in in_time if (support := self._support(program, reasons, decision))}
        self.supports |= dict.fromkeys(sorted(new, key=sorted))
        return new

    def _support(self, program: Program, reasons: Reasons, decision: Decision) -> Cells:
        """The cells of a proof; only if it is checked that they are enough is `least` proved."""
        halves = {"lower": decision.lower, "upper": decision.upper}
        proof = {side: half for side, half in halves.items() if half is not None}
        claim = {"goal": EXACTLY, "where": claim_where(program.types.domain.names, decision.claim), "m": 1, "proof": 0}
        parts = {"proofs": [proof], "statements": [claim]}
        cells = Cells(proof_cells(reasons, parts, claim))
        published, all_ = (Cells(query.id for query in one.queries) for one in (program.release, self.release))
        others = published - cells
        alone, lemmas = without(program.release, others), [x for x in program.lemmas if not others & {x.universe, *x.cells}]
        try:
            check_block(alone, certificate_of(alone, lemmas) | parts)
        except CertificateError:  # another proof from these cells will do: the cases of one may speak of all published cells
            self.proved &= bool(self._open(all_ - cells, [decision.claim])[1])
        return cells - self.fixed

    def _fewest(self) -> Cells | None:
        """The fewest cells that hit every proof; None where the solver does not say."""
        cells = sorted({cell for support in self.supports for cell in support})
        inside = csr_array([[float(cell in support) for cell in cells] for support in self.supports])
        ones = np.ones(len(self.supports))
        system = sparse_system(inside, ones, np.full(len(ones), inf), np.ones(len(cells)))
        answer = maximise_integers(self.settings.make_solver(), system, -np.ones(len(cells)))
        if not isinstance(answer, Optimal):
            return None
        hit = Cells(cell for cell, taken in zip(cells, answer.z, strict=True) if taken > 0.5)
        if not all(support & hit for support in self.supports):
            what = f"block {self.release.block}: the solver's cells to suppress miss a proof when recounted"
            raise WrongAnswer(f"{what}; nothing is reported. Try the other solver (program.solver in config.yaml).")
        return hit


def _most_used(supports: Iterable[Cells], among: Iterable[str] = ()) -> str:
    used = Counter(dict.fromkeys(among, 0))
    used.update(cell for support in supports for cell in support)
    return min(used, key=lambda cell: (-used[cell], cell))


Certificate = Mapping[str, Any]
# not *.jsonl.gz: `genverify check` and `export` on a folder of results take the proofs of claims, then those of cells
CLAIM_PROOFS, CELL_PROOFS = "proofs/000.jsonl.gz", "cells.proofs.gz"


@dataclass(frozen=True, kw_only=True, repr=False)
class RecordsAudit(audit_value.Audit):
    """What a release of records gives away: `verified` has the claims of every area, `statements` are about cells."""

    unclear_words: ClassVar[str] = "counts that are not printed exactly"
    described: ReleaseDescription
    attack: Attack
    verified: tuple[VerifiedBlock, ...]
    bounded: tuple[Mapping[str, Any], ...]
    statements: tuple[Mapping[str, Any], ...] = ()

    @cached_property
    def rows(self) -> list[Mapping[str, Any]]:
        numbers = defaultdict[tuple[str, str], list[str]](list)
        for number, one in enumerate(self.statements):
            numbers[one["area"], one["cell"]].append(str(number))
        used, result = cells_in_proofs(self.described.releases, self.proofs), list[Mapping[str, Any]]()
        for row in self.bounded:
            key, printed = (row["area"], row["cell"]), "printed" if row["what"] == PRINTED else ""
            claims = "" if row["what"] == RECORD else used.get(key, 0)
            result.append({**row, "proof": " ".join(numbers[key]) or printed, "claims": claims})
        return result

    @property
    def proofs(self) -> tuple[dict[str, Any], ...]:
        return tuple(one.certificate for one in self.verified)

    @cached_property
    def claims(self) -> pd.DataFrame:
        return all_claims(self.verified, self.described.records)

    @property
    def singles(self) -> pd.DataFrame:
        return self.claims[self.claims["m"] == 1]

    @cached_property
    def people(self) -> pd.DataFrame:
        """Singleton claims and the people that they single out, by the number of columns k and by effective k."""
        rows, names = [], self.described.schema.domain.names
        for grouping, columns in product(("k", "effective_k"), range(1, len(names) + 1)):
            chosen = self.singles[self.singles[grouping] == columns]
            rows.append((grouping, columns, len(chosen), singled_out(chosen, self.described.records, names)))
        return pd.DataFrame(rows, columns=["grouping", "columns", "claims", "people"])

    @property
    def undecided_claims(self) -> int:
        return sum(sum(one.counts(verdict).values()) for one in self.verified for verdict in UNDECIDED)

    @property
    def riskiest(self) -> list[Mapping[str, Any]]:
        """Published cells with the number of proofs of singleton claims that use them, most used first."""
        cells = [row for row in self.rows if row["claims"] and row["table"] != SIZES]
        return sorted(cells, key=lambda row: (-row["claims"], row["area"], row["cell"]))

    @property
    def unsafe(self) -> int:
        return len(self.singles) if self.fail_on.singled_out else len(self.unsafe_cells)

    def _narrow(self, row: Mapping[str, Any]) -> bool:
        return not self.fail_on.singled_out and super()._narrow(row)  # claims single out, and no cells

    @property
    def partial(self) -> bool:
        return super().partial or (self.fail_on.singled_out and self.undecided_claims > 0)

    @property
    def numbers(self) -> dict[str, Any]:
        search = self.suppression
        about = {"searched": search.before, "left": search.left, "undecided": search.undecided} if search else {}
        known, names = self.described.records is not None, self.described.schema.domain.names
        return {
            "people": self.described.people, "areas": len(self.described.releases), "claims": len(self.claims),
            "undecided_claims": self.undecided_claims, "singleton_claims": {"all": len(self.singles), **about},
            "people_singled_out": singled_out(self.singles, self.described.records, names), "people_are_counted": known,
            "by_columns": [row for row in self.people.to_dict("records") if row["claims"]],
            **({"k": search.k} if search else {}),
        }  # fmt: skip

    def verdict(self) -> Iterator[str]:
        one, many = self.described.form.unit
        claims = f"{len(self.claims)} verified claims, {len(self.singles)} about exactly one {one}"
        yield f"{self.described.people} {many}, {claims}."
        if self.undecided_claims:
            yield f"{self.undecided_claims} candidate claims are undecided (a limit was reached) and not reported."

    def why(self, row: Mapping[str, Any]) -> list[str]:
        """The published cells that its proofs add up, the number of people among them."""
        named: dict[str, None] = {}
        open_ = [self.statements[int(number)]["proof"] for number in str(row["proof"]).split() if number.isdecimal()]
        while open_:
            node = open_.pop(0)
            named |= dict.fromkeys(node.get("y", {}))
            open_ += [node[side] for side in ("below", "above") if side in node]
        area = row["area"]
        printed = {TOTAL: next(str(release.n) for release in self.described.releases if release.block == area)}
        printed |= {own["cell"]: own["published"] for own in self.bounded if own["area"] == area and own["cell"] in named}
        cells = [f"{self.name(area, cell)} = {printed.get(cell, '')}" for cell in named]
        return [*cells[:MOST_SHOWN], *([f"and {len(cells) - MOST_SHOWN} more"] if len(cells) > MOST_SHOWN else [])]

    def suppress(self, seconds: float | None = None) -> Self:
        how = self.described.form.search
        chosen = search_cells(self.verified, self.attack, how.k, how.cells, how.seconds if seconds is None else seconds)
        return replace(self, suppression=chosen)

    def protection(self) -> str:
        chosen, one = self.suppression, self.described.form.unit[0]
        if chosen is None:
            return ""
        of = f"of the {chosen.before} claims about exactly one {one} that name {chosen.k} or more columns"
        open_ = f", {chosen.undecided} are undecided" if chosen.undecided else ""
        return f"{chosen.left or 'none'} {of} can be verified{open_}"

    # proofs and what they are about

    def write_proofs(self, folder: Path) -> None:
        """Proofs of claims by area, the release that they are about, proofs of cells; claims, where they may be shown."""
        for part in ("release", "proofs"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        write_schema(self.described.schema, folder / "release" / "schema.json")
        write_frame(ranges_frame(self.described.releases), folder / "release", "000")
        write_proofs(self.proofs, folder / CLAIM_PROOFS)
        write_proofs((self._cell_proofs(one) for one in self.verified), folder / CELL_PROOFS)
        frame, by = self.claims.copy(), ["k", "effective_k", "about_one"]
        if self.described.form.show_claims:  # with the texts of the user's file in place of codes; empty: any value
            write_frame(frame, folder, "claims")
            for name, coding in self.described.codings.by_name.items():
                texts = dict(zip(coding.column.codes, coding.texts, strict=True))
                frame[name] = [texts[int(code)] if pd.notna(code) else "" for code in frame[name]]
            frame = frame.rename(columns={"block": "area"})
        elif len(frame):  # how many there are, and of which no one is listed
            frame = frame.assign(about_one=frame["m"] == 1).groupby(by).size().rename("claims").reset_index()
        else:
            frame = pd.DataFrame(columns=[*by, "claims"])
        neutral_frame(frame).to_csv(folder / "claims.csv", index=False)

    def _cell_proofs(self, one: VerifiedBlock) -> dict[str, Any]:
        release = one.program.release
        part = [bound for bound in self.statements if bound["area"] == release.block]
        return cell_certificate(release, one.certificate["lemmas"], part)

    def check_proofs(self) -> None:
        check_area_proofs(self.described.releases, self.proofs, [self._cell_proofs(one) for one in self.verified])

    def proved(self) -> str:
        proofs, areas = sum(len(one["proofs"]) for one in self.proofs), len(self.described.releases)
        cells = len({(one["area"], one["cell"]) for one in self.statements})
        return f"{areas} areas, {len(self.claims)} claims, {proofs} proofs, intervals of {cells} cells: all proofs right"

    def search_again(self, seconds: float) -> str:
        if (search := self.suppression) is None:
            return "searched again: all claims and intervals"
        left = left_without(self.verified, self.attack, search.k, search.steps)
        if left != (search.before, search.left, search.undecided):
            raise DataError("the proposed suppressions leave claims other than those of the results; make them again")
        stored = "not recomputed: how many claims each single step leaves, and that no smaller set would do"
        return f"searched again: all claims and intervals, and what the proposed suppressions leave; {stored}"


def check_area_proofs(releases: Sequence[Release], claims: Sequence[Certificate], cells: Sequence[Certificate]) -> None:
    for release, *certificates in zip(releases, claims, cells, strict=True):
        for certificate in certificates:
            check_block(release, certificate)


def attack_records(described: ReleaseDescription, attack: Attack, **given: Any) -> RecordsAudit:
    verified = tuple(attack(release) for release in progress(described.releases, "areas"))
    bounded = [bounded_cells(one.program, attack.settings, described.form.published_as.suppress) for one in verified]
    rows, bounds = (tuple(one for pair in bounded for one in pair[side]) for side in (0, 1))
    undecided = tuple(row["cell"] for row in rows if not row["ends_attained"] and row["what"] != RECORD)
    given |= {"described": described, "attack": attack, "undecided": undecided}
    audit = RecordsAudit(verified=verified, bounded=rows, statements=bounds, **given)
    assert audit.claims is not None  # counted in the records, before anything is said
    return audit
