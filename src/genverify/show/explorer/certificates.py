"""The certificates of a block for the page: packed, one piece for each block, loaded only when somebody asks for a file."""

import zlib
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path
from zipfile import ZipFile

from genverify.show.explorer.pages import write_piece


def write_certificates(folder: Path, archives: Iterable[Path]) -> dict[str, int]:
    """A piece `vipr-<number>` for each block of some archives; the number of each block, by its name in the archive."""
    number: dict[str, int] = {}
    for path in archives:
        with ZipFile(path) as archive:
            files: dict[str, list[str]] = {}
            for name in archive.namelist():
                block, _, file = name.rpartition("/")
                if block:
                    files.setdefault(block, []).append(file)
            for block, names in files.items():
                number[block] = len(number)
                texts = [archive.read(f"{block}/{name}").decode() for name in names]
                write_piece(folder, f"vipr-{number[block]}", packed(names, texts))
    return number


def packed(names: list[str], texts: list[str]) -> dict[str, object]:
    """
    Files as one deflated text, which is far smaller than each by itself; `ends` says where in it each file ends.

    >>> packed(["a", "b"], ["one", "two"])["ends"]
    [3, 6]
    """
    data = [text.encode() for text in texts]
    ends, at = [], 0
    for part in data:
        at += len(part)
        ends.append(at)
    return {"names": names, "ends": ends, "data": b64encode(zlib.compress(b"".join(data), 9)).decode()}
