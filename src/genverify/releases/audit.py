"""The audit of a release: the attack on every area, the ranges of all cells, and whom the claims single out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack import ProgramSettings, Verified, generate_block, proofs_dict, verify_block
from genverify.certificate import check_block
from genverify.evaluation import check_against_microdata
from genverify.predicates import Predicate
from genverify.release import Release, Schema
from genverify.releases.describe import Described
from genverify.releases.people import count_people
from genverify.results import claims_frame, stack
from genverify.seeds import derive_seed
from genverify.verify import Verdict, Verifier

DATASETS = 50
MOST_RECORDS = 400
RECORD = "record"


@dataclass(frozen=True)
class Attack:
    """How the attack is run: the program's settings, datasets per area, least number of columns of a claim, seed."""

    settings: ProgramSettings
    datasets: int
    min_k: int
    seed: int

    def __call__(self, release: Release) -> Verified:
        seed = derive_seed(self.seed, "audit", release.block)
        generated = generate_block(release, self.settings, self.datasets, seed)
        return verify_block(release, generated.records, self.settings, self.min_k)


@dataclass(frozen=True)
class Audit:
    """What came out: the verified claims and their checked proofs by area, the ranges of cells, people by columns."""

    described: Described
    found: tuple[Verified, ...]
    proofs: tuple[dict[str, Any], ...]
    claims: pd.DataFrame
    ranges: pd.DataFrame
    people: pd.DataFrame

    @property
    def singles(self) -> pd.DataFrame:
        return self.claims[self.claims["m"] == 1]

    @property
    def undecided(self) -> int:
        open_ = (Verdict.UNDECIDED, Verdict.UNCERTIFIED)
        return sum(sum(found.counts(verdict).values()) for found in self.found for verdict in open_)


def audit(described: Described, attack: Attack, over: Callable[[Sequence[Release]], Iterator[Release]] = iter) -> Audit:
    """Attack every area; each certificate is checked, and each claim counted in the records where they are given."""
    found = tuple(attack(release) for release in over(described.releases))
    proofs = tuple(proofs_dict(one) for one in found)
    for release, proof in zip(described.releases, proofs, strict=True):
        check_block(release, proof)
    claims = all_claims(found)
    if described.records is not None:
        check_against_microdata(claims, described.records)
    ranges = stack([_ranges(release, attack.settings) for release in described.releases])
    people = count_people(claims, described.records, described.schema.domain.names)
    return Audit(described, found, proofs, claims, ranges, people)


def all_claims(found: Sequence[Verified]) -> pd.DataFrame:
    return stack([claims_frame(one) for one in found])


def _ranges(release: Release, settings: ProgramSettings) -> pd.DataFrame:
    """What is printed of every cell and what follows from all cells together; of every record where few."""
    verifier = Verifier(settings.bounder(release))
    printed = {int(c): (int(lo), int(hi)) for c, lo, hi in zip(release.cells, release.lo, release.hi, strict=True)}
    rows = []
    for place, query in enumerate(release.schema.queries):
        lo, hi = printed.get(place, (0, release.n))
        rows.append(_range_row(verifier, release, query.id, query.table, query.label, query.predicate, lo, hi))
    for predicate in _kinds(release.schema):
        label = _words(release.schema, predicate)
        rows.append(_range_row(verifier, release, str(predicate), RECORD, label, predicate, 0, release.n))
    return pd.DataFrame(rows)


def _range_row(
    verifier: Verifier, release: Release, cell: str, table: str, label: str, predicate: Predicate, lo: int, hi: int
) -> dict[str, Any]:
    row = {"block": release.block, "table": table, "cell": cell, "label": label, "lo": lo, "hi": hi}
    if lo == hi:
        return {**row, "least": lo, "most": hi, "limit": ""}
    found = verifier.range_of(predicate)
    if found.limit:
        return {**row, "least": lo, "most": hi, "limit": found.limit}
    return {**row, "least": found.low, "most": found.high, "limit": ""}


def _kinds(schema: Schema) -> Iterator[Predicate]:
    """Every record of the domain, as a condition, where there are few."""
    if schema.domain.size <= MOST_RECORDS:
        for codes in product(*(column.codes for column in schema.domain.columns)):
            yield Predicate.of({name: [code] for name, code in zip(schema.domain.names, codes, strict=True)})


def _words(schema: Schema, predicate: Predicate) -> str:
    return ", ".join(f"{c.label}: {c.meaning[predicate.where[c.name][0]]}" for c in schema.domain.columns)


def recovered(ranges: pd.DataFrame) -> int:
    """How many cells of tables are printed as a range, or not at all, and known exactly all the same."""
    hidden = (ranges["table"] != RECORD) & (ranges["lo"] < ranges["hi"])
    return int(np.sum(hidden & (ranges["least"] == ranges["most"])))
