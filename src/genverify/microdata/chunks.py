"""Large text files as a stream of chunks of whole lines, worked on by a few threads, in order."""

import os
import zipfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from genverify.core.errors import DataError

CHUNK_BYTES = 8 * 2**20
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Chunk:
    """Whole lines of a file, and the number of the first one."""

    first: int
    data: bytes


def open_text(path: Path, stack: ExitStack) -> Any:
    """The text of the file as a stream of bytes; gzip and zip are known by their first bytes."""
    if not path.is_file():
        raise DataError(f"{path}: no such file. Check the path, or fetch the file first.")
    with path.open("rb") as stream:
        magic = stream.read(4)
    if not magic:
        raise DataError(f"{path}: the file is empty (0 bytes). Fetch it again.")
    if magic.startswith(b"\x1f\x8b"):
        return stack.enter_context(pa.input_stream(str(path), compression="gzip"))
    if magic != b"PK\x03\x04":
        return stack.enter_context(path.open("rb"))
    try:
        archive = stack.enter_context(zipfile.ZipFile(path))
    except zipfile.BadZipFile as error:
        raise DataError(f"{path}: a broken or truncated zip file ({error}). Fetch it again.") from error
    members = [member.filename for member in archive.infolist() if not member.is_dir()]
    if len(members) != 1:
        raise DataError(
            f"{path}: the zip holds {len(members)} files ({', '.join(members)}). Give one that holds a single file."
        )
    return stack.enter_context(archive.open(members[0]))


def read_chunks(path: Path, stream: Any) -> Iterator[Chunk]:
    """The lines of a stream, a few megabytes at a time, numbered from 1."""
    first, data = 1, b""
    while more := _read_bytes(path, stream, first):
        data += more
        end = data.rfind(b"\n") + 1
        if not end and len(data) > CHUNK_BYTES:
            raise DataError(f"{path}, row {first}: no end of line within {len(data)} bytes. Give a text file.")
        if end:
            yield Chunk(first, data[:end])
            first += data.count(b"\n", 0, end)
            data = data[end:]
    if data:
        yield Chunk(first, data)


def _read_bytes(path: Path, stream: Any, first: int) -> bytes:
    try:
        return bytes(stream.read(CHUNK_BYTES))
    except (OSError, EOFError, zipfile.BadZipFile, pa.ArrowException) as error:
        message = f"{path}: the compressed data break off or are damaged after row {first - 1} ({error}). Fetch it again."
        raise DataError(message) from error


def in_order(work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    """`map` with threads that runs only a few items ahead."""
    threads = min(4, os.cpu_count() or 1)
    waiting: deque[Future[_Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
