"""A document whose numbers are those of results: text in Typst, set as PDF or HTML. A number without a source stops it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from genverify.model.errors import DataError, needed

# what is no statement in numbers: comments, texts of code, calls that look a number up, names of sections, figures and years
_CALL = r"#(?:num|said|count|str)\((?:[^()]|\([^()]*\))*\)"
_LAYOUT = r"^#(?:set|import|show).*$|\b(?:width|digits|times|size): *[\d.]+(?:%|pt|cm)?|\d+fr\b"
_NAME = r"\b(?:Figures?|Tables?|Sections?|Propositions?|Appendix) [A-Z]?\.?\d[\d.]*(?:,? (?:and|to) [A-Z]?\.?\d[\d.]*)?"
_SYMBOL = r"\$[^$]*\$"  # a formula: its numbers are those of the method (k = 6 columns, m = 1)
_YEAR = r"\b(?:19|20)\d\d\b|SHA-256"
_SOURCED = re.compile("|".join([r"//.*$", _CALL, r'"[^"\n]*"', _LAYOUT, _NAME, _SYMBOL, _YEAR]), re.MULTILINE)


def unsourced(text: str) -> Iterator[tuple[int, str]]:
    """
    The lines of a text with a number that is written by hand, and that number.

    >>> list(unsourced('#num("proofs", "value", figure: "blocks") blocks\\nof 500 in Table 4, $k = 6$'))
    [(2, '500')]
    """
    rest = _SOURCED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for number, line in enumerate(rest.splitlines(), 1):
        for written in re.findall(r"\d[\d.,]*\d|\d", line):
            yield number, written


def set_document(source: Path, made: Path, root: Path, inputs: Mapping[str, str]) -> None:
    """Set the text as PDF or HTML, with the same bytes wherever it is made; `root` holds all files that it names."""
    for line, number in unsourced(source.read_text()):
        raise DataError(f"{source}, line {line}: the number {number} has no source. Look it up: #num(table, column, ...)")
    typst = needed("typst", "a document")
    try:
        typst.compile(str(source), output=str(made), root=str(root), format=made.suffix[1:], sys_inputs=dict(inputs))
    except typst.TypstError as error:
        raise DataError(f"{source}: {error}") from None
