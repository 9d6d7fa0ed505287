"""The audit of a release: the attack on every area, the ranges of all cells, and whom the claims single out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.attack import attack_release
from genverify.attack.block import Verified
from genverify.attack.tables import claims_frame
from genverify.attack.truth import check_against_microdata
from genverify.attack.verify import Range, Verdict, Verifier, check_ranges
from genverify.core.frames import stack
from genverify.core.predicates import Predicate
from genverify.core.release import Release, Schema
from genverify.core.seeds import derive_seed
from genverify.disclosure.describe import Described
from genverify.disclosure.large import LARGE, attack_large
from genverify.disclosure.people import count_people
from genverify.solve.program import Program
from genverify.solve.settings import ProgramSettings

MOST_RECORDS = 400
RECORDS, FEWEST = 200_000, 8  # of all generated datasets together; the verified claims do not depend on how many there are
RECORD = "record"


@dataclass(frozen=True)
class Attack:
    """How the attack is run: the program's settings, datasets per area, least number of columns of a claim, seed."""

    settings: ProgramSettings
    datasets: int
    min_k: int
    seed: int

    @classmethod
    def of(cls, described: Described, settings: ProgramSettings, datasets: int) -> "Attack":
        """The attack that a release file asks for."""
        return cls(settings.proving("the audit of a release"), datasets, described.form.min_k, described.form.seed)

    def __call__(self, release: Release) -> Verified:
        """The attack on one area, every proof checked."""
        seed = derive_seed(self.seed, "audit", release.block)
        fewer = max(FEWEST, min(self.datasets, RECORDS // max(release.n, 1)))
        attack = attack_large if release.n >= LARGE else attack_release
        return attack(release, self.settings, min(self.datasets, fewer), self.min_k, seed)


@dataclass(frozen=True)
class Audit:
    """What came out: the verified claims and their checked proofs by area, the ranges of cells, people by columns."""

    described: Described
    verified: tuple[Verified, ...]
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
        return sum(sum(one.counts(verdict).values()) for one in self.verified for verdict in open_)


def audit(described: Described, how: Attack, over: Callable[[Sequence[Release]], Iterator[Release]] = iter) -> Audit:
    """Attack every area, each proof checked; where records are given, each claim is counted in them."""
    verified = tuple(how(release) for release in over(described.releases))
    claims = all_claims(verified)
    if described.records is not None:
        check_against_microdata(claims, described.records)
    ranges = stack([_ranges(one.program, how.settings) for one in verified])
    people = count_people(claims, described.records, described.schema.domain.names)
    return Audit(described, verified, tuple(one.certificate for one in verified), claims, ranges, people)


def all_claims(verified: Sequence[Verified]) -> pd.DataFrame:
    return stack([claims_frame(one) for one in verified])


@dataclass(frozen=True)
class _Cell:
    """A cell of a table or, unpublished, a kind of record; lo and hi are what is printed of its count."""

    table: str
    name: str
    label: str
    predicate: Predicate
    lo: int
    hi: int


def _ranges(program: Program, settings: ProgramSettings) -> pd.DataFrame:
    """What is printed of every cell and what follows from all cells together, with every proof checked."""
    release, verifier = program.release, Verifier(settings.bounder_of(program))
    cells = list(_cells(release))
    found = [verifier.range_of(cell.predicate) if cell.lo < cell.hi else None for cell in cells]
    searched = [(cell.predicate, range_) for cell, range_ in zip(cells, found, strict=True) if range_]
    check_ranges(verifier.bounder.program, searched)
    return pd.DataFrame([_range_row(release.block, *pair) for pair in zip(cells, found, strict=True)])


def _cells(release: Release) -> Iterator[_Cell]:
    """Every cell of the tables, then every kind of record where there are few."""
    printed = {int(c): (int(lo), int(hi)) for c, lo, hi in zip(release.cells, release.lo, release.hi, strict=True)}
    for place, query in enumerate(release.schema.queries):
        yield _Cell(query.table, query.id, query.label, query.predicate, *printed.get(place, (0, release.n)))
    for predicate in _kinds(release.schema):
        yield _Cell(RECORD, str(predicate), _words(release.schema, predicate), predicate, 0, release.n)


def _range_row(block: str, cell: _Cell, range_: Range | None) -> dict[str, Any]:
    """The range of a cell; what is printed of it where that is exact, or where a limit struck."""
    row = {"block": block, "table": cell.table, "cell": cell.name, "label": cell.label, "lo": cell.lo, "hi": cell.hi}
    if range_ is None or range_.limit:
        return {**row, "least": cell.lo, "most": cell.hi, "limit": range_.limit if range_ else ""}
    return {**row, "least": range_.low, "most": range_.high, "limit": ""}


def _kinds(schema: Schema) -> Iterator[Predicate]:
    """Every record of the domain, as a condition, where there are few."""
    if schema.domain.size <= MOST_RECORDS:
        for codes in product(*(column.codes for column in schema.domain.columns)):
            yield Predicate.of({name: [code] for name, code in zip(schema.domain.names, codes, strict=True)})


def _words(schema: Schema, predicate: Predicate) -> str:
    return ", ".join(f"{c.label}: {c.meaning[predicate.where[c.name][0]]}" for c in schema.domain.columns)


def recovered(ranges: pd.DataFrame) -> int:
    """How many cells of tables are printed as a range, or not at all, and known exactly all the same."""
    return known_within(ranges, 1)


def known_within(ranges: pd.DataFrame, width: int) -> int:
    """How many cells of tables are not printed exactly, and known to be within a range narrower than `width`."""
    hidden = (ranges["table"] != RECORD) & (ranges["lo"] < ranges["hi"])
    return int(np.sum(hidden & (ranges["most"] - ranges["least"] < width)))
