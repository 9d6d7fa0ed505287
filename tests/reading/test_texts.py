"""What texts of cells, headers and labels say: each function with what it is given, and what it is to say."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from genverify.disclosure.link import Value, rounded, symbol_value
from genverify.disclosure.release_data import bin_labels
from genverify.reading import numerals, roles, source, totals
from genverify.reading.axes import indented
from genverify.reading.numerals import MIXED, WHOLE, Symbol
from genverify.reading.table_cells import bare_label, placed

PX = b'STUB="sex";VALUES("sex")="m","f";ELIMINATION("sex")="m";DATA=1;\n"..";'
AVAILABLE = [("A4", "Shorthand: [x] = not available; [e] = estimate"), ("A9", ".. figure not available")]


def legend(text: str) -> tuple[str, str]:
    known = numerals.find_legend(text, AVAILABLE)
    return (known.meaning, known.said) if known else ("", "")


def signs(*texts: str) -> tuple[str, bool]:
    known = numerals.decide_numerals(texts)
    return known.decimal, known.unsure


def cube(data: bytes) -> tuple[object, ...]:
    known = source.read_px(data)
    return known.texts, known.axes[0].labels, known.axes[0].total


EXAMPLES: dict[Callable[..., Any], dict[Any, Any]] = {
    numerals.displayed_decimal: {
        "1.2999999999999998": "1.2999999999999998", "0,10000000000000001": "0,1", "1.25": "1.25",
    },
    numerals.is_period: {"2019": True, "2019/20": True, "2020-03-01": True, "150": False},
    partial(numerals.says, "percent"): {"Share of pupils": True},
    partial(numerals.says, "rate"): {"Share of pupils": False},
    numerals.is_symbol: {"*": True, "[c]": True, "Masked": True, "..C": True, "s": True, "North": False, "1": False},
    lambda text: numerals.usual_meaning(text).meaning: {
        "<5": "between 0 and 4", "0-2": "between 0 and 2", ">95%": "between 96 and", "[c]": "suppressed",
    },
    numerals.meaning_of_words: {
        "figure not available": "missing", "less than 5": "suppressed", "Represents zero.": "zero",
    },
    legend: {"..": ("missing", "figure not available"), "[x]": ("missing", "not available")},
    lambda word: numerals.told_symbol("*", word).meaning: {"1-4": "between 1 and 4", "0": "zero", "missing": "missing"},
    totals.interval: {"15 to 19": (15, 19), "65+": (65, 1000000), "Under 15": (0, 14), "women": None},
    totals.is_total_name: {
        "Total": True, "All ages": True, "Both sexes": True, "Scotland total": True, "Allergies": False, "UK": True,
        "North": False,
    },
    totals.is_total_word: {"Total (all)": True, "total_stated": False, "All other": False},
    totals.rounding: {(5, 10, 25, 40, 115, 5, 0, 20): 5, (5, 10, 7): 1},
    roles.measure_role: {"Number of pupils": "count", "Percentage": "percentage", "Mean score": "statistic"},
    lambda share: roles.is_share(Decimal(share), 1, 3): {"33.3": True, "33.4": False, "0.333": True},
    bare_label: {"Drug A, N = 98": "Drug A", "Women [1]": "Women", "Men*": "Men"},
    lambda cell: placed(*cell): {
        (WHOLE, "5", 5): "i", (WHOLE, "-5", -5): "", (MIXED, "5 (7)", 5): "m", (MIXED, "~5", 5): "",
    },
    source.column_name: {0: "A", 25: "Z", 26: "AA", 701: "ZZ", 702: "AAA"},
    source.column_at: {"A": 0, "aa": 26, "AAA": 702},
    lambda names: tuple(source.numbered(names)): {("a", "b", "a"): ("a", "b", "a (2)")},
    source.cell_text: {604.0: "604", 0.5: "0.5", True: "TRUE", datetime(2020, 1, 2): "2020-01-02"},
    cube: {PX: (("1", ".."), ("m", "f"), "m")},
    lambda own: signs(*own): {
        ("1.234,5", "7"): (",", False), ("1,234", "3.5"): (".", False), ("2.000", "1.500"): (",", True),
        ("2.000", "1500"): (".", False),
    },
    lambda texts: indented(texts, [0, 1, 1, 0, 1])[1]: {
        ("North", "men", "women", "South", "men"): {"North": ["North: men", "women"], "South": ["South: men"]},
    },
    symbol_value: {
        Symbol("*", "suppressed"): Value(0, None, hidden=True), Symbol("<5", "between 0 and 4"): Value(0, 4, hidden=True),
    },
    rounded: {"12.5": (Fraction(249, 20), Fraction(251, 20))},
    lambda edges: bin_labels(edges): {(18, 65): ["under 18", "18 to 64", "65 and over"]},
}  # fmt: skip


@pytest.mark.parametrize("work", EXAMPLES)
def test_texts_are_read(work: Callable[..., Any]) -> None:
    assert {given: work(given) for given in EXAMPLES[work]} == EXAMPLES[work]
