"""Facts beside counts: limits, percentages, means and medians in words, as rows of the system."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import gcd

from genverify.core.errors import ConfigError, nearest
from genverify.core.sums import OPEN, Row
from genverify.disclosure.linked import Column, Key, name_of, quoted
from genverify.disclosure.readers.model import MOST_DIGITS

FORMS = (
    "'age=0-4, sex=f >= 3' (also <=, <, >, =), 'percent sex=f of everyone = 12.5', 'mean children of everyone = "
    "1.4 over 0, 1, 2, 3', 'median children of sex=f = 1 over 0, 1, 2, 3'; numbers are rounded "
    "to the decimals that are written"
)
COMPARED = re.compile(r"(.+?)\s*(<=|>=|<|>|=)\s*(\d+)")
PERCENT = re.compile(r"percent\s+(.+\s+of\s+.+?)\s*=\s*(\d+(?:\.\d+)?)\s*%?", re.IGNORECASE)
MIDDLE = re.compile(r"(mean|median)\s+(.+?)\s+of\s+(.+?)\s*=\s*(-?\d+(?:\.\d+)?)\s*(?:over\s+(.+))?", re.IGNORECASE)
LONGEST = 10_000  # characters of a fact


def read_facts(texts: Sequence[str], columns: Mapping[str, Column]) -> list[Row]:
    """The rows of facts about these columns and their labels; an error names the one that cannot be read."""
    check_facts(texts)
    return [row for text in texts for row in _rows(text.strip(), columns)]


def check_facts(texts: Sequence[str]) -> None:
    """An error for a text that no table can make a fact."""
    for text in texts:
        if len(text) > LONGEST or re.search(rf"\d{{{MOST_DIGITS + 1}}}", text):
            raise ConfigError(
                f"the fact {text[:50]!r}... is longer than {LONGEST} characters, or has more than {MOST_DIGITS} digits"
            )
        if not any(form.fullmatch(text.strip()) for form in (PERCENT, MIDDLE, COMPARED)):
            raise ConfigError(f"the fact {text!r} cannot be read; write it like {FORMS}")


def _rows(text: str, columns: Mapping[str, Column]) -> Iterator[Row]:
    if found := PERCENT.fullmatch(text):
        part, whole = _two_cells(text, found[1], columns)
        yield from _percent(text, name_of(part), name_of(whole), found[2])
    elif found := MIDDLE.fullmatch(text):
        yield from _middle(text, found, columns)
    elif found := COMPARED.fullmatch(text):
        yield _compared(text, name_of(cell(found[1], columns)), found[2], int(found[3]))


def cell(text: str, columns: Mapping[str, Column]) -> Key:
    """
    The cell that columns and labels in any order name. Either may be quoted; where a text could name two cells, it must be.

    >>> from genverify.disclosure.readers.model import Hierarchy
    >>> own = {"sex": ("f",), "age": ("0-4", "5, 6")}
    >>> columns = {name: Column(name, labels, Hierarchy()) for name, labels in own.items()}
    >>> cell("sex=f, age=0-4", columns), cell("age=5, 6", columns), cell("everyone", columns)
    ((('age', '0-4'), ('sex', 'f')), (('age', '5, 6'),), ())
    """
    if text.strip().lower() in ("everyone", "all", "total"):
        return ()
    found = dict.fromkeys(tuple(sorted(own)) for own in _readings(text.strip(), columns))
    if len(found) > 1:
        names = " or ".join(name_of(key) for key in found)
        raise ConfigError(f"{text!r} may be {names}; put the label or the column that is meant in double quotes, as here")
    if not found:
        known = [f"{column}={label}" for column, own in columns.items() for label in own.labels]
        raise ConfigError(
            f"no table has a cell {text!r}; write column=label, column=label with labels that stand in one table, or "
            f"everyone. {nearest(text, known)}"
        )
    return next(iter(found))


def _readings(text: str, columns: Mapping[str, Column]) -> Iterator[list[tuple[str, str]]]:
    """Every way to read a text as columns with labels."""
    for column, rest in _starts(text, columns):
        if not rest.startswith("="):
            continue
        for label, more in _starts(rest[1:].lstrip(), columns[column].labels):
            if not more:
                yield [(column, label)]
            elif more.startswith(","):
                others = _readings(more[1:].lstrip(), columns)
                yield from ([(column, label), *own] for own in others if column not in dict(own))


def _starts(text: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names that a text begins with, as they are or quoted, and what follows."""
    for name in names:
        for written in {name, quoted(name), json.dumps(name, ensure_ascii=False)} - {""}:
            if text.startswith(written):
                yield name, text[len(written) :].lstrip()


def _two_cells(text: str, both: str, columns: Mapping[str, Column]) -> tuple[Key, Key]:
    """`sex=f of everyone`: the part and the whole; a label may have an `of` of its own."""
    found, error = dict[tuple[Key, Key], None](), None
    for split in re.finditer(r"\s+of\s+", both):
        try:
            found[cell(both[: split.start()], columns), cell(both[split.end() :], columns)] = None
        except ConfigError as wrong:
            error = error or wrong
    if len(found) > 1:
        raise ConfigError(f"the fact {text!r} can be read in two ways; put labels in double quotes")
    if not found:
        raise error or ConfigError(f"the fact {text!r} cannot be read; write it like {FORMS}")
    return next(iter(found))


def _compared(text: str, name: str, sign: str, number: int) -> Row:
    least = {">=": number, ">": number + 1, "=": number}.get(sign, 0)
    most = {"<=": number, "<": number - 1, "=": number}.get(sign, OPEN)
    return f"fact: {text}", {name: 1}, least, most


def rounded(text: str) -> tuple[Fraction, Fraction]:
    """
    The numbers that may have been rounded to a text, ends included.

    >>> rounded("12.5")
    (Fraction(249, 20), Fraction(251, 20))
    """
    decimals = len(text.partition(".")[2])
    half = Fraction(1, 2 * 10**decimals)
    return Fraction(text) - half, Fraction(text) + half


def _percent(text: str, part: str, whole: str, number: str) -> Iterator[Row]:
    """low/100 whole <= part <= high/100 whole, each side as a row of whole multiples."""
    low, high = rounded(number)
    if part == whole:
        raise ConfigError(f"{text!r}: a percentage of itself")
    yield from between(text, {part: Fraction(100)}, whole, max(low, Fraction(0)), high)


def between(text: str, weights: Mapping[str, Fraction], whole: str, low: Fraction, high: Fraction) -> Iterator[Row]:
    """low whole <= sum of weight times cell <= high whole."""
    for side, end in (("at least", low), ("at most", high)):
        held = dict(weights)
        held[whole] = held.get(whole, Fraction(0)) - end
        scale = 1
        for weight in held.values():
            scale = scale * weight.denominator // gcd(scale, weight.denominator)
        whole_weights = {name: int(weight * scale) for name, weight in held.items() if weight}
        yield f"fact: {text} ({side})", whole_weights, *((0, OPEN) if side == "at least" else (-OPEN, 0))


def _middle(text: str, found: re.Match[str], columns: Mapping[str, Column]) -> Iterator[Row]:
    """A mean or a median of a column whose labels are numbers; `over 1, 2, 3` lists them."""
    kind, column, number, listed = found[1].lower(), found[2], found[4], found[5]
    if not listed:
        raise ConfigError(f"{text!r}: list the labels of {column}, which must be numbers, at the end: over 0, 1, 2, 3")
    key = cell(found[3], columns)
    whole, cells = name_of(key), dict[str, Fraction]()
    for label in (own.strip() for own in listed.split(",")):
        try:
            cells[name_of(tuple(sorted([*key, (column, label)])))] = Fraction(label)
        except ValueError:
            raise ConfigError(f"{text!r}: the label {label!r} of {column} is no number") from None
    if kind == "mean":
        yield from between(text, cells, whole, *rounded(number))
        return
    for side, chosen in (
        ("at most", [name for name, value in cells.items() if value <= Fraction(number)]),
        ("at least", [name for name, value in cells.items() if value >= Fraction(number)]),
    ):
        weights = dict.fromkeys(chosen, 2)
        yield f"fact: {text} (half are {side} it)", {**weights, whole: weights.get(whole, 0) - 1}, 0, OPEN
