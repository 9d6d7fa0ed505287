"""The attack on a release of records: claims and ranges of every area, whom the claims single out, and what is likely."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.attack.evaluate import evaluate
from genverify.attack.explain import Reasons, proof_cells
from genverify.attack.generate import generate_block
from genverify.attack.probability import DatasetCount, count_some, probable_singletons
from genverify.attack.verify import (
    Decision,
    Verdict,
    VerifiedBlock,
    Verifier,
    attack_release,
    check_verified,
    claims_frame,
    collect,
)
from genverify.checker.record_proofs import check_block
from genverify.disclosure.audit_value import PRINTED, RECORD, UNPUBLISHED
from genverify.model.arrays import Ints
from genverify.model.claims import ANY, Claim, as_claims, candidate_claims, matches
from genverify.model.domain import Predicate
from genverify.model.release import Release, Schema
from genverify.model.tablefiles import stack
from genverify.model.work import ProgressLog, derive_seed, log
from genverify.solve.bounds import Bounder, Limits, certificate_of
from genverify.solve.counting.prior import Prior, uniform
from genverify.solve.datasets import class_vectors
from genverify.solve.program import Program, program_of
from genverify.solve.program_settings import ProgramSettings

# The attack on an area of many records, without exchanges of records: their number grows with the square of the classes.

UNDECIDED = (Verdict.UNDECIDED, Verdict.UNCERTIFIED)
LARGE = 300  # records of an area, from which on exchanges of records take longer than linear programs
NODES = 60  # of one question; what needs more is undecided, and counted as such


class LargeBounder(Bounder):
    def better(self, c: Ints, b: int) -> Ints | None:
        return None  # better points are looked for by linear programs alone; proofs are found as before


class _VerifierWithProgress(Verifier):
    """A verifier that says now and then how far it is."""

    def __init__(self, bounder: Bounder) -> None:
        super().__init__(bounder)
        self.asked, self.say = 0, ProgressLog()

    def _question(self, claim: Claim, sides: Mapping[int, Ints]) -> Decision:
        self.asked += 1
        self.say("%d questions about candidate claims asked ...", self.asked)
        return super()._question(claim, sides)


def bounder_of(release: Release, settings: ProgramSettings) -> Bounder:
    """The bounder of an area, by its size."""
    if release.n < LARGE:
        return settings.bounder(release)
    limits = Limits(min(settings.nodes, NODES), settings.leaves, settings.seconds)
    return LargeBounder(program_of(release, settings.max_types), settings.make_solver(), limits)


def attack_large(release: Release, settings: ProgramSettings, datasets: int, min_k: int, seed: int) -> VerifiedBlock:
    """Generate, verify and check."""
    generated = generate_block(release, settings.proving("the audit of a release"), datasets, seed).records
    bounder = bounder_of(release, settings)
    bounder.seen.extend(class_vectors(bounder.program, generated))
    claims = as_claims(*candidate_claims(generated, min_k))
    log.info("%d records: %d datasets that fit, %d candidate claims", release.n, len(generated), len(claims))
    verified = collect(bounder.program, claims, _VerifierWithProgress(bounder).decide(claims), generated[0])
    log.info("%d claims hold; checking their proofs", len(verified.claims))
    check_verified(verified)
    return verified


# Whom the claims single out: counted in the records where they are given, else the fewest people that there must be.

Codes = npt.NDArray[np.int16]


def count_people(claims: pd.DataFrame, records: pd.DataFrame | None, names: Sequence[str]) -> pd.DataFrame:
    """Singleton claims and the people that they single out, by the number of columns k and by effective k."""
    singles, rows = claims[claims["m"] == 1], []
    for grouping, columns in product(("k", "effective_k"), range(1, len(names) + 1)):
        chosen = singles[singles[grouping] == columns]
        rows.append((grouping, columns, len(chosen), singled_out(chosen, records, names)))
    return pd.DataFrame(rows, columns=["grouping", "columns", "claims", "people"])


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

    def __call__(self, release: Release) -> VerifiedBlock:
        """The attack on one area, every proof checked."""
        seed = derive_seed(self.seed, "audit", release.block)
        fewer = max(FEWEST, min(self.datasets, RECORDS // max(release.n, 1)))
        attack = attack_large if release.n >= LARGE else attack_release
        return attack(release, self.settings, min(self.datasets, fewer), self.min_k, seed)


def all_claims(verified: Sequence[VerifiedBlock]) -> pd.DataFrame:
    return stack([claims_frame(one) for one in verified])


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
