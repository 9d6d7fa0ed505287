"""Files of proofs: one JSON object per block and line, compressed."""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from genverify.errors import DataError

LONGEST_LINE = 64 * 2**20


def write_proofs(proofs: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write the proofs of many blocks; the same proofs give the same bytes."""
    with path.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        for block in proofs:
            packed.write((json.dumps(block, separators=(",", ":")) + "\n").encode())


def read_proofs(path: Path) -> Iterator[dict[str, Any]]:
    """The proofs of each block of a file."""
    try:
        with gzip.open(path, "rb") as file:
            for number in count(1):
                line = file.readline(LONGEST_LINE + 1)
                if not line:
                    return
                if len(line) > LONGEST_LINE:
                    raise DataError(
                        f"{path}, line {number}: longer than {LONGEST_LINE} bytes, too long for the proofs of a block"
                    )
                yield _parse(path, number, line)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: not a file of proofs, or cut short ({error})") from None


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}, line {number}: not valid JSON ({error})") from None
    if not isinstance(found, dict) or "block" not in found:
        raise DataError(f"{path}, line {number}: holds no block")
    return found
