"""Libraries that only some parts need: a clear word, with the extra that brings them, where one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from genverify.core.errors import ConfigError

EXTRAS = {
    "openpyxl": "formats", "pyreadr": "formats", "python_calamine": "formats", "pyarrow": "parquet", "gurobipy": "gurobi",
    "jax": "raprank", "optax": "raprank", "matplotlib": "study", "seaborn": "study", "PIL": "study", "rocrate": "study",
    "snakemake": "study",
}  # fmt: skip


class MissingExtra(ConfigError):
    """
    A library is missing that only an extra brings.

    >>> raise MissingExtra("jax")
    Traceback (most recent call last):
    genverify.core.extras.MissingExtra: the library jax is needed; install it: pip install "genverify[raprank]"
    """

    def __init__(self, library: str, what: str = "", instead: str = "") -> None:
        needed = f"{what} needs the library {library}" if what else f"the library {library} is needed"
        advice = f'install it: pip install "genverify[{EXTRAS[library]}]"' + (f" ({instead})" if instead else "")
        super().__init__(f"{needed}; {advice}")


def needed(library: str, what: str, instead: str = "") -> Any:
    """The library, or an error that says what needs it, how to have it, and how to do without it."""
    try:
        return import_module(library)
    except ImportError:
        raise MissingExtra(library, what, instead) from None


@contextmanager
def naming_missing_extras(what: str = "") -> Iterator[None]:
    """Turn the word that a library of an extra is missing into what to install; other errors pass."""
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in EXTRAS:
            raise
        raise MissingExtra(library, what) from None
