"""The distinct records of areas, as single numbers, and how often each occurs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from genverify.core.arrays import row_weights
from genverify.core.arraytypes import Ints
from genverify.core.domain import Domain
from genverify.core.errors import DataError
from genverify.core.predicates import Predicate
from genverify.microdata.store import GEOGRAPHY, read_microdata


@dataclass(frozen=True)
class Radix:
    """Records as single numbers: the code of each column times the weight of the column."""

    domain: Domain

    @cached_property
    def sizes(self) -> Ints:
        return np.array([max(column.codes) + 1 for column in self.domain.columns], dtype=np.int64)

    @cached_property
    def weights(self) -> Ints:
        weights = row_weights(self.sizes)
        if weights is None:
            raise DataError("the columns of the records have too many codes to number them; merge some codes")
        return weights

    @property
    def total(self) -> int:
        return int(self.sizes.prod())

    def encode(self, records: Mapping[str, npt.NDArray[np.generic]]) -> Ints:
        """The number of each record."""
        keys = np.zeros(len(records[self.domain.names[0]]), dtype=np.int64)
        for name, weight in zip(self.domain.names, self.weights, strict=True):
            keys += records[name].astype(np.int64) * weight
        return keys

    def codes(self, keys: Ints, column: int) -> Ints:
        """The code of one column in each record."""
        return keys // int(self.weights[column]) % int(self.sizes[column])

    def share(self, keys: Ints, column: int) -> Ints:
        """What the code of one column adds to each number."""
        return self.codes(keys, column) * int(self.weights[column])


@dataclass(frozen=True)
class Types:
    """The distinct records of some areas (area number * radix + record), and how often each occurs."""

    keys: Ints
    times: Ints

    @classmethod
    def of(cls, keys: Ints) -> "Types":
        return cls(*np.unique(keys, return_counts=True))

    def __add__(self, other: "Types") -> "Types":
        keys, place = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        times = np.concatenate([self.times, other.times])
        return Types(keys, np.bincount(place, times, minlength=len(keys)).astype(np.int64))

    def sizes(self, radix: Radix, areas: int) -> Ints:
        """The number of records in each area."""
        return np.bincount(self.keys // radix.total, self.times, minlength=areas).astype(np.int64)


NOTHING = Types(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def types_of_state(microdata: Path, state: str, radix: Radix, keeps: Predicate, areas: pd.Index) -> tuple[Types, Types]:
    """The distinct records of each of the areas, and of the whole state."""
    columns = (["block"] if len(areas) else []) + list(radix.domain.names)
    table = read_microdata(microdata, columns, states=[state])
    records = {name: table[name].to_numpy() for name in radix.domain.names}
    kept = keeps.matches(records)
    keys = radix.encode(records)[kept]
    local = NOTHING
    for area in _area_numbers(table, areas) if len(areas) else []:
        inside = area[kept] >= 0
        local += Types.of(area[kept][inside] * radix.total + keys[inside])
    return local, Types.of(keys)


def _area_numbers(table: pa.Table, areas: pd.Index) -> Iterator[Ints]:
    """For each kind of area, the number of the area that each record lies in, -1 for none of them."""
    blocks = pc.dictionary_encode(table["block"].combine_chunks())
    for width in GEOGRAPHY.values():
        ids = pc.utf8_slice_codeunits(blocks.dictionary, 0, width).to_pandas().astype("str")
        yield areas.get_indexer(pd.Index(ids))[blocks.indices.to_numpy()].astype(np.int64)
