"""Where a study keeps what an audit looks at; the paths come from the caller."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """The folders that only the workflow writes, those of figures and tables among them, and the files that made them."""

    made: Sequence[str]
    shown: Sequence[Path]
    sources: Path
    lock: Path
    scripts: Path
    stages: Sequence[Path]
