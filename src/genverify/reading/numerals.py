"""Numbers as they are printed: which sign is the decimal one, what kind of text a cell holds, and its exact value."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

# the kinds of text that a cell can hold, one letter each: they are compared millions of times
EMPTY, WHOLE, DECIMAL, PERCENT, LIMIT, RANGE, MIXED, SYMBOL, PERIOD, TEXT = "", "i", "d", "%", "<", "r", "m", "s", "t", "a"
NUMBERS = frozenset((WHOLE, DECIMAL, PERCENT))
VALUES = frozenset((WHOLE, DECIMAL, PERCENT, LIMIT, MIXED, SYMBOL))  # what can stand in the body of a table
LONGEST_NUMBER = 40  # characters: no count has more, and a longer one costs time

SPACES = "' \u00a0\u2009\u202f\u2019"
PLAIN = re.compile(r"[+\u2212-]?\d+")
FIGURE = rf"[+\u2212-]?(?:\d[\d.,{SPACES}]*)?\d"
NUMBERLIKE = re.compile(FIGURE)
POINTED = re.compile(r"[+\u2212-]?\.\d+")
PERCENTAGE = re.compile(rf"({FIGURE})\s*%")
CURRENCY = re.compile(rf"[\u00a3$\u20ac]\s*({FIGURE})|({FIGURE})\s*[\u00a3$\u20ac]")
LIMITED = re.compile(
    rf"(<|<=|=<|\u2264|>|>=|=>|\u2265|less than|fewer than|under|below|at least|more than|over|up to)\s*({FIGURE})\s*(%?)",
    re.IGNORECASE,
)
RANGED = re.compile(r"(\d+)\s*(?:-|\u2013|\u2014|to)\s*(\d+)(\s*%)?")
BOUNDED_MIX = re.compile(rf"({FIGURE})\s*%?\s*[(\[]\s*{FIGURE}\s*%?\s*(?:-|\u2013|to|,|;)\s*{FIGURE}\s*%?\s*[)\]]")
PAIRED_MIX = re.compile(rf"({FIGURE})\s*(%?)\s*[(\[]\s*(?:({FIGURE})\s*(%?)|NaN|NA|n/a|-)\s*[)\]]", re.IGNORECASE)
ROUGH_MIX = re.compile(rf"[~\u2248]\s*({FIGURE})\s*%?|({FIGURE})\s*(?:\*+|\u2020|\u2021|\[[a-z]{{1,4}}\]|\([a-z]\)| [a-z])")
DURATION = re.compile(r"\d{1,4}:\d{2}(:\d{2})?")
DATES = re.compile(
    r"\d{4}-\d{2}(-\d{2})?([ T]\d{2}:\d{2}(:\d{2})?)?|\d{1,2}[/.]\d{1,2}[/.](\d{4}|\d{2})"
    r"|(19|20)\d\d\s*[-/\u2013]\s*(\d{2}|(19|20)\d{2})"
    r"|(19|20)\d\d\s*[-:]?\s*[QMHWT]\d{1,2}|[QMHW]\d{1,2}[ -]?(19|20)\d\d"
    r"|((19|20)\d\d[ -]?)?(jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*\.?"
    r"([ -]?\d{1,2},?)?([ -]?((19|20)\d\d|\d\d))?"
    r"|\d{1,2}[ -](jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ -](19|20)?\d\d",
    re.IGNORECASE,
)


BINARY_FRACTION = re.compile(r"[+-]?\d{1,15}[.,]\d{2,20}")
EXACT_DIGITS = 15  # significant digits of a decimal that every double holds: more can be an artefact of printing one
FEWER_DIGITS = 5  # of the shortest decimal with the same double: by chance one in 100,000 numbers has so many fewer


def displayed_decimal(text: str) -> str:
    """
    A number that was printed with more digits than a double holds, as the shortest decimal that gives the same double.
    Any other text, a number with digits of its own too, stays as it is.

    >>> displayed_decimal("1.2999999999999998"), displayed_decimal("0,10000000000000001"), displayed_decimal("1.25")
    ('1.2999999999999998', '0,1', '1.25')
    """
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

    def value(self, text: str) -> int | Decimal | None:
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
    """
    The signs of a file, from all its numbers together.

    >>> decide_numerals(["1.234,5", "7"]).decimal, decide_numerals(["1,234", "3.5"]).decimal
    (',', '.')
    >>> decide_numerals(["2.000", "1.500"]).unsure, decide_numerals(["2.000", "1500"]).decimal
    (True, '.')
    """
    votes = {".": 0, ",": 0}  # how many texts show that the sign is the decimal one
    apart = {".": 0, ",": 0}  # how many show that it stands between thousands
    open_ = {".": 0, ",": 0}  # how many could be either
    plain = False
    for text in texts:
        plain = plain or (3 < len(text) <= LONGEST_NUMBER and text.isdigit() and not 1800 <= int(text) <= 2100)
        if len(text) > LONGEST_NUMBER or ("." not in text and "," not in text):
            continue
        text = text.strip("%\u00a3$\u20ac~ ")
        if not NUMBERLIKE.fullmatch(text) or DATES.fullmatch(text):
            continue
        for sign, other in ((".", ","), (",", ".")):
            if sign not in text:
                continue
            head, _, tail = text.rpartition(sign)
            if other in tail:
                apart[sign] += 1
            elif other in head or (text.count(sign) == 1 and (len(tail) != 3 or re.fullmatch(r"[+-]?0?", head))):
                votes[sign] += 1
            elif text.count(sign) > 1:
                apart[sign] += 1
            else:
                open_[sign] += 1
    if votes["."] + apart[","] or votes[","] + apart["."]:
        point = votes["."] + apart[","] >= votes[","] + apart["."]
        clash = min(votes["."] + apart[","], votes[","] + apart["."])
        why = f"{max(votes['.'] + apart[','], votes[','] + apart['.']):,} numbers show it"
        why += f"; {clash:,} are printed another way and are left out" if clash else ""
        sign, other = (".", ",") if point else (",", ".")
        unsure = votes[sign] <= open_[sign] and not clash  # as many such as 2,000 as show that it is the decimal sign
        return Numerals(sign, other, why, unsure and open_[sign] > 0)
    if open_["."]:  # only numbers such as 2.000: a decimal sign where others have four digits and no sign
        if plain:
            return Numerals(".", ",", "numbers of four digits stand without a sign between thousands")
        return Numerals(",", ".", f"{open_['.']:,} numbers such as 2.000 are read as thousands", unsure=True)
    return Numerals(why=f"{open_[',']:,} numbers such as 1,234 are read as thousands") if open_[","] else Numerals()


def kind_of(text: str, numerals: Numerals) -> str:
    """
    The kind of a cell's text, without the symbols of the file (SYMBOL is decided by their vocabulary).

    >>> [kind_of(text, Numerals()) for text in ("7", "2.5", "40%", "<5", "0-17", "25 (24-27)", "2020-03-01", "North")]
    ['i', 'd', '%', '<', 'r', 'm', 't', 'a']
    """
    if not text:
        return EMPTY
    if PLAIN.fullmatch(text) and len(text) <= LONGEST_NUMBER:
        return WHOLE
    if text.isdecimal():  # longer than any count: it stands among them and cannot be one
        return MIXED
    if len(text) > 60:
        return TEXT
    if not any(letter.isdigit() for letter in text) and not DATES.fullmatch(text):
        return TEXT
    number = numerals.value(text)
    if number is not None:
        return WHOLE if isinstance(number, int) else DECIMAL
    if DATES.fullmatch(text):
        return PERIOD
    if (found := PERCENTAGE.fullmatch(text)) and numerals.value(found[1]) is not None:
        return PERCENT
    if found := CURRENCY.fullmatch(text):
        return DECIMAL if numerals.value(found[1] or found[2]) is not None else TEXT
    if LIMITED.fullmatch(text):
        return LIMIT
    if RANGED.fullmatch(text):
        return RANGE
    if BOUNDED_MIX.fullmatch(text) or PAIRED_MIX.fullmatch(text) or ROUGH_MIX.fullmatch(text) or DURATION.fullmatch(text):
        return MIXED
    return TEXT


def number_of(text: str, numerals: Numerals) -> int | Decimal | None:
    """The number of a cell: itself, without its percent or currency sign."""
    if (value := numerals.value(text)) is not None:
        return value
    if found := PERCENTAGE.fullmatch(text):
        return numerals.value(found[1])
    if found := CURRENCY.fullmatch(text):
        return numerals.value(found[1] or found[2])
    return None


def split(text: str, numerals: Numerals) -> tuple[int | Decimal | None, int | Decimal | None, str]:
    """
    A mixed cell: its first number, the one in parentheses, and how it was split.

    >>> split("17,110 (5)", Numerals())[:2], split("25 (24-27)", Numerals())[2], split("~15.0", Numerals())[2]
    ((17110, 5), 'a number with an interval', 'a number with a sign of doubt')
    """
    if found := BOUNDED_MIX.fullmatch(text):
        return numerals.value(found[1]), None, "a number with an interval"
    if found := PAIRED_MIX.fullmatch(text):
        second = numerals.value(found[3]) if found[3] else None
        return numerals.value(found[1]), second, "a number with another in parentheses"
    if found := ROUGH_MIX.fullmatch(text):
        return numerals.value(found[1] or found[2]), None, "a number with a sign of doubt"
    return None, None, ""


def is_period(text: str) -> bool:
    """
    Whether a text is a year or another time.

    >>> is_period("2019"), is_period("2019/20"), is_period("2020-03-01"), is_period("150")
    (True, True, True, False)
    """
    return bool(re.fullmatch(r"(18|19|20)\d\d", text) or (text and DATES.fullmatch(text)))
