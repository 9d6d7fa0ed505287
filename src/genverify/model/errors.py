"""Errors that a user can act on, and libraries that only some parts need."""

import errno
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import Any

# Errors that a user can act on: shown as one message, without a traceback.

DISK = {
    errno.ENOSPC: "the disk is full: free space",
    errno.EDQUOT: "the quota of this disk is used up: free space",
    errno.EROFS: "the file system is read-only: make it writable",
    errno.EACCES: "you have no permission to write here: change it",
    errno.ENOTDIR: "a part of this path is a file, not a folder: remove it, or give another path",
    errno.EEXIST: "a file has the name of a folder that is to be made: remove it, or give another path",
    errno.EISDIR: "a folder has the name of a file that is to be written: remove it",
    errno.ENAMETOOLONG: "this name is too long: give a shorter one",
}


class GenverifyError(Exception):
    """What went wrong, where, and what to do next: the base of all errors that are shown without a traceback."""


class ConfigError(GenverifyError):
    """A setting is missing, misspelt or impossible."""


class DataError(GenverifyError):
    """A file does not hold what it should."""


class ReleaseError(DataError):
    """Published counts that cannot be read or contradict each other."""


class NoDatasetError(ReleaseError):
    """No dataset fits the published counts, with the checked certificate; or none was found within the limits (None)."""

    def __init__(self, message: str, certificate: Mapping[str, Any] | None) -> None:
        super().__init__(message)
        self.certificate = certificate


class DiskError(GenverifyError):
    """A result cannot be written."""


@contextmanager
def naming_disk_errors(work: str = "") -> Iterator[None]:
    """Turn the system's word that a file cannot be written into what to do about it; `work` is named if it names no file."""
    try:
        yield
    except OSError as error:
        if error.errno not in DISK:
            raise
        where = "" if error.filename or not work else f" ({work})"
        raise DiskError(
            f"{error}{where}. In short, {DISK[error.errno]}, then give the same command again: finished work is reused, "
            "and what was not is made again."
        ) from None


MALFORMED = (KeyError, TypeError, AttributeError, ValueError)  # what taking a file of another form apart raises


@contextmanager
def refusing(
    kinds: type[Exception] | tuple[type[Exception], ...], problem: str, remedy: str = "", error: type[Exception] = DataError
) -> Iterator[None]:
    """Turn what a reader raises over a broken file into an error that says the problem, what was said, and the remedy."""
    try:
        yield
    except kinds as caught:
        said = repr(caught) if isinstance(caught, KeyError | TypeError | AttributeError) else " ".join(str(caught).split())
        said = caught.strerror if isinstance(caught, OSError) and caught.strerror else said
        said = said.removeprefix(f"{problem.partition(': ')[0]}: ")
        raise error(f"{problem} ({said}){f'; {remedy}' if remedy else ''}") from None


@contextmanager
def naming(where: object, kind: type[GenverifyError] = DataError) -> Iterator[None]:
    """Let errors of a kind say first, and once, what they are about."""
    try:
        yield
    except kind as error:
        raise kind(f"{where}: {str(error).removeprefix(f'{where}: ')}") from None


MOST_LISTED = 400  # names in an error: a table can have many thousand labels


def nearest(name: object, known: list[Any]) -> str:
    """The known names, with the one that was probably meant."""
    close = get_close_matches(str(name), [str(k) for k in known], n=1)
    listed = f"known: {', '.join(map(str, known[:MOST_LISTED]))}{', ...' if len(known) > MOST_LISTED else ''}"
    return f"did you mean {close[0]}? ({listed})" if close else listed


def refuse_unknown(name: object, known: Collection[Any], problem: str, error: type[GenverifyError] = DataError) -> None:
    """An error for a name that is not known, which ends in those that are."""
    if name not in known:
        raise error(f"{problem}: {nearest(name, list(known))}")


# Libraries that only some parts need: a clear word, with the extra that brings them, where one is missing.

EXTRAS = {
    "pyreadr": "formats", "python_calamine": "formats", "pyarrow": "parquet", "gurobipy": "gurobi", "typst": "paper",
    "jax": "raprank", "optax": "raprank",
    "matplotlib": "study", "seaborn": "study", "PIL": "study", "rocrate": "study", "snakemake": "study",
}  # fmt: skip


class MissingExtra(ConfigError):
    """A library is missing that only an extra brings."""

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
