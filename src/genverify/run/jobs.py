"""A job of the workflow: run a script's main, keep its log, and leave a record of what went in and what came out."""

import gc
import json
import logging
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from genverify.model.errors import EXTRAS, GenverifyError, naming_disk_errors
from genverify.model.files import sha256_of
from genverify.model.settings import S, validate, validate_part
from genverify.run.code import code_parts, from_here
from genverify.run.layout import LOCK, repository

# The versions of the program, of its solvers and of what it is built on.

SOLVERS = {"HiGHS": "highspy", "Gurobi": "gurobipy"}
LIBRARIES = ("numpy", "scipy", "pandas", "pydantic")


def version_lines() -> Iterator[str]:
    """`genverify 0.1.0`, then a line for each solver and for the libraries."""
    yield f"genverify {installed_version('genverify') or '(from its source, not installed)'}"
    for name, library in SOLVERS.items():
        advice = f', pip install "genverify[{EXTRAS[library]}]"' if library in EXTRAS else ""
        yield f"{name} {installed_version(library) or f'(not installed{advice})'}"
    libraries = ", ".join(f"{library} {installed_version(library) or 'missing'}" for library in LIBRARIES)
    yield f"Python {platform.python_version()}, {libraries}"


@cache  # what is installed does not change while a process runs
def installed_version(library: str) -> str | None:
    with suppress(PackageNotFoundError):
        return version(library)
    return None


PACKAGES = ("numpy", "pandas", "pyarrow", "scipy", "matplotlib", "highspy", "gurobipy", "jax", "jaxlib", "optax",
            "snakemake")  # fmt: skip
log = logging.getLogger("genverify")


@dataclass(frozen=True)
class Job:
    """What a script's main gets: named inputs, outputs, params and wildcards."""

    rule: str
    input: Any
    output: Any
    params: Any
    wildcards: Any

    def settings(self, name: str, model: type[S]) -> S:
        """The section that the job's rule gives it under this name, as the package says that owns it."""
        return validate(model, getattr(self.params, name), f"{self.rule}: {name}")

    def part(self, name: str, model: type[S]) -> S:
        """The same, of a section of which the rule gives only what the job uses."""
        return validate_part(model, getattr(self.params, name), f"{self.rule}: {name}")


def run(main: Callable[[Job], None], snakemake: Any) -> None:
    """Run main as the job that Snakemake describes; a user's mistake ends in one message, without a traceback."""
    gc.freeze()  # what the imports left need not be looked through again: 60 ms of a job
    job = Job(snakemake.rule, *(_named(snakemake, part) for part in ("input", "output", "params", "wildcards")))
    files = [path for value in vars(job.output).values() for path in (value if isinstance(value, list) else [value])]
    writes = f"{job.rule} writes {', '.join(files[:4])}{', ...' if files[4:] else ''}" if files else job.rule
    try:
        with naming_disk_errors(writes):
            # the terminal first, so that it hears of a log that cannot be opened or written
            log.setLevel(logging.INFO)
            log.addHandler(logging.StreamHandler(sys.stderr))  # a handler writes the message alone unless told otherwise
            for path in snakemake.log:
                log.addHandler(_LogFile(path, mode="w"))
            home = Path(os.path.normpath(snakemake.scriptdir))
            started, code = time.time(), code_parts(home / f"{job.rule}.py")
            main(job)
            if hasattr(job.output, "record"):
                _write_record(job, started, code, [folder / LOCK for folder in home.parents])
    except GenverifyError as error:
        with suppress(OSError):
            log.error("%s: %s", type(error).__name__, error)
        sys.exit(1)
    except BaseException:
        with suppress(OSError):
            log.exception("%s failed", job.rule)
        raise


def _named(snakemake: Any, part: str) -> SimpleNamespace:
    given = dict(getattr(snakemake, part).items())
    lists = {name: [str(item) for item in value] for name, value in given.items() if type(value).__name__ == "Namedlist"}
    return SimpleNamespace(**{**given, **lists})


class _LogFile(logging.FileHandler):
    """A log that cannot be written is an error of its job; logging itself would print a traceback and go on."""

    def handleError(self, record: logging.LogRecord) -> None:
        error = sys.exception()
        if isinstance(error, OSError):
            log.removeHandler(self)
            with suppress(OSError):
                self.close()
            raise OSError(error.errno, error.strerror, self.baseFilename) from None
        super().handleError(record)


def _write_record(job: Job, started: float, code: Mapping[str, str], locks: Sequence[Path] = ()) -> None:
    """The record of a finished job, written to its output `record`. `code` was digested before the work began."""
    outputs = {name: value for name, value in vars(job.output).items() if name != "record"}
    record = {
        "record": job.output.record,
        "rule": job.rule,
        "wildcards": vars(job.wildcards),
        "params": vars(job.params),
        "code": dict(code),
        "lock": digests({"files": [from_here(lock) for lock in locks if lock.is_file()]})["files"],
        "inputs": digests(vars(job.input)),
        "outputs": digests(outputs, contents=True),
        # the names that stand for a list of files, in the order that the job got: what it takes to run it again
        "lists": {
            part: {name: value for name, value in named.items() if isinstance(value, list)}
            for part, named in (("inputs", vars(job.input)), ("outputs", outputs))
        },
        # the packages that are here: the environment of the core paper's figures has no JAX
        "versions": {"python": platform.python_version()}
        | {name: number for name in PACKAGES if (number := installed_version(name))},
        "git": git_state(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": round(time.time() - started, 3),
    }
    Path(job.output.record).write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


def digests(files: Mapping[str, Any], contents: bool = False) -> dict[str, dict[str, str]]:
    """SHA-256 of every named file, or list of files, by name and path; with `contents` also of each file in a folder."""
    listed = {name: value if isinstance(value, list) else [value] for name, value in files.items()}
    return {name: {k: v for path in paths for k, v in _digests(Path(path), contents)} for name, paths in listed.items()}


def _digests(path: Path, contents: bool = False) -> Iterator[tuple[str, str]]:
    inside = {file: sha256_of(file) for file in folder_files(path)} if path.is_dir() else {}
    yield str(path), folder_digest(path, inside) if path.is_dir() else sha256_of(path)
    yield from ((str(file), value) for file, value in inside.items() if contents)


def digest(path: Path) -> str:
    """SHA-256 of a file; of a folder, over the names and digests of its files."""
    return next(_digests(path))[1]


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def folder_files(folder: Path) -> list[Path]:
    """The files in a folder and below it, sorted; Snakemake's own marks left out."""
    return sorted(f for f in folder.rglob("*") if f.is_file() and not f.name.startswith(".snakemake"))


def folder_digest(folder: Path, result: Mapping[Path, str]) -> str:
    lines = (f"{file.relative_to(folder)} {value}\n" for file, value in result.items())
    return sha256("".join(lines).encode()).hexdigest()


def git_state() -> dict[str, Any]:
    """The commit that the code stands at, and whether files differ from it; unknown outside a git checkout."""
    commit, filters = _git("rev-parse", "HEAD"), _git("config", "--name-only", "-z", "--get-regexp", r"^filter\.")
    status = _git("status", "--porcelain", "--ignore-submodules=dirty", without=(filters or "").split("\0"))
    return {"commit": commit, "dirty": None if status is None else bool(status)}


def _git(*words: str, without: Iterable[str] = ()) -> str | None:
    """What git says, running no program that the folder's own settings name: no monitor, no hooks, no fetching."""
    # filters of files run with `status`, so their settings are named in `without`: what one changed counts as different
    empty = {"core.fsmonitor": "false", "core.hooksPath": os.devnull, **{name: "" for name in without if name}}
    first = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
    harmless = {"GIT_CONFIG_COUNT": f"{first + len(empty)}", "GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "none"}
    for n, (name, value) in enumerate(empty.items(), first):
        harmless |= {f"GIT_CONFIG_KEY_{n}": name, f"GIT_CONFIG_VALUE_{n}": value}
    with suppress(OSError, subprocess.CalledProcessError):
        given = {**os.environ, **harmless}
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=True, env=given, cwd=repository())
        return done.stdout.strip()
    return None
