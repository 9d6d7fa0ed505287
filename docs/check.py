"""Spelling and readability of every text that a reader of the site or a page sees; `make site` runs it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs", "config", "page/src", "r/man", "examples"]
TEXTS += [
    "src/genverify/explorer/page",
    "src/genverify/disclosure/report.html.j2",
    "src/genverify/report/templates",
    "workflow",
]
LEFT_OUT = "docs/paper/*,docs/reference/*,docs/modules.md,*.png,*.csv,*.xlsx,page/src/reader/*"  # data, or made from code
# words between two stops (colons too), on average: plain prose has 15 to 20; one in twenty may have more than twice as many
MOST, LONG, SHARE = 18.0, 40, 0.05


def prose(text: str) -> Iterator[str]:
    """The sentences of a page of Markdown, without code, tables, titles and the targets of links."""
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)
    lines = (line for line in text.splitlines() if not re.match(r"    |\||#|\s*[*!]*\[?!\[", line))
    text = re.sub(r"\]\([^)]*\)|[*_\[\]]|<[^>]+>", "", "\n".join(lines))
    text = re.sub(r"`[^`]*`", "code", text)
    for part in re.split(r"\n\s*\n|\n\s*- |(?<=[.!?:;])\s+", text):
        if len(words := part.split()) > 2:
            yield " ".join(words)


def hard_to_read(name: str, text: str) -> Iterator[str]:
    """What makes a page hard to read: sentences that are long on average, or too many that are very long."""
    lengths = [len(sentence.split()) for sentence in prose(text)]
    if not lengths:
        return
    mean, long = sum(lengths) / len(lengths), sum(length > LONG for length in lengths)
    if mean > MOST or long > max(1, SHARE * len(lengths)):
        yield f"{name}: {mean:.1f} words a sentence, {long} of {len(lengths)} have more than {LONG}; write shorter ones"


def main() -> int:
    own = ROOT / "docs" / "spelling.txt"  # words that are right although the dictionary calls them mistakes
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words", str(own), "--skip", LEFT_OUT, *TEXTS]
    spelling = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/tutorials").glob("*.md")]
    hard = [line for page in sorted(pages) for line in hard_to_read(str(page.relative_to(ROOT)), page.read_text("utf-8"))]
    print(spelling.stdout + spelling.stderr + "".join(f"{line}\n" for line in hard), end="")
    print(f"{len(pages)} pages: spelling {'wrong' if spelling.returncode else 'right'}, {len(hard)} hard to read")
    return 1 if spelling.returncode or hard else 0


if __name__ == "__main__":
    sys.exit(main())
