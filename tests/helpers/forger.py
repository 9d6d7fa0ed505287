"""A careful forger: changes a file of a study and its digest in every record, so that only the content gives it away."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.run.jobs import digest

RECORDS = ("results", "figures")


def rewrite(path: str, content: bytes) -> None:
    """Replace a file, and its digest, and that of the folder that it lies in, wherever a record names it."""
    old = [digest(one) for one in (Path(path), Path(path).parent)]
    Path(path).write_bytes(content)
    new = [digest(one) for one in (Path(path), Path(path).parent)]
    for record in (record for folder in RECORDS for record in Path(folder).rglob("*record.json")):
        text = record.read_text()
        if any(one in text for one in old):
            record.write_text(text.replace(old[0], new[0]).replace(old[1], new[1]))


def forge_table(path: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    """Change a Parquet table."""
    buffer = io.BytesIO()
    change(pd.read_parquet(path)).to_parquet(buffer, index=False)
    rewrite(path, buffer.getvalue())


def forge_proofs(path: str, change: Callable[[list[dict[str, Any]]], None]) -> None:
    """Change a file of proofs, one object per block."""
    blocks = [json.loads(line) for line in gzip.decompress(Path(path).read_bytes()).splitlines()]
    change(blocks)
    rewrite(path, gzip.compress("".join(json.dumps(block) + "\n" for block in blocks).encode(), mtime=0))


def forge_record(path: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a job record."""
    text = json.loads(Path(path).read_text())
    change(text)
    Path(path).write_text(json.dumps(text))
