"""The store of private microdata, one Parquet file per state, read and written with bounded memory; person records."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from genverify.model.arrays import Ints, row_weights
from genverify.model.domain import EVERY, Domain, DomainFile, Predicate
from genverify.model.errors import DataError, nearest
from genverify.model.files import FileLimits, read_yaml
from genverify.model.query import Group, groups_of
from genverify.model.release import Release, Schema, merge_codes, read_study
from genverify.model.settings import ReleaseSettings
from genverify.model.tablefiles import ROWS_PER_GROUP, Expected, open_csv, refuse_row
from genverify.model.tabulate import releases_of

GEOGRAPHY = {"block": 15, "tract": 11, "county": 5, "state": 2}
"""How many digits of a block id name each geography."""

BUFFERED_BYTES = 256 * 2**20  # bounds memory: the longest queues are written out beyond it
PARQUET = {"compression": "zstd", "dictionary_pagesize_limit": 16 * 2**20}


class StateFile(TypedDict):
    rows: int
    sha256: str


class Manifest(TypedDict):
    rows: int
    states: dict[str, StateFile]


def write_microdata(tables: Iterable[pa.Table], folder: Path, domain: Domain) -> Manifest:
    """Write tables with a column `block` and the int8 columns of the domain as folder/{state}.parquet, in row order."""
    folder.mkdir(parents=True, exist_ok=True)
    writers: dict[str, _StateWriter] = {}
    try:
        for table in tables:
            for state, rows in _split(table, folder, domain):
                writers.setdefault(state, _StateWriter(folder / f"{state}.parquet")).add(rows)
                while sum(writer.waiting_bytes for writer in writers.values()) > BUFFERED_BYTES:
                    max(writers.values(), key=lambda writer: (writer.waiting_bytes, writer.path)).flush()
        if not writers:
            raise DataError(f"{folder}: there is no record to write. Check that the microdata hold housing units.")
        for writer in writers.values():
            writer.close()
    except BaseException:
        for writer in writers.values():
            writer.discard()
        raise
    return _publish(folder, writers)


def _split(table: pa.Table, folder: Path, domain: Domain) -> Iterator[tuple[str, pa.Table]]:
    """The rows of each state, checked, in pieces no larger than a row group."""
    for start in range(0, table.num_rows, ROWS_PER_GROUP):
        piece = table.slice(start, ROWS_PER_GROUP)
        _check_columns(piece, folder, domain)
        blocks = piece["block"].cast(pa.string()).combine_chunks()
        codes = _state_codes(blocks, folder)
        piece = pa.table({"block": blocks, **{name: piece[name] for name in domain.names}})
        sizes = np.bincount(codes)
        if sizes[codes[0]] == len(codes) and (start == 0 or len(codes) == ROWS_PER_GROUP):
            yield f"{codes[0]:02d}", piece
            continue
        # Rows that may wait are copied: a slice would keep the whole table in memory.
        order = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes))
        for state in np.flatnonzero(sizes):
            yield f"{state:02d}", piece.take(pa.array(order[state]))


def _check_columns(table: pa.Table, folder: Path, domain: Domain) -> None:
    """Every column there, of the right type, with codes of the domain only."""
    for name in ("block", *domain.names):
        if name not in table.column_names:
            raise DataError(f"{folder}: records without column {name}: {nearest(name, table.column_names)}")
    for column in domain.columns:
        values = table[column.name]
        if values.type != pa.int8() or values.null_count:
            raise DataError(f"{folder}: column {column.name} holds {values.type} or nulls: give int8 codes.")
        known = np.isin(np.arange(256, dtype=np.uint8).view(np.int8), column.codes)
        wrong = np.flatnonzero(~known[values.to_numpy().view(np.uint8)])
        if wrong.size:
            row = int(wrong[0])
            raise DataError(
                f"{folder}: a record of block {table['block'][row]} has {column.name}={values[row]}, "
                f"which is not a code of the domain ({nearest(values[row], list(column.codes))})."
            )


def _state_codes(blocks: pa.Array, folder: Path) -> npt.NDArray[np.uint8]:
    """The state of each block as a number; an error unless every id is 15 digits."""
    width = GEOGRAPHY["block"]
    lengths = pc.fill_null(pc.binary_length(blocks), 0).to_numpy()
    wrong = lengths != width
    if not wrong.any():
        start, stop = np.frombuffer(blocks.buffers()[1], np.int32)[[blocks.offset, blocks.offset + len(blocks)]]
        digits = np.frombuffer(blocks.buffers()[2], np.uint8)[start:stop].reshape(-1, width) - np.uint8(ord("0"))
        if digits.max(initial=0) <= 9:
            return digits[:, 0] * np.uint8(10) + digits[:, 1]
        wrong = digits.max(axis=1) > 9
    value = blocks[int(np.argmax(wrong))].as_py()
    raise DataError(f"{folder}: block id {value!r} is not {width} digits. Give state, county, tract and block, padded.")


@dataclass
class _StateWriter:
    """The open file of one state and the rows that wait for the next row group."""

    path: Path
    rows: int = 0
    waiting: list[pa.Table] = field(default_factory=list)
    waiting_rows: int = 0
    waiting_bytes: int = 0
    file: Any = None

    @property
    def part(self) -> Path:
        return self.path.with_suffix(".parquet.part")

    def add(self, rows: pa.Table) -> None:
        self.waiting.append(rows)
        self.waiting_rows += rows.num_rows
        self.waiting_bytes += rows.nbytes
        if self.waiting_rows >= ROWS_PER_GROUP:
            self.flush()

    def flush(self) -> None:
        """Write the waiting rows as one row group."""
        if not self.waiting:
            return
        table = _with_geography(pa.concat_tables(self.waiting))
        if self.file is None:
            # Without the Arrow schema the dictionary columns are read back as plain strings.
            self.file = pq.ParquetWriter(self.part, table.schema, store_schema=False, **PARQUET)
        self.file.write_table(table, row_group_size=table.num_rows)
        self.rows += table.num_rows
        self.waiting, self.waiting_rows, self.waiting_bytes = [], 0, 0

    def close(self) -> None:
        self.flush()
        self.file.close()

    def discard(self) -> None:
        if self.file is not None:
            self.file.close()
        self.part.unlink(missing_ok=True)


def _with_geography(table: pa.Table) -> pa.Table:
    """The table with block, tract, county and state in front, dictionary encoded."""
    block = table["block"].combine_chunks().dictionary_encode()
    columns = {}
    for name, width in GEOGRAPHY.items():
        part = pc.utf8_slice_codeunits(block.dictionary, 0, width).dictionary_encode()
        columns[name] = pa.DictionaryArray.from_arrays(part.indices.take(block.indices), part.dictionary)
    rest = {name: table[name].combine_chunks() for name in table.column_names if name != "block"}
    return pa.table({**columns, **rest})


def _publish(folder: Path, writers: dict[str, _StateWriter]) -> Manifest:
    """Give the finished files their names; files of an earlier run that are not part of this one go away."""
    for stale in folder.glob("*.parquet"):
        if stale.stem not in writers:
            stale.unlink()
    states: dict[str, StateFile] = {}
    for state, writer in sorted(writers.items()):
        writer.part.replace(writer.path)
        with writer.path.open("rb") as stream:
            states[state] = {"rows": writer.rows, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}
    return {"rows": sum(entry["rows"] for entry in states.values()), "states": states}


def read_microdata(
    folder: Path,
    columns: Sequence[str] | None = None,
    blocks: Collection[str] | None = None,
    states: Collection[str] | None = None,
) -> pa.Table:
    """The records of the given blocks and states (default: all), in the order of the store."""
    files = _state_files(folder)
    wanted = set(files) if states is None else set(states)
    if blocks is not None:
        named = {block[: GEOGRAPHY["state"]] for block in blocks}
        wanted = named if states is None else wanted & named
    for state in sorted(wanted - set(files)):
        raise DataError(f"{folder}: there is no file {state}.parquet for state {state} (known: {', '.join(files)}).")
    if not wanted:
        return _read(next(iter(files.values())), columns, [])
    parts = []
    for state in sorted(wanted):
        own = None if blocks is None else [block for block in blocks if block.startswith(state)]
        parts.append(_read(files[state], columns, own))
    return pa.concat_tables(parts)


def _state_files(folder: Path) -> dict[str, Path]:
    files = {path.stem: path for path in sorted(folder.glob("*.parquet"))}
    if not files:
        raise DataError(f"{folder}: no Parquet file of a state stands here. Write the microdata store first.")
    return files


def _check_file(path: Path, columns: Iterable[str]) -> Path:
    """The path itself, if the file is whole and has the columns."""
    try:
        names = pq.read_schema(path).names
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, error) from error
    for name in columns:
        if name not in names:
            raise DataError(f"{path}: no column {name} ({nearest(name, names)}). Write the microdata store again.")
    return path


def _broken(path: Path, error: Exception) -> DataError:
    return DataError(f"{path}: not a whole Parquet file ({error}). Delete it and write the microdata store again.")


def _read(path: Path, columns: Sequence[str] | None, blocks: list[str] | None) -> pa.Table:
    _check_file(path, ["block", *(columns or [])])
    condition = None
    if blocks is not None:
        # The range lets whole row groups be skipped; isin alone does not.
        condition = ds.field("block").isin(pa.array(blocks, pa.string()))
        if blocks:
            condition &= (ds.field("block") >= min(blocks)) & (ds.field("block") <= max(blocks))
    try:
        return ds.dataset(path, format="parquet").to_table(None if columns is None else list(columns), condition)
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, error) from error


def block_sizes(folder: Path, keeps: Predicate) -> pd.DataFrame:
    """How many records that the predicate keeps each block has (n >= 1), sorted by block; the geography is checked."""
    files = _state_files(folder)
    counts = pd.concat([_sizes_of_state(state, files, keeps) for state in files], ignore_index=True)
    for position, (name, width) in enumerate(GEOGRAPHY.items()):
        if name != "block":
            counts.insert(position, name, counts["block"].str.slice(0, width))
    return counts


def _sizes_of_state(state: str, files: dict[str, Path], keeps: Predicate) -> pd.DataFrame:
    counts = []
    path = _check_file(files[state], [*GEOGRAPHY, *keeps.columns])
    with pq.ParquetFile(path, read_dictionary=list(GEOGRAPHY)) as file:
        for group in range(file.num_row_groups):
            try:
                rows = file.read_row_group(group, columns=[*GEOGRAPHY, *keeps.columns]).unify_dictionaries()
            except (pa.ArrowException, OSError) as error:
                raise _broken(path, error) from error
            _check_geography(rows, state, files)
            block = rows["block"].combine_chunks()
            kept = keeps.matches({name: rows[name].to_numpy() for name in keeps.columns or ["state"]})
            sizes = np.bincount(block.indices.to_numpy()[kept], minlength=len(block.dictionary))
            counts.append(pa.table({"block": block.dictionary, "n": sizes}))
    total = pa.concat_tables(counts).group_by("block").aggregate([("n", "sum")]).rename_columns(["block", "n"])
    return cast(pd.DataFrame, total.filter(pc.field("n") > 0).sort_by("block").to_pandas())


def _check_geography(rows: pa.Table, state: str, files: dict[str, Path]) -> None:
    """Every block lies in the state of its file, and its tract, county and state are the first digits of its id."""
    block = rows["block"].combine_chunks()
    ids = block.dictionary
    for value in ids.filter(pc.invert(pc.starts_with(ids, state))).to_pylist():
        own = value[: GEOGRAPHY["state"]]
        if own in files and _read(files[own], ["block"], [value]).num_rows:
            both, where = ", ".join(sorted((own, state))), f"{files[own]} and {files[state]}"
            raise DataError(f"block {value} is in two states ({both}): see {where}. Write the microdata store again.")
        raise DataError(
            f"{files[state]}: block {value} is of state {own}, not of state {state}. Write the microdata store again."
        )
    for name, width in GEOGRAPHY.items():
        column = rows[name].combine_chunks()
        expected = pc.index_in(pc.utf8_slice_codeunits(ids, 0, width), value_set=column.dictionary)
        wrong = np.flatnonzero(expected.fill_null(-1).to_numpy()[block.indices] != column.indices.to_numpy())
        if wrong.size:
            row = int(wrong[0])
            raise DataError(
                f"{files[state]}: block {block[row]} stands with {name} {column[row]}, which is not the beginning of "
                "its id. Write the microdata store again."
            )


# The private records of some blocks, or of whole states, that a universe keeps.


def read_records(microdata: Path, domain_file: DomainFile, universe: str, blocks: Collection[str]) -> pd.DataFrame:
    """The records of the blocks that the universe keeps: block, and a code per column."""
    records = read_microdata(microdata, ["block", *domain_file.domain.names], blocks=blocks).to_pandas()
    kept = domain_file.universe(universe).keeps.matches(dict(records.items()))
    chosen: pd.DataFrame = records[kept].reset_index(drop=True)
    return chosen


# Person records in the layout of the reconstructed 2010 records: block, sex, age, one flag per race, hispanic.

NOT_HISPANIC = 1  # CENHISP counts from 1: 1 for not Hispanic, 2 for Hispanic
LIMITS = FileLimits(400_000_000, 64 * 2**30, "keep the rows of the blocks of the study only")
RECORDS = Expected("a file of person records", "check it, or fetch it again", LIMITS)


def read_person_records(path: Path, domain: Domain) -> pd.DataFrame:
    """The records as `block` and the columns of the domain, sorted by block; the race flags make the code of race."""
    races = [chosen[0] for chosen in domain["CENRACE"].sets if len(chosen) == 1]
    frame = open_csv(path, RECORDS).frame(("block", "sex", "age", *races, "hispanic"), texts=["block"])
    wrong = ~frame["block"].astype(str).str.fullmatch(rf"\d{{{GEOGRAPHY['block']}}}")
    _check(path, frame["block"], wrong, f"is not {GEOGRAPHY['block']} digits")
    for name in (*races, "hispanic"):
        _check(path, frame[name], ~frame[name].isin([0, 1]), "is neither 0 nor 1")
    flags = frame[races].sum(axis=1).astype(int).rename("the sum of race flags")
    _check(path, flags, flags == 0, "names no race: give each person one or more")
    for name, column in (("sex", "QSEX"), ("age", "QAGE")):
        codes = domain[column].codes
        _check(path, frame[name], ~frame[name].isin(codes), f"is outside {min(codes)} to {max(codes)}")
    return _coded(frame, races, domain).sort_values("block", kind="stable", ignore_index=True)


def _check(path: Path, values: "pd.Series[Any]", wrong: "pd.Series[bool]", problem: str) -> None:
    refuse_row(path, values, wrong, f"{problem}. Correct the row.")


def _coded(frame: pd.DataFrame, races: list[str], domain: Domain) -> pd.DataFrame:
    weights = 1 << np.arange(len(races))
    code_of = np.zeros(1 << len(races), dtype=np.int64)
    for code, chosen in domain["CENRACE"].set_of.items():
        code_of[sum(1 << races.index(word) for word in chosen)] = code
    columns = {"QSEX": frame["sex"], "QAGE": frame["age"], "CENHISP": frame["hispanic"] + NOT_HISPANIC}
    columns["CENRACE"] = pd.Series(code_of[frame[races].to_numpy() @ weights], index=frame.index)
    return pd.DataFrame({"block": frame["block"], **{name: columns[name].astype("int8") for name in domain.names}})


# Blocks whose records are known, with the release that was tabulated from them.


@dataclass(frozen=True)
class KnownBlock:
    """The release of a block, and the records (rows, columns) that it was tabulated from."""

    release: Release
    records: Ints


def read_known(
    domain: Path, settings: ReleaseSettings, tables: Path, records: Path, list_name: str | None
) -> tuple[Schema, pd.DataFrame]:
    """The schema of a study of persons and the records of a user's file, read as the groups of this list (None: as is)."""
    schema = read_study(domain, settings)
    groups = groups_of(read_yaml(tables), schema.domain, list_name)
    return read_as(schema, read_person_records(records, schema.domain), groups)


def read_as(schema: Schema, records: pd.DataFrame, groups: Sequence[Group]) -> tuple[Schema, pd.DataFrame]:
    """Schema and records with the codes of a column merged into these groups; as they are, if there are none."""
    if not groups:
        return schema, records
    column = groups[0].predicate.columns[0]
    coarse, merged = merge_codes(schema, column, groups)
    return coarse, records.assign(**{column: merged[records[column].to_numpy()]})


def known_blocks(records: pd.DataFrame, schema: Schema, most: int) -> Iterator[KnownBlock]:
    """The blocks of up to `most` records, tabulated in one pass; the records are sorted by block."""
    sizes = records.groupby("block", sort=True)["block"].transform("size")
    chosen = records[sizes <= most]
    if chosen.empty:
        raise DataError(f"no block has up to {most} records: raise persons.claims.max_persons in config/persons.yaml")
    rows, start = chosen[list(schema.domain.names)].to_numpy(dtype=np.int64), 0
    for release in releases_of(pa.Table.from_pandas(chosen, preserve_index=False), EVERY, schema):
        yield KnownBlock(release, rows[start : start + release.n])
        start += release.n


# The distinct records of areas, as single numbers, and how often each occurs.


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
        keys = np.zeros(len(records[self.domain.names[0]]), dtype=np.int64)
        for name, weight in zip(self.domain.names, self.weights, strict=True):
            keys += records[name].astype(np.int64) * weight
        return keys

    def codes(self, keys: Ints, column: int) -> Ints:
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
    blocks: Any = pc.dictionary_encode(table["block"].combine_chunks()) if len(areas) else None
    for width in GEOGRAPHY.values() if len(areas) else ():
        ids = pc.utf8_slice_codeunits(blocks.dictionary, 0, width).to_pandas().astype("str")
        area = areas.get_indexer(pd.Index(ids))[blocks.indices.to_numpy()].astype(np.int64)  # -1: none of them
        inside = area[kept] >= 0
        local += Types.of(area[kept][inside] * radix.total + keys[inside])
    return local, Types.of(keys)


def nation_types(microdata: Path, domain: Domain, keeps: Predicate) -> Types:
    """The distinct records of the whole store, read one state at a time."""
    nation, radix = NOTHING, Radix(domain)
    for state in _state_files(microdata):
        nation += types_of_state(microdata, state, radix, keeps, pd.Index([]))[1]
    return nation


def nation_frame(microdata: Path, domain: Domain) -> pd.DataFrame:
    """The same as a table, of all universes: a code per column, and how often."""
    nation, radix = nation_types(microdata, domain, EVERY), Radix(domain)
    codes = {name: radix.codes(nation.keys, column).astype("int8") for column, name in enumerate(domain.names)}
    return pd.DataFrame({**codes, "times": nation.times})


def read_nation(path: Path, domain: Domain, keeps: Predicate) -> Types:
    """The distinct records that the universe keeps, from such a table."""
    frame = pd.read_parquet(path)
    kept = frame[keeps.matches({name: frame[name].to_numpy() for name in domain.names})]
    return Types(Radix(domain).encode({name: kept[name].to_numpy() for name in domain.names}), kept["times"].to_numpy())
