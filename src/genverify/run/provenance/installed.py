"""Versions of packages: those that jobs ran with and those that are installed here, against the lock."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from genverify.run.provenance.records import AuditError, Record

PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)", re.MULTILINE)
PYTHON = "python"
Lock = Mapping[str, set[str]]  # a package may be pinned to several versions, for different systems or Pythons


def read_lock(path: Path) -> Lock:
    """The versions that the lock allows for each package."""
    found: dict[str, set[str]] = {}
    for name, pinned in PINNED.findall(path.read_text()):
        found.setdefault(normalised(name), set()).add(pinned)
    return found


def normalised(name: str) -> str:
    """
    The name of a package as registries compare it.

    >>> normalised("PuLP_x.y")
    'pulp-x-y'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def check_versions(record: Record, lock: Lock, where: Path) -> None:
    """A job ran with the versions of the lock."""
    for name, used in record.text["versions"].items():
        allowed = lock.get(normalised(name), set())
        if name != PYTHON and str(used) not in allowed:
            pinned = " or ".join(sorted(allowed)) or "no version"
            raise AuditError(
                f"{record.target}: made with {name} {used}, but {where} has {pinned}. Install the lock (make env), then "
                f"make it again: snakemake --force {record.target}"
            )


def differing(lock: Lock) -> Iterator[str]:
    """The packages that are installed here in a version that the lock does not have."""
    for name, allowed in sorted(lock.items()):
        here = _installed(name)
        if here is not None and here not in allowed:
            yield f"{name} {here} (the lock has {' or '.join(sorted(allowed))})"


@cache  # what is installed does not change while a process runs
def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def in_words(here: Iterable[str], where: Path) -> str:
    """What is reported of the packages that are installed where the audit runs."""
    odd = list(here)
    return f"installed here: {'not as ' if odd else 'as '}{where} says{': ' + ', '.join(odd) if odd else ''}"
