"""The header of an exported file, in words, and names that every format can hold."""

import re
from collections.abc import Iterable, Iterator

from genverify.core.files import ONE_WORD, file_name
from genverify.show.export.program import AT_LEAST, AT_MOST, NEVER, Program, Row

FORBIDDEN = re.compile(r"[^\w.:/+<>=-]+", re.ASCII)


def header(program: Program, how: Iterable[str]) -> Iterator[str]:
    """What the file shows, of what, and how to read it; a line each."""
    release, question = program.release, program.question
    yield f"Block {one_line(release.block)}, {release.n} records; release {release.digest}"
    yield from map(one_line, question.words)
    yield f"Goal: {_goal(program)}"
    yield from how
    yield "Rows: published cells that the proof names, each the sum over z of what a record of the kind adds"
    for row in program.rows.values():
        yield f"  {plain(row.name)}: {_range(row)} ({one_line(row.words)})"
    for key, row in program.parts.items():
        yield f"  {key}: a split into cases by the number of {one_line(row.words)}"
    yield "Kinds of records over the whole domain: z<k> counts the records of kind k, alike in every row"
    yield f"  one record of each, as codes of {' '.join(release.schema.domain.names)}, and how many different ones there are"
    for place, kind in enumerate(program.kinds):
        yield f"  z{place}: {' '.join(map(str, kind.example))} ({kind.size})"


def _goal(program: Program) -> str:
    """What is shown, as a relation between the z."""
    question = program.question
    if question.goal == NEVER:
        return "no numbers z fit the rows" + (f" with COUNT = {question.m}" if question.where else "")
    return f"COUNT {({AT_MOST: '<=', AT_LEAST: '>='})[question.goal]} {question.m} for all numbers z that fit the rows"


def _range(row: Row) -> str:
    return f"= {row.lo}" if row.lo == row.hi else f"{row.lo} to {row.hi}"


def one_line(text: str) -> str:
    """Text of anybody on one line, so that no part of it can be read as anything but a comment."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def plain(name: str) -> str:
    """
    A name without spaces and brackets.

    >>> plain("north area/by sex.f")
    'north_area/by_sex.f'
    """
    return FORBIDDEN.sub("_", name) or "_"


def block_folder(block: str) -> str:
    """The folder of a block's files: one word, since an index lists files with spaces between them."""
    return file_name(block, ONE_WORD)


def unique_names(rows: Iterable[tuple[str, Row]]) -> dict[str, str]:
    """A plain name for each row by its key, no two alike."""
    found: dict[str, str] = {}
    for key, row in rows:
        name, number = plain(row.name), 1
        while name in found.values():
            number += 1
            name = f"{plain(row.name)}_{number}"
        found[key] = name
    return found
