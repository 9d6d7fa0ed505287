"""Job records as they lie beside the results: read, checked for form, and found by what they say they wrote."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from genverify.core.errors import DataError, GenverifyError
from genverify.core.files import read_json

ENDING = "record.json"
DIGEST = re.compile(r"[0-9a-f]{64}")
Digests = dict[str, str]
KEYS: dict[str, type | tuple[type, ...]] = {
    "record": str, "rule": str, "wildcards": dict, "params": dict, "code": dict, "lock": dict, "inputs": dict,
    "outputs": dict, "versions": dict, "git": dict, "started": str, "seconds": (int, float),
}  # fmt: skip


class AuditError(GenverifyError):
    """A file is not what the records say; names it, and what to do next."""


@contextmanager
def reading_tables(where: str | Path) -> Iterator[None]:
    """Tables that were altered may lack any column or hold any kind of value: that is an error of theirs, not a crash."""
    try:
        yield
    except (KeyError, IndexError, ValueError, TypeError, AttributeError, OSError) as error:
        raise AuditError(f"{where}: not of the form that its job writes ({error!r}). {rerun(str(where))}") from None


@dataclass(frozen=True)
class Record:
    """What a job reported of itself: `inputs` and `outputs` by name, then by path, as SHA-256."""

    path: str
    text: Mapping[str, Any]

    @property
    def rule(self) -> str:
        return str(self.text["rule"])

    @property
    def wildcards(self) -> Mapping[str, str]:
        return dict(self.text["wildcards"])

    @property
    def params(self) -> Mapping[str, Any]:
        return dict(self.text["params"])

    @cached_property
    def code(self) -> Digests:
        return {normal(path): value for path, value in self.text["code"].items()}

    @cached_property
    def lock(self) -> Digests:
        return {normal(path): value for path, value in self.text["lock"].items()}

    @cached_property
    def inputs(self) -> Digests:
        return _flat(self.text["inputs"])

    @cached_property
    def outputs(self) -> Digests:
        return _flat(self.text["outputs"])

    def named(self, part: str, name: str) -> list[str]:
        """The paths of the inputs or outputs of one name."""
        return [normal(path) for path in self.text[part].get(name, {})]

    @property
    def target(self) -> str:
        """An output that Snakemake can be asked for."""
        return next(iter(self.outputs), self.path)

    def target_of(self, output: str) -> str:
        """What to ask Snakemake for to get an output: the file itself, or the folder that was written with it inside."""
        return next((other for other in self.outputs if output.startswith(f"{other}{os.sep}")), output)


def normal(path: str | Path) -> str:
    """
    A path as seen from the current folder, without detours; links are not followed.

    >>> normal("figures/../figures/fig3.pdf")
    'figures/fig3.pdf'
    """
    here, whole = os.getcwd(), os.path.abspath(path)
    return os.path.relpath(whole, here) if whole.startswith(here + os.sep) else whole


def _flat(named: Mapping[str, Mapping[str, str]]) -> Digests:
    return {normal(path): value for files in named.values() for path, value in files.items()}


def read_record(path: Path) -> Record:
    """A job record; whatever is not one is refused."""
    try:
        text = read_json(path)
        _check_form(text)
    except (DataError, ValueError) as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise AuditError(f"{path}: not a job record ({reason}). Delete it, then run Snakemake again.") from None
    record = Record(normal(path), text)
    for output in record.outputs:
        if os.path.isabs(output):
            raise AuditError(f"{path}: says that {output} was written, which lies outside this folder. Delete the record, "
                             "then run Snakemake again.")  # fmt: skip
    return record


def _check_form(text: Mapping[str, Any]) -> None:
    for key, kind in KEYS.items():
        if not isinstance(text.get(key), kind):
            raise ValueError(f"{key!r} is missing or of the wrong kind")
    for key in ("wildcards", "versions"):
        if not all(isinstance(value, str) for value in text[key].values()):
            raise ValueError(f"{key!r} holds other values than texts")
    if not isinstance(text["git"].get("commit"), str | None) or not isinstance(text["git"].get("dirty"), bool | None):
        raise ValueError("'git' names no commit, or does not say whether files differ from it")
    groups = [text["code"], text["lock"], *text["inputs"].values(), *text["outputs"].values()]
    for files in groups:
        if not isinstance(files, dict) or not all(isinstance(d, str) and DIGEST.fullmatch(d) for d in files.values()):
            raise ValueError("digests are missing or are no SHA-256")


@dataclass(frozen=True)
class Records:
    """All records of a study: who wrote a file, and which records lie where they do not belong."""

    made: tuple[str, ...]
    writers: Mapping[str, tuple[Record, ...]]
    misplaced: Mapping[str, str]

    def is_made(self, path: str) -> bool:
        """Whether a file lies where only the workflow writes."""
        return path.split(os.sep)[0] in self.made

    def writer(self, path: str) -> Record:
        """The one record that says it wrote a file."""
        found = self.writers.get(path, ())
        if len(found) == 1:
            return found[0]
        if found:
            both = " and ".join(record.path for record in found[:2])
            raise AuditError(f"{path}: both {both} say that they wrote it. Delete the one that is out of date.")
        beside = [record for record in self.misplaced if os.path.dirname(record) == os.path.dirname(path)]
        hint = f" ({beside[0]} lies there, but it is the record {self.misplaced[beside[0]]})" if beside else ""
        raise AuditError(f"{path}: no job record says how it was made{hint}. {rerun(path)}")


def find_records(made: Iterable[str]) -> Records:
    """Every record in the folders that the workflow writes."""
    folders = tuple(made)
    writers: dict[str, tuple[Record, ...]] = {}
    misplaced: dict[str, str] = {}
    for path in sorted(path for folder in folders for path in Path(folder).rglob(f"*{ENDING}")):
        record = read_record(path)
        if normal(record.text["record"]) != record.path:
            misplaced[record.path] = str(record.text["record"])
            continue
        for output in record.outputs:
            writers[output] = (*writers.get(output, ()), record)
    return Records(folders, writers, misplaced)


def rerun(target: str) -> str:
    """What to do about a file that cannot be trusted."""
    return f"Make it again: snakemake --force {target}"
