"""The proofs about a batch of tracts, for an audit: checked against the counts, and the tables that repeat them compared."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.core.claims import ANY
from genverify.core.levels import Levels
from genverify.core.release import Release, read_releases, read_schema
from genverify.papers.gtv.tracts.check import check_tract, read_tracts
from genverify.papers.gtv.tracts.publish import batch_of_tracts
from genverify.papers.gtv.tracts.settings import BLOCKS, BOTH, KIND_OF, TRACT, SyntheticTracts, TractTables
from genverify.run.provenance.recheck import Found, one_file
from genverify.run.provenance.records import AuditError, Record, reading_tables

AGAIN = "Verify the batch again: snakemake --force"
Line = Mapping[str, Any]
AREAS = ["tract", "tables", "area", "records", "determined"]


def check_job(record: Record, writers: Mapping[str, Record]) -> Found:
    """Every proof of a batch, every claim that follows from both levels, and what areas and tracts add up to."""
    claims, areas, whole, proofs = (one_file(record, name) for name in ("claims", "areas", "whole", "proofs"))
    asked = TractTables(**record.params[KIND_OF[record.wildcards["source"]]])
    batch = _batch(record)
    with reading_tables(proofs):
        stored = list(read_tracts(proofs))
        if [shared["block"] for shared, _ in stored] != [levels.areas[0].release.block for levels in batch]:
            raise AuditError(f"{proofs}: not the proofs of the tracts of this batch, each once. {AGAIN} {proofs}")
    with reading_tables(claims):
        frame = _claims(claims, batch)
    checked = Counter[str]()
    for levels, (shared, blocks) in zip(batch, stored, strict=True):
        small = [block.block for block in levels.blocks if block.n <= asked.largest_block]
        if [line["block"] for line in blocks] != small:
            raise AuditError(f"{proofs}: tract {shared['block']}: not the blocks that are asked about. {AGAIN} {proofs}")
        with reading_tables(proofs):
            found = check_tract(levels, shared, blocks, frame[frame["tract"] == shared["block"]])
        checked.update(tracts=1, tract_blocks=found["blocks"], tract_claims=found["claims"])
    with reading_tables(areas):
        shown = [
            row for levels, (_, lines) in zip(batch, stored, strict=True) for row in _areas(levels, lines, frame, asked)
        ]
        _compare(areas, pd.read_parquet(areas), shown)
    with reading_tables(whole):
        totals = [_whole(levels, shared, lines, shown) for levels, (shared, lines) in zip(batch, stored, strict=True)]
        _compare(whole, pd.read_parquet(whole), totals)
    return Found(checked + Counter(of_one_level=int((frame["tables"] != BOTH).sum())))


def _batch(record: Record) -> list[Levels]:
    """The tracts of the batch, from the counts that the job read."""
    levels = (("blocks", "block_counts"), ("tracts", "tract_counts"))
    named = [(one_file(record, counts), one_file(record, schema)) for schema, counts in levels]
    blocks, tracts = (list(read_releases(counts, read_schema(schema))) for counts, schema in named)
    source = record.wildcards["source"]
    batches = record.params["batches"] if source == "records" else SyntheticTracts(**record.params[source]).tracts
    return batch_of_tracts(blocks, tracts, int(record.wildcards["batch"]), batches)


def _claims(path: Path, batch: Sequence[Levels]) -> pd.DataFrame:
    """The table of claims: about areas of this batch, none twice, and none with two numbers of records."""
    frame = pd.read_parquet(path)
    names = batch[0].schema.domain.names if batch else ()
    columns = ["tract", "tables", "area", "m", *names]
    if batch and (list(frame.columns) != columns or not all(map(pd.api.types.is_integer_dtype, frame.dtypes[3:]))):
        raise AuditError(f"{path}: not the columns of a table of claims, with whole numbers. {AGAIN} {path}")
    known = {(tract, TRACT, tract) for tract in (levels.areas[0].release.block for levels in batch)}
    known |= {
        (levels.areas[0].release.block, tables, block.block)
        for levels in batch
        for block in levels.blocks
        for tables in (BLOCKS, BOTH)
    }
    other = sorted(set(frame[["tract", "tables", "area"]].itertuples(index=False, name=None)) - known)
    if other:
        raise AuditError(
            f"{path}: claims about {' '.join(map(str, other[0]))}, which is no area of this batch. {AGAIN} {path}"
        )
    twice = frame[frame.duplicated(["tables", "area", *names])]
    # a claim from block tables alone must be one of those from both, or at least contradict none of them
    both, alone = (frame[frame["tables"] == tables] for tables in (BOTH, BLOCKS))
    joined = alone.merge(both, on=["area", *names], suffixes=("", "_both"))
    wrong = [*twice["area"], *joined.loc[joined["m"] != joined["m_both"], "area"]]
    if wrong:
        raise AuditError(f"{path}: area {wrong[0]}: a claim is duplicated, or contradicts another one. {AGAIN} {path}")
    return frame


def _areas(levels: Levels, lines: Sequence[Line], frame: pd.DataFrame, asked: TractTables) -> Iterator[dict[str, Any]]:
    """What the table of areas has to say, from the counts, the claims and the proofs."""
    tract = levels.areas[0].release
    names = list(levels.schema.domain.names)
    full = frame[(frame[names] != ANY).all(axis=1)]
    determined = full.groupby(["tables", "area"])["m"].sum().to_dict()
    small = [block for block in levels.blocks if block.n <= asked.largest_block]
    rows: list[tuple[str, Release, Line | None]] = [(BLOCKS, block, None) for block in small]
    rows += [(TRACT, tract, None)] if tract.n <= asked.largest_block else []
    rows += [(BOTH, block, line) for block, line in zip(small, lines, strict=True)]
    for tables, area, line in rows:
        known = int(determined.get((tables, area.block), 0))
        row = dict(zip(AREAS, (tract.block, tables, area.block, area.n, known), strict=True))
        yield row if line is None else row | _proofs_of(line)


def _proofs_of(line: Line) -> dict[str, int]:
    """How many proofs a block has, and how many cells they name."""
    proofs = [proof for part in ("alone", "together") if line[part] for proof in line[part]["proofs"]]
    return {
        "proofs": len(proofs),
        "cells": sum(len(half["y"]) for proof in proofs for half in proof.values() if "y" in half),
    }


def _whole(levels: Levels, shared: Line, lines: Sequence[Line], areas: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the table of tracts has to say, as far as counts and proofs show it."""
    tract, persons = shared["block"], int(levels.sizes.sum())
    known = sum(row["determined"] for row in areas if row["tract"] == tract and row["tables"] == BOTH)
    return {
        "tract": tract,
        "persons": persons,
        "blocks": len(levels.blocks),
        "blocks_not_asked": len(levels.blocks) - len(lines),
        "one_solution": known == persons,
        "cells_of_nobody": sum(len(proof["y"]) for proof in shared["shared"]["nobody"] if "y" in proof),
        "together": sum(len(line["together"]["claims"]) for line in lines if line["together"]),
        "proof_bytes": sum(len(json.dumps(line, separators=(",", ":"))) for line in (shared, *lines)),
    }


def _compare(path: Path, frame: pd.DataFrame, shown: Sequence[Mapping[str, Any]]) -> None:
    """A table, row by row and value by value, as far as something is shown."""
    listed = frame.to_dict("records")
    if len(listed) != len(shown):
        raise AuditError(f"{path}: {len(listed)} rows, but {len(shown)} areas. {AGAIN} {path}")
    for row, right in zip(listed, shown, strict=True):
        for name, value in right.items():
            if type(row[name]) is not type(value) or row[name] != value:
                raise AuditError(
                    f"{path}: {right.get('area', right['tract'])}: {name} is {row[name]!r}, but {value!r} by its counts and "
                    f"proofs. {AGAIN} {path}"
                )
