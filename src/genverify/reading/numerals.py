"""Texts of cells: numbers as they are printed, by the decimal sign of their file, and symbols that stand for counts."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from genverify.model.errors import ConfigError
from genverify.model.files import read_yaml

# the kinds of text that a cell can hold, one letter each: they are compared millions of times
EMPTY, WHOLE, DECIMAL, PERCENT, LIMIT, RANGE, MIXED, SYMBOL, PERIOD, TEXT = "", "i", "d", "%", "<", "r", "m", "s", "t", "a"
NUMBERS = frozenset((WHOLE, DECIMAL, PERCENT))
VALUES = frozenset((WHOLE, DECIMAL, PERCENT, LIMIT, MIXED, SYMBOL))  # what can stand in the body of a table
Number = int | Decimal
LONGEST_NUMBER = 40  # characters: no count has more, and a longer one costs time

SPACES = "' \u00a0\u2009\u202f\u2019"
PLAIN = re.compile(r"[+\u2212-]?\d+")
FIGURE = rf"[+\u2212-]?(?:\d[\d.,{SPACES}]*)?\d"
NUMBERLIKE = re.compile(FIGURE)
POINTED = re.compile(r"[+\u2212-]?\.\d+")
PERCENTAGE = re.compile(rf"({FIGURE})\s*%")
CURRENCY = re.compile(rf"[\u00a3$\u20ac]\s*({FIGURE})|({FIGURE})\s*[\u00a3$\u20ac]")
LIMITED = re.compile(
    rf"(?i)(<=?|=<|\u2264|>=?|=>|\u2265|less than|fewer than|under|below|at least|more than|over|up to)\s*({FIGURE})\s*(%?)"
)
RANGED = re.compile(r"(\d+)\s*(?:-|\u2013|\u2014|to)\s*(\d+)(\s*%)?")
BOUNDED_MIX = re.compile(rf"({FIGURE})\s*%?\s*[(\[]\s*{FIGURE}\s*%?\s*(?:-|\u2013|to|,|;)\s*{FIGURE}\s*%?\s*[)\]]")
PAIRED_MIX = re.compile(rf"({FIGURE})\s*(%?)\s*[(\[]\s*(?:({FIGURE})\s*(%?)|NaN|NA|n/a|-)\s*[)\]]", re.IGNORECASE)
ROUGH_MIX = re.compile(rf"[~\u2248]\s*({FIGURE})\s*%?|({FIGURE})\s*(?:\*+|\u2020|\u2021|\[[a-z]{{1,4}}\]|\([a-z]\)| [a-z])")
DURATION = re.compile(r"\d{1,4}:\d{2}(:\d{2})?")
# what a text with a digit that is no number and no date can be: the first form that it has
FORMS = ((PERCENT, PERCENTAGE), (DECIMAL, CURRENCY), (LIMIT, LIMITED), (RANGE, RANGED),
         (MIXED, BOUNDED_MIX), (MIXED, PAIRED_MIX), (MIXED, ROUGH_MIX), (MIXED, DURATION))  # fmt: skip
BINARY_FRACTION = re.compile(r"[+-]?\d{1,15}[.,]\d{2,20}")
EXACT_DIGITS = 15  # significant digits of a decimal that every double holds: more can be an artefact of printing one
FEWER_DIGITS = 5  # of the shortest decimal with the same double: by chance one in 100,000 numbers has so many fewer


def displayed_decimal(text: str) -> str:
    """A number with more digits than a double holds as the shortest decimal with the same double; others as they are."""
    if len(text) <= EXACT_DIGITS or not BINARY_FRACTION.fullmatch(text):
        return text
    plain = text.replace(",", ".")
    shortest = Decimal(repr(float(plain)))
    digits, fewer = (len(number.as_tuple().digits) for number in (Decimal(plain), shortest))
    if digits < EXACT_DIGITS or fewer > digits - FEWER_DIGITS or Decimal(plain) == shortest:
        return text
    displayed = f"{shortest:f}"
    return displayed.replace(".", ",") if "," in text else displayed


@dataclass(frozen=True)
class Numerals:
    """The decimal sign and the signs between thousands of a file, and how they were decided."""

    decimal: str = "."
    thousands: str = ","
    why: str = "no number shows it; the usual signs are taken"
    unsure: bool = False

    def value(self, text: str) -> Number | None:
        """
        The exact value of a number as it is printed; None where the text is none by these signs.

        >>> Numerals().value("1,234"), Numerals().value("2.50"), Numerals(",", ".").value("1.234,5")
        (1234, Decimal('2.50'), Decimal('1234.5'))
        """
        if len(text) > LONGEST_NUMBER:
            return None
        if PLAIN.fullmatch(text):
            return int(text.replace("\u2212", "-"))
        if re.fullmatch(r"[+-]?\d+(\.\d+)?[eE][+-]?\d{1,3}", text):
            return Decimal(text)
        if not (NUMBERLIKE.fullmatch(text) or POINTED.fullmatch(text)):
            return None
        front, sign, end = text.replace("\u2212", "-").partition(self.decimal)
        groups = re.split(f"[{re.escape(self.thousands)}{SPACES}]", front.lstrip("+-"))
        if (sign and not end.isdigit()) or not all(group.isdigit() for group in groups if group or len(groups) > 1):
            return None
        if len(groups) > 1 and (any(len(group) != 3 for group in groups[1:]) or len(groups[0]) > 3):
            return None
        plain = ("-" if front.startswith("-") else "") + ("".join(groups) or "0")
        if not sign:
            return int(plain)
        number = Decimal(f"{plain}.{end}")
        return int(number) if not end.strip("0") and len(end) == 1 else number


def decide_numerals(texts: Iterable[str]) -> Numerals:
    """The signs of a file, from all its numbers together."""
    shows, plain = Counter[tuple[str, str]](), False  # texts by a sign, and the decimal sign that it shows, "" for either
    for text in texts:
        plain = plain or (3 < len(text) <= LONGEST_NUMBER and text.isdecimal() and not 1800 <= int(text) <= 2100)
        if len(text) > LONGEST_NUMBER or ("." not in text and "," not in text):
            continue
        text = text.strip("%\u00a3$\u20ac~ ")
        if not NUMBERLIKE.fullmatch(text) or pattern("date").fullmatch(text):
            continue
        for sign, other in ((".", ","), (",", ".")):
            head, held, tail = text.rpartition(sign)
            once = text.count(sign) == 1
            if other not in tail and (other in head or (once and (len(tail) != 3 or re.fullmatch(r"[+-]?0?", head)))):
                shows[sign, sign] += bool(held)
            else:
                shows[sign, "" if once and other not in tail else other] += bool(held)
    point, comma = (shows[sign, sign] + shows[other, sign] for sign, other in ((".", ","), (",", ".")))
    if point or comma:
        clash = min(point, comma)
        why = f"{max(point, comma):,} numbers show it"
        why += f"; {clash:,} are printed another way and are left out" if clash else ""
        sign, other = (".", ",") if point >= comma else (",", ".")
        unsure = shows[sign, sign] <= shows[sign, ""] and not clash  # as many such as 2,000 as show it
        return Numerals(sign, other, why, unsure and shows[sign, ""] > 0)
    points, commas = shows[".", ""], shows[",", ""]
    if points and plain:  # only numbers such as 2.000: a decimal sign where others have four digits and no sign
        return Numerals(".", ",", "numbers of four digits have no thousands separator")
    if points:
        return Numerals(",", ".", f"{points:,} numbers such as 2.000 are read as thousands", unsure=True)
    return Numerals(why=f"{commas:,} numbers such as 1,234 are read as thousands") if commas else Numerals()


def parsed(text: str, numerals: Numerals) -> tuple[str, Number | None]:
    """
    The kind of a cell's text, without the symbols of the file (SYMBOL is decided by their vocabulary), and its number:
    without a percent or currency sign; of a mixed cell the first (before an interval, or beside a sign of doubt).

    >>> [parsed(text, Numerals())[0] for text in ("7", "2.5", "40%", "<5", "0-17", "25 (24-27)", "2020-03-01", "North")]
    ['i', 'd', '%', '<', 'r', 'm', 't', 'a']
    >>> [parsed(text, Numerals())[1] for text in ("17,110 (5)", "25 (24-27)", "~15.0", "7:30")]
    [17110, 25, 15, None]
    """
    if not text:
        return EMPTY, None
    if text.isdecimal() and len(text) > LONGEST_NUMBER:  # longer than any count: it stands among them and cannot be one
        return MIXED, None
    if len(text) > 60 or not (any(letter.isdigit() for letter in text) or pattern("date").fullmatch(text)):
        return TEXT, None
    number = numerals.value(text)
    if number is not None:
        return WHOLE if isinstance(number, int) else DECIMAL, number
    if pattern("date").fullmatch(text):
        return PERIOD, None
    for kind, form in FORMS:
        if match := form.fullmatch(text):
            held = next((group for group in match.groups() if group), "") if kind in (PERCENT, DECIMAL, MIXED) else ""
            number = numerals.value(held) if held else None
            return (TEXT if kind in (PERCENT, DECIMAL) and number is None else kind), number
    return TEXT, None


def is_period(text: str) -> bool:
    """Whether a text is a year or another time."""
    return bool(re.fullmatch(r"(18|19|20)\d\d", text) or (text and pattern("date").fullmatch(text)))


# what a symbol can mean; the first word of a meaning is one of these
MEANINGS = SUPPRESSED, MISSING, NOT_APPLICABLE, ZERO, SMALL, BETWEEN, ANNOTATION = (
    "suppressed", "missing", "not applicable", "zero", "rounds to zero", "between", "annotation",
)  # fmt: skip
MOST_DIGITS = 16  # more than a count may have that can be computed with; what is larger is no number to be read at all
# texts that are no word of a language: signs alone, or one to four letters in brackets
SIGNS = re.compile(r"[*\u2020\u2021#^~:.\u2026/\u2010-\u2015\u2212\u00d7-]{1,6}|[\[({<][A-Za-z*.:-]{1,4}[\])}>]|\.\.[A-Z]")
# a text that is a symbol wherever it stands, also where a label could stand
SURE_SYMBOL = re.compile(
    rf"(?i){SIGNS.pattern}|[\[(]?(?:conf|supp?|suppressed|confidential|redacted|masked|hidden|withheld|"
    r"not (?:shown|disclosed|available))[\])]?"
)
LINK = r"\s*[\"')\]]?\s*(?:=|:|\u2013|-|denotes?|refers? to|means?|indicates?|represents?|stands? for|\s{2,})\s*"


@cache
def _words() -> dict[str, Any]:
    return read_yaml(Path(__file__).with_name("words.yaml"))


@cache
def pattern(name: str) -> re.Pattern[str]:
    """What publishers write in headers, labels and notes, by its name in words.yaml."""
    return re.compile("|".join(_words()["patterns"][name]), re.IGNORECASE)


def says(name: str, text: str) -> bool:
    """Whether some part of a text is what publishers write so."""
    return bool(pattern(name).search(text))


@cache
def _vocabulary() -> tuple[dict[str, str], dict[str, str]]:
    """The usual meaning of each symbol as it is written; and of words, whatever their case."""
    plain = {text: meaning for meaning, texts in _words()["symbols"].items() for text in "|".join(texts).split("|")}
    return plain, {text.casefold(): meaning for text, meaning in plain.items() if sum(map(str.isalpha, text)) > 2}


def _usual(text: str) -> str:
    plain, folded = _vocabulary()
    return plain.get(text) or folded.get(text.casefold(), "")


@dataclass(frozen=True)
class Symbol:
    """What a text means that stands for a number: in one of our words, as it is printed, and how that is known."""

    text: str
    meaning: str
    said: str = ""
    how: str = "suggested"

    @property
    def limits(self) -> tuple[int, int | None] | None:
        """The ends that the symbol prints itself, as `<5` or `0-2`; None where it prints none."""
        if self.meaning.startswith(BETWEEN):
            ends = [int(end) for end in re.findall(r"\d+", self.meaning)]
            return (ends[0], ends[1]) if len(ends) == 2 else (ends[0], None) if ends else None
        return (0, 0) if self.meaning == ZERO else None


def is_symbol(text: str) -> bool:
    """Whether a text stands in the vocabulary, or looks like a sign rather than a word."""
    return bool(_usual(text) or SIGNS.fullmatch(text))


def usual_meaning(text: str) -> Symbol:
    """What a text in place of a number usually means; suggested, for the user to confirm."""
    if result := LIMITED.fullmatch(text):
        sign, end = result[1].lower(), re.sub(r"\D", "", result[2])
        if "." in result[2] or ("," in result[2] and len(result[2].split(",")[-1]) != 3) or len(end) > 15:
            return Symbol(text, SUPPRESSED, how="printed as a limit that is not a whole number")
        down = sign[0] in "<\u2264lfub" or sign == "=<"
        equal = "=" in sign or sign in ("\u2264", "\u2265", "at least", "up to")
        lo, hi = ("0", str(int(end) - (not equal))) if down else (str(int(end) + (not equal)), "")
        return Symbol(text, f"{BETWEEN} {lo} and {hi}".strip(), how="printed as a limit")
    if result := RANGED.fullmatch(text):
        return Symbol(text, f"{BETWEEN} {result[1]} and {result[2]}", how="printed as a range")
    if meaning := _usual(text):
        return Symbol(text, meaning)
    return Symbol(text, SUPPRESSED, how="not in the vocabulary: suggested as the most cautious")


def meaning_of_words(words: str) -> str:
    """One of our words for what a legend says."""
    for meaning, said in _words()["legends"]:
        if result := re.search(said, words, re.IGNORECASE):
            if meaning:
                return str(meaning)
            return SMALL if "half" in result[0].lower() else SUPPRESSED
    return ""


def find_legend(symbol: str, notes: Iterable[tuple[str, str]]) -> Symbol | None:
    """What the notes of a file say about a symbol; `notes` are places and texts. None where they say nothing."""
    name = re.escape(symbol)
    bare = symbol.isalnum()
    edge = r"(?:^|[\s\"'(,;:])" if bare else r"(?:^|[^*.\w-])"
    linked = re.compile(f"{edge}{name}{LINK}(?P<said>[^;\\n]+)")
    first = re.compile(rf"[\"'(]?{name}[\"')]?(?:\s+|,\s*)(?P<said>\S.+)", re.DOTALL)
    result: Symbol | None = None
    for place, text in notes:
        if symbol not in text:
            continue
        for match in ([] if bare else [first.match(text)]) + [linked.search(text)]:
            if match and (meaning := meaning_of_words(match["said"])):
                said = " ".join(match["said"].split()).strip(" .)\"'")
                if not result or result.meaning == ANNOTATION:
                    result = Symbol(symbol, meaning, said[:160], f"legend at {place}")
    return result


def told_symbol(text: str, word: str) -> Symbol:
    """What a user says that a symbol means: one of our words, a number, or two ends."""
    word = word.strip()
    if re.search(rf"\d{{{MOST_DIGITS + 1}}}", word):
        raise ConfigError(f"--symbol {text}: {word[:20]}... has more than {MOST_DIGITS} digits, too many for a count")
    if (ends := RANGED.fullmatch(word)) and int(ends[1]) > int(ends[2]):
        raise ConfigError(f"--symbol {text}: {word!r} begins above its end; write the smaller number first")
    if word in (*MEANINGS, "0"):
        return Symbol(text, ZERO if word == "0" else word, how="as given")
    word = f"{word}-{word}" if word.isdigit() else word
    if RANGED.fullmatch(word) or LIMITED.fullmatch(word) or re.fullmatch(r">=\d+|between \d+ and( \d+)?", word):
        return Symbol(text, word if word.startswith(BETWEEN) else usual_meaning(word).meaning, how="as given")
    words = "suppressed, missing, 'not applicable', zero, a range such as 1-4, or <5"
    raise ConfigError(f"--symbol {text}={word}: not a meaning; give {words}")
