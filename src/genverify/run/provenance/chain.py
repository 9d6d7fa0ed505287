"""The chain behind some results: every job on the way back to the raw data, upstream first."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from genverify.run.jobs import digest
from genverify.run.provenance.records import ENDING, AuditError, Record, Records, normal


@dataclass(frozen=True)
class Chain:
    """Results, the jobs behind them (upstream first), the jobs that each one reads from, and the raw files."""

    results: dict[str, Record]
    jobs: tuple[Record, ...]
    upstream: dict[str, tuple[str, ...]]
    raw: tuple[str, ...]


def find_results(asked: Iterable[str], folders: Iterable[Path]) -> list[str]:
    """What was asked for; every file in the given folders if nothing was, records and hidden files left out."""
    chosen = [normal(path) for path in asked]
    if chosen:
        return list(dict.fromkeys(chosen))
    found = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return [normal(path) for path in found if not path.name.endswith(ENDING) and not path.name.startswith(".")]


def walk(results: Iterable[str], records: Records) -> Chain:
    """From the results through the record of every job to files that no job wrote."""
    wanted = {result: _record_of(result, records) for result in results}
    upstream: dict[str, tuple[str, ...]] = {}
    known = {record.path: record for record in wanted.values()}
    raw: set[str] = set()
    todo = list(known.values())
    while todo:
        record = todo.pop()
        if record.path in upstream:
            continue
        before = {path: records.writer(path) for path in record.inputs if records.is_made(path)}
        raw.update(path for path in record.inputs if path not in before)
        upstream[record.path] = tuple(dict.fromkeys(one.path for one in before.values()))
        known |= {one.path: one for one in before.values()}
        todo += before.values()
    return Chain(wanted, tuple(known[path] for path in _ordered(upstream)), upstream, tuple(sorted(raw)))


def _ordered(upstream: dict[str, tuple[str, ...]]) -> list[str]:
    try:
        return list(TopologicalSorter({path: upstream[path] for path in sorted(upstream)}).static_order())
    except CycleError as error:
        raise AuditError(f"{error.args[1][0]}: this record and others say that they follow from each other") from None


def _record_of(result: str, records: Records) -> Record:
    """The record of a result; a file from elsewhere is known by its content."""
    if not os.path.exists(result):
        raise AuditError(f"{result}: there is no such file. Make it: snakemake {result}")
    if records.is_made(result) or result in records.writers:
        return records.writer(result)
    content = digest(Path(result))
    for path, found in records.writers.items():
        if found[0].outputs[path] == content:
            return records.writer(path)
    raise AuditError(f"{result}: it lies outside {' and '.join(records.made)}, and no job of this study wrote its content.")
