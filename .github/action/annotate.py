"""Annotations for an answer of `genverify disclose --json`: errors for every cell that can be worked out, no value."""

import csv
import json
import os
import shlex
import sys
from pathlib import Path

# GitHub shows ten annotations of a step and drops the rest: the summary names more, and says how many are left out
SHOWN = 50


def annotate(answer: Path, cells: Path) -> None:
    """Annotations to the standard error, which GitHub reads too; the summary, in Markdown, to the standard output."""
    found = json.loads(answer.read_text() or "{}")
    if "error" in found or not found:
        message = found.get("error", {}).get("message", "no answer")
        print(f"::error::{escape(message)}", file=sys.stderr)
        print(f"## The tables could not be audited\n\n{message}")
        return
    unsafe = [cell["cell"] for cell in found.get("unsafe_cells", [])]
    with cells.open(newline="", encoding="utf-8") as file:
        places = {row["cell"]: row["place"] for row in csv.DictReader(file)}
    for cell in unsafe:
        file, _, where = places.get(cell, "").rpartition(", ")
        older = [name for name, cells in found.get("previous", {}).items() if cell in cells]
        words = f"{cell} ({where}) can be worked out from what is published" + (f" and {older[0]}" if older else "")
        print(f"::error file={escape(in_repository(file))}::{escape(words)}", file=sys.stderr)
    doubt = f"{len(unsafe)} suppressed cells can be worked out" if unsafe else "not called safe"
    verdict = "safe" if found.get("safe") else doubt
    print(f"## Tables to be published: {verdict}\n")
    lines = [f"- {cell} ({places.get(cell, '')})" for cell in unsafe]
    print("\n".join([*lines[:SHOWN], *([f"- and {len(lines) - SHOWN} more"] if lines[SHOWN:] else [])]))
    if found.get("suppress"):
        print(f"\nSuppress as well ({found['suppress_is']}):\n\n" + "\n".join(f"- {cell}" for cell in found["suppress"]))


def in_repository(name: str) -> str:
    """A file as GitHub finds it, from the root of the repository; the answer names it from the folder that was read."""
    for word in shlex.split(os.environ["TABLES"]):
        for folder in (Path(word), *Path(word).parents):
            if (folder / name).is_file():
                return (folder / name).as_posix()
    return name


def escape(text: str) -> str:
    """GitHub's way to write a line break and a per cent sign in a command of one line."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


if __name__ == "__main__":
    annotate(Path(sys.argv[1]), Path(sys.argv[2]))
