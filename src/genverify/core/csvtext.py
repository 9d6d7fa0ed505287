"""Texts of users in CSV files: a spreadsheet program would run a cell that begins like a formula."""

import re

import pandas as pd

FORMULA = re.compile("[=+\\-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}"
                     "\N{FULLWIDTH COMMERCIAL AT}]")  # fmt: skip
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def neutral(text: str) -> str:
    """
    The text with ' before it where a spreadsheet program would take it for a formula; numbers stay as they are.

    >>> neutral("=1+1"), neutral("-5"), neutral("under 5")
    ("'=1+1", '-5', 'under 5')
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def neutral_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A table to be written as CSV: its texts and the names of its columns made neutral, its numbers untouched."""
    texts = [column for column in frame.columns if not pd.api.types.is_numeric_dtype(frame[column].dtype)]
    changed = {column: frame[column].astype(object).map(_neutral_value) for column in texts}
    return frame.assign(**changed).rename(columns=lambda name: neutral(str(name)))


def _neutral_value(value: object) -> object:
    return neutral(value) if isinstance(value, str) else value
