"""What the printed texts say of counts: numbers by the rule of the publisher, marks by what they are said to mean."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from genverify.core.errors import ConfigError, DataError, nearest
from genverify.disclosure.readers.model import LIMIT, MOST_DIGITS, Entry, PrintedTable, number_of
from genverify.protect.publishing import Publishing

BLANK = "blank"
SUPPRESSED, MISSING = "suppressed", "missing"
RULES = {"round": "nearest", "random": "random", "random-nonzero": "random_nonzero", "midpoint": "midpoint", "key": "stated"}
EXACT = "exact"
BASES = (3, 5, 10, 100)  # what counts are rounded to; multiples of 1,000 may be a unit
SURE = 12  # counts that are all multiples of 3 by chance: twice in a million
MEANINGS = "suppressed (any count), missing (not told), 0, a range such as 1-4, or a limit such as <5 or >=3"


@dataclass(frozen=True)
class Value:
    """What a text says of a count: lo to hi (None: no upper end), and whether the count itself was withheld."""

    lo: int
    hi: int | None
    hidden: bool


def read_rule(words: Sequence[str]) -> Publishing:
    """
    How numbers were treated before they were printed.

    >>> read_rule(["random=3"])
    Publishing(suppress=0, zeros=True, rounding='random', base=3)
    """
    suppress, rounding, base = 0, "none", 1
    for word in (word for word in words if word != EXACT):
        name, _, number = word.partition("=")
        if (
            not number.isdecimal()
            or len(number) > MOST_DIGITS
            or int(number) < 1
            or (name != "suppress" and name not in RULES)
        ):
            raise ConfigError(
                f"--rule {word[:60]}: give one of exact, suppress=5, {', '.join(f'{rule}=3' for rule in RULES)}"
            )
        if name == "suppress":
            suppress = int(number)
        else:
            rounding, base = RULES[name], int(number)
    return Publishing(suppress=suppress, rounding=rounding, base=base)


def meaning_of(text: str, where: str) -> Value:
    """What is said of a mark."""
    word = text.strip().lower()
    if sum(map(str.isdigit, word)) > 2 * MOST_DIGITS or re.search(rf"\d{{{MOST_DIGITS + 1}}}", word):
        raise ConfigError(f"{where}: {text[:20]!r}... has more than {MOST_DIGITS} digits, too many for a count")
    if word in (SUPPRESSED, MISSING):
        return Value(0, None, word == SUPPRESSED)
    if word.isdecimal():
        return Value(int(word), int(word), False)
    if found := re.fullmatch(r"(\d+)\s*(?:-|to)\s*(\d+)", word):
        if int(found[1]) > int(found[2]):
            raise ConfigError(f"{where}: {text!r} begins above its end; write the smaller number first")
        return Value(int(found[1]), int(found[2]), True)
    if found := LIMIT.fullmatch(word):
        return limit_value(found[1], int(found[2]))
    raise ConfigError(f"{where}: {text[:60]!r} is no meaning of a mark: {MEANINGS}")


def limit_value(sign: str, number: int) -> Value:
    """
    >>> limit_value("<", 5), limit_value(">=", 3)
    (Value(lo=0, hi=4, hidden=True), Value(lo=3, hi=None, hidden=True))
    """
    sign = sign.lower()
    if sign in ("<", "less than", "fewer than", "under"):
        return Value(0, max(number - 1, 0), True)
    if sign in ("<=", "\u2264"):
        return Value(0, number, True)
    return Value(number + 1 if sign in (">", "more than") else number, None, True)


def marks_in(tables: Sequence[PrintedTable]) -> Counter[str]:
    """Texts among the counts that are no numbers, and how often each occurs."""
    texts = (entry.text.strip() for table in tables for entry in table.entries.values())
    return Counter(text for text in texts if number_of(text) is None)


def complete_marks(
    tables: Sequence[PrintedTable], given: Mapping[str, Value], ask: Callable[[str], str] | None = None
) -> tuple[dict[str, Value], dict[str, str]]:
    """
    What every mark in the tables means, and how that is known: told, or said by the mark itself (<5); the rest is asked for,
    or is an error: it is never guessed.
    """
    found = marks_in(tables)
    meanings, how, unknown = dict[str, Value](), dict[str, str](), list[str]()
    for mark in found:
        if mark in given:
            meanings[mark], how[mark] = given[mark], "as told"
        elif limit := LIMIT.fullmatch(mark):
            meanings[mark], how[mark] = limit_value(limit[1], int(limit[2])), "as it says"
        elif ask is not None:
            meanings[mark] = meaning_of(
                ask(f"What does {shown(mark)} mean ({found[mark]} times)? {MEANINGS}: "), shown(mark)
            )
            how[mark] = "as answered"
        else:
            unknown.append(mark)
    if unknown:
        _refuse_unknown(tables, unknown, found)
    for mark in given:
        if mark not in found and not any(s.entry.text.strip() == mark for table in tables for s in table.shares):
            raise ConfigError(
                f"--mark {shown(mark)}: no count is printed so; check how it is written, or whether it was read as a label "
                f"or a header ({nearest(shown(mark), [shown(own) for own in found]) if found else 'all counts are numbers'})"
            )
    return meanings, how


def _refuse_unknown(tables: Sequence[PrintedTable], unknown: Sequence[str], found: Counter[str]) -> None:
    listed = ", ".join(f"{shown(mark)} ({found[mark]} times)" for mark in unknown)
    first = next(e for t in tables for e in t.entries.values() if e.text.strip() == unknown[0])
    words = " ".join(f"--mark '{mark or BLANK}=suppressed'" for mark in unknown)
    raise DataError(
        f"{first.place}: what do these marks mean: {listed}? Say it, for instance {words}. A mark means {MEANINGS}."
    )


def refuse_rounded(tables: Sequence[PrintedTable], rule: Sequence[str]) -> None:
    """An error where all counts are multiples of a base of rounding, and nobody said whether they were rounded."""
    if rule:
        return
    for table in tables:
        known = {number for entry in table.entries.values() if (number := number_of(entry.text))}
        if len(known) >= SURE and (base := gcd(*known)) in BASES:
            raise DataError(
                f"{table.source}: table {table.name}: all its counts are multiples of {base}: were they rounded? Say --rule "
                f"round={base} (or random={base}), or --rule {EXACT} if they were not"
            )


def shown(mark: str) -> str:
    return mark or BLANK


def value_of(entry: Entry, marks: Mapping[str, Value], rule: Publishing) -> Value:
    """What a cell's text says of its count."""
    text = entry.text.strip()
    number = number_of(text)
    if number is None:
        return marks[text]
    if number < 0:
        raise DataError(f"{entry.place}: the count {text!r} is negative; counts are whole numbers from 0")
    values = np.array([number])
    if not rule.possible(values)[0]:
        raise DataError(f"{entry.place}: {text} cannot come from rounding to base {rule.base}; check --rule, or the number")
    try:
        lo, hi = rule.known(values)
    except DataError as error:
        raise DataError(f"{entry.place}: {error}") from None
    return Value(int(lo[0]), int(hi[0]), False)
