"""Claims R(a, m): exactly m records match the partial assignment a (section 2.1), and the candidates of Problem 1."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from genverify.core.arrays import Keys, positions, row_weights, weighted_keys
from genverify.core.domain import Domain
from genverify.core.errors import DataError
from genverify.core.predicates import Flags, Predicate

ANY = -1
FEW = 8
Codes = npt.NDArray[np.int16]
Ints = npt.NDArray[np.int64]


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
        return sum(code != ANY for code in self.codes)

    def predicate(self, domain: Domain) -> Predicate:
        return Predicate.of({name: [code] for name, code in zip(domain.names, self.codes, strict=True) if code != ANY})


def parse_claim(text: str, domain: Domain) -> Claim:
    """
    A claim written as `TEN=3,HHSIZE=1,m=1`.

    A value outside the domain is allowed: no record can hold it, so only m = 0 is true of it.
    """
    given: dict[str, int] = {}
    for part in text.replace(" ", "").split(","):
        name, _, value = part.partition("=")
        if not value.isdecimal():
            raise DataError(f"claim {text!r}: {part!r} is not of the form COLUMN=code or m=count (whole numbers from 0)")
        if name in given:
            raise DataError(f"claim {text!r}: {name} is given twice")
        if name != "m":
            domain[name]
        given[name] = int(value)
    m = given.pop("m", 1)
    if not given:
        raise DataError(f"claim {text!r}: names no column, for instance {domain.names[0]}=1")
    return Claim(tuple(given.get(name, ANY) for name in domain.names), m)


def matches(codes: Codes, records: npt.NDArray[np.integer]) -> Flags:
    """
    Which records match which claims: a row per claim, a column per record.

    >>> matches(np.array([[1, ANY], [1, 2]]), np.array([[1, 2], [1, 3]])).tolist()
    [[True, True], [True, False]]
    """
    wanted = codes[:, None, :]
    flags: Flags = ((wanted == ANY) | (wanted == records)).all(axis=2)
    return flags


def false_claims(flags: Flags, m: Ints) -> Flags:
    """
    The claims that are not true of their block, from the records that match each: COUNT(a, D) != m.

    >>> false_claims(np.array([[True, True], [True, False]]), np.array([2, 2])).tolist()
    [False, True]
    """
    false: Flags = flags.sum(axis=1) != m
    return false


def column_subsets(columns: int, min_k: int) -> Iterator[tuple[int, ...]]:
    """Every set of at least min_k columns, the small ones first."""
    for k in range(max(min_k, 1), columns + 1):
        yield from combinations(range(columns), k)


def candidate_claims(datasets: Codes, min_k: int) -> tuple[Codes, Ints]:
    """
    The claims with m >= 1 that hold in every dataset (section 5.4.2): their codes, one row each, and their m.

    `datasets` has the shape (K, N, columns). Claims come in a fixed order, whatever the order of the records; of N = 0
    records there are none.
    """
    if not datasets.shape[1]:
        return np.zeros((0, datasets.shape[2]), dtype=np.int16), np.zeros(0, dtype=np.int64)
    first = np.unique(datasets[0], axis=0)
    weights = row_weights(datasets.max(axis=(0, 1)).astype(np.int64) + 1)
    # Most combinations fail within the first few datasets; where all fail, the others need not be counted.
    some, others = datasets[:FEW].astype(np.int64), datasets[FEW:].astype(np.int64)
    rows, counts = [], []
    for columns in column_subsets(datasets.shape[2], min_k):
        chosen = list(columns)
        of_columns = None if weights is None else weights[chosen]
        keys, places = np.unique(weighted_keys(first[:, chosen], of_columns), return_index=True)
        held = _counts(weighted_keys(some[:, :, chosen], of_columns), keys)
        same = (held == held[0]).all(axis=0)
        if same.any() and len(others):
            same &= (_counts(weighted_keys(others[:, :, chosen], of_columns), keys) == held[0]).all(axis=0)
        codes = np.full((int(same.sum()), datasets.shape[2]), ANY, dtype=np.int16)
        codes[:, chosen] = first[places[same]][:, chosen]
        rows.append(codes)
        counts.append(held[0][same])
    return np.concatenate(rows), np.concatenate(counts)


def _counts(keys: Keys, wanted: Keys) -> Ints:
    """How often each wanted key occurs in each row of keys."""
    position = positions(wanted, keys)
    among = position >= 0
    # one bincount over (row, wanted key) as a single number, instead of one per row
    rows = np.broadcast_to(np.arange(len(keys))[:, None], keys.shape)
    flat = rows[among] * len(wanted) + position[among]
    return np.bincount(flat, minlength=len(keys) * len(wanted)).reshape(len(keys), len(wanted))


def as_claims(codes: Codes, m: Ints) -> list[Claim]:
    return [Claim(tuple(row), int(count)) for row, count in zip(codes.tolist(), m, strict=True)]


def claim_arrays(claims: Sequence[Claim]) -> tuple[Codes, Ints]:
    return np.array([c.codes for c in claims], dtype=np.int16), np.array([c.m for c in claims], dtype=np.int64)
