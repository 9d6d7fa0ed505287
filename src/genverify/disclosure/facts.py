"""Facts beside counts: limits, percentages, means and medians in words, as rows of the system."""

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import gcd

from genverify.core.errors import ConfigError
from genverify.core.sums import CEILING, Row
from genverify.disclosure.linked import name_of
from genverify.disclosure.readers.model import MOST_DIGITS

FORMS = (
    "'age=0-4, sex=f >= 3' (also <=, <, >, =), 'percent sex=f of everyone = 12.5', 'mean children of everyone = "
    "1.4 over 0, 1, 2, 3', 'median children of sex=f = 1 over 0, 1, 2, 3'; numbers are rounded "
    "to the decimals that are written"
)
COMPARED = re.compile(r"(.+?)\s*(<=|>=|<|>|=)\s*(\d+)")
PERCENT = re.compile(r"percent\s+(.+?)\s+of\s+(.+?)\s*=\s*(\d+(?:\.\d+)?)\s*%?", re.IGNORECASE)
MIDDLE = re.compile(r"(mean|median)\s+(.+?)\s+of\s+(.+?)\s*=\s*(-?\d+(?:\.\d+)?)\s*(?:over\s+(.+))?", re.IGNORECASE)
FAR = 10**15
LONGEST = 10_000  # characters of a fact


def read_facts(texts: Sequence[str]) -> list[Row]:
    """The rows of facts; an error names the one that cannot be read."""
    for text in texts:
        if len(text) > LONGEST or re.search(rf"\d{{{MOST_DIGITS + 1}}}", text):
            raise ConfigError(
                f"the fact {text[:50]!r}... is longer than {LONGEST} characters, or has more than {MOST_DIGITS} digits"
            )
    return [row for text in texts for row in _rows(text.strip())]


def _rows(text: str) -> Iterator[Row]:
    if found := PERCENT.fullmatch(text):
        yield from _percent(text, cell(found[1]), cell(found[2]), found[3])
    elif found := MIDDLE.fullmatch(text):
        yield from _middle(text, found)
    elif found := COMPARED.fullmatch(text):
        yield _compared(text, cell(found[1]), found[2], int(found[3]))
    else:
        raise ConfigError(f"the fact {text!r} cannot be read; write it like {FORMS}")


def cell(text: str) -> str:
    """
    The name of a cell from columns and labels in any order.

    >>> cell("sex=f, age=0-4"), cell("everyone")
    ('age=0-4, sex=f', 'everyone')
    """
    if text.strip().lower() in ("everyone", "all", "total"):
        return name_of(())
    parts = []
    for part in text.split(","):
        column, equals, label = part.partition("=")
        if not equals:
            raise ConfigError(f"{text!r}: write a cell as column=label, column=label, or everyone")
        parts.append((column.strip(), label.strip()))
    return name_of(tuple(sorted(parts)))


def _compared(text: str, name: str, sign: str, number: int) -> Row:
    least = {">=": number, ">": number + 1, "=": number}.get(sign, 0)
    most = {"<=": number, "<": number - 1, "=": number}.get(sign, CEILING)
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
        yield f"fact: {text} ({side})", whole_weights, *((0, FAR) if side == "at least" else (-FAR, 0))


def _middle(text: str, found: re.Match[str]) -> Iterator[Row]:
    """A mean or a median of a column whose labels are numbers; `over 1, 2, 3` lists them."""
    kind, column, whole, number, listed = found[1].lower(), found[2], found[3], found[4], found[5]
    if not listed:
        raise ConfigError(f"{text!r}: list the labels of {column}, which must be numbers, at the end: over 0, 1, 2, 3")
    inside = [] if cell(whole) == name_of(()) else [whole]
    cells = {}
    for label in listed.split(","):
        try:
            cells[cell(", ".join([*inside, f"{column}={label.strip()}"]))] = Fraction(label.strip())
        except ValueError:
            raise ConfigError(f"{text!r}: the label {label.strip()!r} of {column} is no number") from None
    if kind == "mean":
        yield from between(text, cells, cell(whole), *rounded(number))
        return
    for side, chosen in (
        ("at most", [name for name, value in cells.items() if value <= Fraction(number)]),
        ("at least", [name for name, value in cells.items() if value >= Fraction(number)]),
    ):
        weights = dict.fromkeys(chosen, 2)
        yield f"fact: {text} (half are {side} it)", {**weights, cell(whole): weights.get(cell(whole), 0) - 1}, 0, FAR
