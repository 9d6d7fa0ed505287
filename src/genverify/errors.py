"""Errors that a user can act on: shown as one message, without a traceback."""

from difflib import get_close_matches
from typing import Any


class GenverifyError(Exception):
    """What went wrong, where, and what to do next."""


class ConfigError(GenverifyError):
    """A setting is missing, misspelt or impossible."""


class DataError(GenverifyError):
    """A file does not hold what it should."""


class ReleaseError(DataError):
    """Published counts that cannot be read or contradict each other."""


def nearest(name: object, known: list[Any]) -> str:
    """
    The known names, with the one that was probably meant.

    >>> nearest("TENN", ["TEN", "VACS"])
    'did you mean TEN? (known: TEN, VACS)'
    """
    close = get_close_matches(str(name), [str(k) for k in known], n=1)
    listed = f"known: {', '.join(map(str, known))}"
    return f"did you mean {close[0]}? ({listed})" if close else listed
