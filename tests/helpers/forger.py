"""A careful forger: changes a file of a study and its digest in every record, so that only the content gives it away."""

import gzip
import io
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd

RECORDS = ("results", "figures")


def rewrite(path: str, content: bytes) -> None:
    """Replace a file, and its digest wherever a record names it."""
    old = sha256(Path(path).read_bytes()).hexdigest()
    Path(path).write_bytes(content)
    new = sha256(content).hexdigest()
    for record in (record for folder in RECORDS for record in Path(folder).rglob("*record.json")):
        text = record.read_text()
        if old in text:
            record.write_text(text.replace(old, new))


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
