"""Files of proofs: one JSON object per block and line, compressed."""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from genverify.core.errors import DataError
from genverify.core.files import refuse_duplicates
from genverify.core.limits import UNREADABLE, FileLimits, guarded_lines

LONGEST_LINE = 64 * 2**20
Forks = Sequence[tuple[Mapping[str, Any], bool]]
LIMITS = FileLimits(10_000_000, 16 * 2**30, "split the study into more batches (sample.batches)")


def write_proofs(proofs: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write the proofs of many blocks; the same proofs give the same bytes."""
    with path.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        for block in proofs:
            packed.write((json.dumps(block, separators=(",", ":")) + "\n").encode())


def read_proofs(path: Path) -> Iterator[dict[str, Any]]:
    """The proofs of each block of a file."""
    try:
        for number, line in enumerate(guarded_lines(path, LONGEST_LINE, LIMITS, "the proofs of a block", packed=True), 1):
            yield _parse(path, number, line)
    except UNREADABLE as error:
        raise DataError(f"{path}: not a file of proofs, or cut short ({error})") from None


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line, object_pairs_hook=refuse_duplicates)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}, line {number}: not valid JSON ({error})") from None
    if not isinstance(found, dict) or "block" not in found:
        raise DataError(f"{path}, line {number}: holds no block")
    if not isinstance(found["block"], str):
        raise DataError(f"{path}, line {number}: the block {str(found['block'])[:40]!r} is no text; write the proofs again")
    return found


def leaves(node: Mapping[str, Any], forks: Forks = ()) -> Iterator[tuple[Mapping[str, Any], Forks]]:
    """Every leaf of a stored proof with the forks above it, and whether it lies below (True) or above what they ask."""
    if "kind" in node:
        yield node, forks
    else:
        yield from leaves(node["below"], [*forks, (node, True)])
        yield from leaves(node["above"], [*forks, (node, False)])
