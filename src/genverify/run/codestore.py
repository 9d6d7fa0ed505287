"""What is known of the code, kept from one start of Snakemake to the next: parsing takes seconds, looking up hundredths."""

import json
import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from genverify.run.pieces import Piece, Source


@dataclass
class Store:
    """The parts of scripts, as long as no file of the packages changes, and the pieces of files, by their content."""

    file: Path
    version: str  # of the analysis: what another one found is not used
    state: str  # of the packages
    parts: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)
    is_new: bool = False
    _lines: bytes = b"{}"

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Read only when some file has changed."""
        known = json.loads(self._lines)
        return {key: Source([Piece(*piece) for piece in first], *others) for key, (first, *others) in known.items()}

    def read(self) -> None:
        """Take what another process wrote: all of it, by its own digest, or nothing."""
        with suppress(OSError, ValueError):
            digest, version, state, parts, sources = self.file.read_bytes().split(b"\n")
            if version.decode() == self.version and digest.decode() == joined_digest(version, state, parts, sources):
                self.parts = json.loads(parts) if state.decode() == self.state else {}
                self._lines = sources

    def write(self, keys: Collection[str]) -> None:
        """What has one of the keys, in one step: another process reads the old file or the new one. Nothing if forbidden."""
        if not self.is_new:
            return
        parts, sources = ({key: kept[key] for key in keys if key in kept} for kept in (self.parts, self.sources))
        content = [text.encode() for text in (self.version, self.state, json.dumps(parts), json.dumps(sources))]
        new = self.file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self.file.parent.mkdir(exist_ok=True)
            new.write_bytes(b"\n".join([joined_digest(*content).encode(), *content]))
            new.replace(self.file)
        with suppress(OSError):
            new.unlink(missing_ok=True)


def joined_digest(*contents: bytes) -> str:
    """The SHA-256 of lines."""
    return sha256(b"\n".join(contents)).hexdigest()
