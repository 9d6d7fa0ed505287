"""Claims R(a, m): exactly m records match the partial assignment a (section 2.1), and the candidates of Problem 1."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Flags, Ints
from genverify.model.domain import Column, Domain, Predicate
from genverify.model.errors import DataError, nearest

ANY = -1  # the code of a column that a claim does not name
FEW = 8  # datasets in which most combinations fail already: only what is left is counted in the others
CELLS_AT_ONCE = 4_000_000  # bounds memory: 32 MB for an array of 64-bit numbers
Codes = npt.NDArray[np.int16]
# what became of a block whose counts were protected: tables say it, and an audit compares it with what is proved
ATTACKED, CONTRADICTORY, UNDECIDED = "attacked", "contradictory", "undecided"


@dataclass(frozen=True)
class Claim:
    """
    Exactly m records match the codes; ANY (written as a star) stands for a column that may take any value.

    >>> claim = Claim((3, ANY, 1), 1)
    >>> claim.k
    2
    """

    codes: tuple[int, ...]
    m: int

    @property
    def k(self) -> int:
        return len(self.codes) - self.codes.count(ANY)

    def predicate(self, domain: Domain) -> Predicate:
        return Predicate.of({name: [code] for name, code in zip(domain.names, self.codes, strict=True) if code != ANY})


def parse_claim(text: str, domain: Domain) -> Claim:
    """A claim as `TEN=3,HHSIZE=1,m=1`: codes or labels; no record holds a code outside the domain, so only m = 0 is true."""
    given: dict[str, str] = {}
    for part in re.split(r",(?=[^,=]*=)", text):  # a label may hold a comma
        name, _, value = (word.strip() for word in part.partition("="))
        if not value or (name == "m" and not value.isdecimal()):
            raise DataError(f"claim {text!r}: {part!r} is not of the form COLUMN=code or m=count (whole numbers from 0)")
        if name in given:
            raise DataError(f"claim {text!r}: {name} is given twice")
        given[name] = value
    m = int(given.pop("m", 1))
    return claim_of(domain, given, m, codes=True)


def claim_of(domain: Domain, values: Mapping[str, object], m: int = 1, codes: bool = False) -> Claim:
    """The claim that exactly m records have these values, by label (or by code, if `codes`)."""
    known = {name: _code(domain[name], str(value), codes) for name, value in values.items()}
    if not known or isinstance(m, bool) or m < 0:
        raise DataError(f"m={m}, {len(known)} columns: name a column, for instance {domain.names[0]}, and a count m from 0")
    return Claim(tuple(known.get(name, ANY) for name in domain.names), m)


def _code(column: Column, text: str, codes: bool) -> int:
    """The code of a label, or the code itself; an error where a text is both, and they differ."""
    labels = dict(zip(column.meanings, column.codes, strict=True))
    code = int(text) if codes and text.isdecimal() else None
    if code in column.codes and labels.get(text, code) != code:
        said = f"{column.name}={text}"
        raise DataError(f"{said} is a label and also another code; ask release.probability({said})")
    if code is None and text not in labels:
        raise DataError(f"column {column.name} has no value {text!r}: {nearest(text, list(column.meanings))}")
    return labels[text] if code is None or text in labels else code


def matches(codes: Codes, records: npt.NDArray[np.integer]) -> Flags:
    """Which records match which claims: a row per claim, a column per record."""
    wanted = codes[:, None, :]
    return np.asarray(((wanted == ANY) | (wanted == records)).all(axis=2))


def false_claims(flags: Flags, m: Ints) -> Flags:
    """The claims that are not true of their block, from the records that match each: COUNT(a, D) != m."""
    return np.asarray(flags.sum(axis=1) != m)


def column_subsets(columns: int, min_k: int) -> Iterator[tuple[int, ...]]:
    """Every set of at least min_k columns, the small ones first."""
    for k in range(max(min_k, 1), columns + 1):
        yield from combinations(range(columns), k)


def candidate_claims(datasets: Codes, min_k: int) -> tuple[Codes, Ints]:
    """The claims with m >= 1 that hold in all datasets (K, N, columns): codes and m, in a fixed order (section 5.4.2)."""
    if not datasets.shape[1]:
        return np.zeros((0, datasets.shape[2]), dtype=np.int16), np.zeros(0, dtype=np.int64)
    first = np.unique(datasets[0], axis=0)
    varying = np.flatnonzero((datasets != datasets[0, 0]).any(axis=(0, 1)))
    m, same = _counts(first, datasets[:1], varying)[:, 0], _repeated(first, varying)
    np.logical_not(same, out=same)
    constant = datasets.shape[2] - len(varying)
    same[:, np.bitwise_count(np.arange(same.shape[1])) + constant < min_k] = False
    # Most combinations fail within the first few datasets; records all of whose combinations fail are not counted further.
    for some in (datasets[1:FEW], datasets[FEW:]):
        for rows in _parts(np.flatnonzero(same.any(axis=1)), len(some) * max(same.shape[1], datasets.shape[1])):
            same[rows] &= (_counts(first[rows], some, varying) == m[rows, None]).all(axis=1)
    return _in_order(first, varying, m, same, min_k)


def _counts(records: Codes, datasets: Codes, columns: Ints) -> npt.NDArray[np.unsignedinteger]:
    """How many records of each dataset agree with a record on a set of columns (a bit mask): (records, K, sets)."""
    # first by the exact set on which they agree; then each column adds to the sets without it the records counted with it
    K, N, _ = datasets.shape
    agree = np.zeros((len(records), K, N), dtype=np.uint16 if len(columns) <= 16 else np.int64)
    for bit, column in enumerate(columns.tolist()):
        codes = np.ascontiguousarray(datasets[:, :, column])
        agree |= (records[:, None, None, column] == codes).astype(agree.dtype) << bit
    sets = 1 << len(columns)
    indices = agree + sets * np.arange(len(records) * K).reshape(len(records), K, 1)
    kind = np.uint8 if N < 256 else np.uint16 if N < 2**16 else np.uint32
    counts: npt.NDArray[Any] = np.bincount(indices.ravel(), minlength=len(records) * K * sets).astype(kind)
    for bit in range(len(columns)):
        halves = counts.reshape(-1, 2, 1 << bit)
        halves[:, 0] += halves[:, 1]
    return counts.reshape(len(records), K, sets)


def _repeated(records: Codes, columns: Ints) -> Flags:
    """Whether a record says, on a set of columns, the same as one before it: (records, sets)."""
    repeated = np.zeros((len(records), 1 << len(columns)), dtype=bool)
    for rows in _parts(np.arange(len(records)), len(records)):
        agree = np.zeros((len(rows), len(records)), dtype=np.int64)
        for bit, column in enumerate(columns.tolist()):
            agree |= (records[rows, None, column] == records[:, column]).astype(np.int64) << bit
        index, before = np.nonzero(np.arange(len(records)) < rows[:, None])
        repeated[rows[index], agree[index, before]] = True
    for bit in range(len(columns)):
        halves = repeated.reshape(-1, 2, 1 << bit)
        halves[:, 0] |= halves[:, 1]
    return repeated


def _parts(rows: Ints, cells: int) -> list[Ints]:
    """Rows a few at a time, so that no more than about CELLS_AT_ONCE cells are in memory."""
    step = max(1, CELLS_AT_ONCE // max(1, cells))
    return [rows[at : at + step] for at in range(0, len(rows), step)]


def _in_order(first: Codes, varying: Ints, m: npt.NDArray[Any], same: Flags, min_k: int) -> tuple[Codes, Ints]:
    """The claims by their sets of columns, the small ones first, then by their codes, the last column first."""
    columns = first.shape[1]
    rows, sets = np.nonzero(same)
    named = np.zeros((len(rows), columns), dtype=bool)
    named[:, varying] = sets[:, None] >> np.arange(len(varying)) & 1
    constant = np.setdiff1d(np.arange(columns), varying)
    # A column with one code only adds nothing to a claim, but is part of it: each claim with and without it.
    times = 1 << len(constant)
    named = np.repeat(named, times, axis=0)
    named[:, constant] = np.tile(np.arange(times)[:, None] >> np.arange(len(constant)) & 1, (len(rows), 1))
    codes = np.where(named, np.repeat(first[rows], times, axis=0), np.int16(ANY)).astype(np.int16)
    counts = np.repeat(m[rows, sets], times).astype(np.int64)
    rest = named.sum(axis=1) >= max(min_k, 1)
    codes, counts, named = codes[rest], counts[rest], named[rest]
    indices = (~named).T[::-1]
    order = np.lexsort((*codes.T, *indices, named.sum(axis=1)))
    return codes[order], counts[order]


def as_claims(codes: Codes, m: Ints) -> list[Claim]:
    return [Claim(tuple(row), int(count)) for row, count in zip(codes.tolist(), m, strict=True)]


def claim_arrays(claims: Sequence[Claim]) -> tuple[Codes, Ints]:
    return np.array([c.codes for c in claims], dtype=np.int16), np.array([c.m for c in claims], dtype=np.int64)
