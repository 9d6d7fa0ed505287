"""Jobs run again: each in an empty folder from its recorded inputs, settings and code, without a network, and compared."""

import ctypes
import gc
import json
import os
import platform
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from math import ceil
from pathlib import Path
from random import Random
from runpy import run_path
from types import SimpleNamespace
from typing import Any

from genverify.model.errors import MissingExtra
from genverify.model.files import read_yaml
from genverify.run import code
from genverify.run.jobs import Job, cores, digests, folder_files
from genverify.run.layout import TIMES
from genverify.run.provenance import records as job_records
from genverify.run.provenance.records import AuditError, Chain, Reached, Record, is_made, normal, rerun

# Which jobs are run again: every cheap one, and of the others as many as are asked for, drawn at random.

CHEAP = 1.0  # seconds of a core: what takes less is never taken on its digest
# seconds of a core after which a job that was thought cheap is stopped: the machine that made the record may have been
# faster, and a rule that is not listed as costly may be costly with a user's data; the dearest of the default study takes 4
STOP = 12.0
ALL = "all"
Paths = Mapping[str, Collection[str]]  # of each job, by its record


@dataclass(frozen=True)
class Costs:
    """What workflow/times.yaml says of rules: seconds, and why some never give the same bytes; records may be forged."""

    seconds: Mapping[str, float]
    unrepeatable: Mapping[str, str]

    def is_cheap(self, record: Record) -> bool:
        """By its rule, whatever the record says; or by the record, whatever the rule takes with other settings."""
        return min(self.seconds.get(record.rule, 0.0), record.seconds) < CHEAP


def read_costs(path: Path) -> Costs:
    """A missing file says nothing: every job is tried."""
    text = read_yaml(path) if path.exists() else {}
    return Costs(text.get("seconds") or {}, text.get("unrepeatable") or {})


def draw_jobs(jobs: Sequence[Record], share: float, seed: int) -> list[Record]:
    """That share of the jobs, rounded up, in their order; each job is as likely as any other."""
    chosen = set(Random(seed).sample(range(len(jobs)), min(len(jobs), ceil(share * len(jobs)))))
    return [job for number, job in enumerate(jobs) if number in chosen]


def read_share(text: str) -> float:
    """A share of the jobs as it is written on the command line: 0.05, 5% or all."""
    try:
        share = 1.0 if text == ALL else float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise AuditError(f"--rerun {text}: a share of the jobs from 0 to 1 (0.1 or 10%), or {ALL!r}")
    return share


def run_again(chain: Chain, reached: Reached, share: float, seed: int) -> Iterator[str]:
    """The cheap jobs, then a share of the others; lines tell of it, times first. AuditError names what differs."""
    costs, above = read_costs(TIMES), _readable(chain)
    repeatable = [job for job in chain.jobs if job.rule not in costs.unrepeatable]
    for rule in sorted({job.rule for job in chain.jobs} & costs.unrepeatable.keys()):
        yield f"not run again: {rule} ({costs.unrepeatable[rule]})"
    cheap = [job for job in repeatable if costs.is_cheap(job)]
    yield f"recomputing {_in_words(cheap)}: whatever takes less than a second of a core"
    reached.recomputed = yield from _compared(cheap, above, STOP)
    others = [job for job in repeatable if job.path not in reached.recomputed]
    reached.others, chosen = [job.path for job in others], draw_jobs(others, share, seed)
    if share and others:
        chance = f"is caught with {len(chosen) / len(others):.0%}"
        forger = f"a forger who changed one of these, and nothing that a proof shows, {chance}"
        yield f"running again {_in_words(chosen)} of the other {len(others)}, drawn with seed {seed}: {forger}"
    reached.rerun = yield from _compared(chosen, above, None)


def _compared(jobs: Sequence[Record], above: Paths, stop: float | None) -> Generator[str, None, list[str]]:
    """Run jobs again; the records of those that gave the same bytes. AuditError names the first file that differs."""
    same, apart, guards = list[str](), dict[str, list[Record]](), set[str]()
    here = platform.python_version()
    if others := sorted({str(job.text["versions"][job_records.INSTALLED_PYTHON]) for job in jobs} - {here}):
        yield f"run again with Python {here}, though records name Python {', '.join(others)}"
    for outcome in rerun_jobs(jobs, above, stop):
        guards.add(outcome.guard)
        if outcome.here:
            apart.setdefault(outcome.here, []).append(outcome.record)
        else:
            record = outcome.record
            again = f"its job {record.rule}, run again from its recorded inputs, settings and code,"
            if outcome.error:
                raise AuditError(f"{record.target}: {again} ends with an error ({outcome.error}). {rerun(record.target)}")
            # byte by byte; files before the folder that they lie in
            for path in sorted({*record.outputs, *outcome.outputs}, key=lambda path: (-path.count(os.sep), path)):
                if record.outputs.get(path) != outcome.outputs.get(path):
                    raise AuditError(f"{path}: {again} gives another file. {rerun(record.target_of(path))}")
            same.append(record.path)
    for why, records in apart.items():
        yield f"not run again here: {'; '.join(group.title for group in job_records.groups_of(records).values())} ({why})"
    if PYTHON in guards:
        yield f"these jobs had no access to the network or to other files, enforced by {PYTHON}"
    return same


def _readable(chain: Chain) -> dict[str, set[str]]:
    """What each job may read besides its inputs: the records of all jobs behind it, and what the last of them wrote."""
    behind, jobs = dict[str, set[str]](), {job.path: job for job in chain.jobs}
    for path, before in ((path, chain.upstream[path]) for path in jobs):  # upstream first
        behind[path] = {*before}.union(*(behind[one] for one in before))
    return {path: records.union(*(jobs[one].outputs for one in chain.upstream[path])) for path, records in behind.items()}


def _in_words(jobs: Sequence[Record]) -> str:
    """How many jobs, and how long they took."""
    return f"{len(jobs)} job{'' if len(jobs) == 1 else 's'} ({sum(job.seconds for job in jobs):.1f} s by their records)"


# One job again

# imported once and not by every job: half a second of each figure. Libraries of others: what is named here counts for all
# scripts that audit
SHARED = ("pandas", "pyarrow.parquet", "scipy.sparse", "highspy", "matplotlib.pyplot")


@dataclass(frozen=True)
class Outcome:
    """What came of a job: SHA-256 of what it wrote, or why it did not end well."""

    record: Record
    outputs: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    here: str = ""  # why it cannot be run here
    guard: str = ""  # who keeps it from the network and from other files


def rerun_jobs(jobs: Sequence[Record], above: Paths, stop: float | None = None) -> Iterator[Outcome]:
    """Run jobs again, forked from this process; of the folders of results they see their inputs and what is `above`."""
    gone = {job.path: path for job in jobs for path in job.inputs if not os.path.exists(path)}
    yield from (Outcome(job, here=f"{gone[job.path]} is missing") for job in jobs if job.path in gone)
    todo, running, dear = [job for job in jobs if job.path not in gone], dict[int, tuple[Record, Path]](), dict[str, str]()
    for library in SHARED if todo else ():
        with suppress(ImportError):
            import_module(library)
    gc.freeze()
    try:
        while todo or running:
            while todo and len(running) < cores():
                job = todo.pop(0)
                if job.rule in dear:  # the next of its jobs would be stopped, too
                    yield Outcome(job, here=dear[job.rule])
                    continue
                folder = Path(tempfile.mkdtemp(prefix="genverify-"))
                if (child := os.fork()) == 0:
                    _child(job, folder, above[job.path], stop)
                running[child] = job, folder
            for child in list(running):
                ended, status, usage = os.wait4(child, os.WNOHANG)
                if ended:
                    job, folder = running.pop(child)
                    outcome = _outcome(job, folder, status, usage.ru_utime + usage.ru_stime)
                    shutil.rmtree(folder, ignore_errors=True)
                    dear |= {job.rule: outcome.here} if outcome.here and stop else {}
                    yield outcome
            time.sleep(0.005)
    finally:
        for child, (_, folder) in running.items():
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            shutil.rmtree(folder, ignore_errors=True)


def _outcome(record: Record, folder: Path, status: int, seconds: float) -> Outcome:
    try:
        answer = json.loads((folder / "answer").read_text())
    except (OSError, ValueError):
        ended = os.waitstatus_to_exitcode(status)
        if ended in (-signal.SIGXCPU, -signal.SIGKILL):
            return Outcome(record, here=f"stopped after {seconds:.0f} s of a core")
        return Outcome(record, error=f"the process ended with {ended}")
    return Outcome(record, **answer)


def _child(record: Record, folder: Path, above: Iterable[str], stop: float | None) -> None:
    """The job in a process of its own, which never returns: what it wrote, or what went wrong, is in the file `answer`."""
    answer: dict[str, Any] = {}
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        script, study = job_records.script_of(record.rule), folder / "study"
        link_inputs(study, [*record.inputs, *above])
        os.chdir(study)
        os.environ.update(TMPDIR=str(folder), HOME=str(folder))
        tempfile.tempdir = str(folder)
        answer["guard"] = confine(folder)
        if stop is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (ceil(stop), ceil(stop)))
        inputs, outputs = (SimpleNamespace(**record.arguments(part)) for part in ("inputs", "outputs"))
        outputs.record = record.path
        job = Job(record.rule, inputs, outputs, SimpleNamespace(**record.params), SimpleNamespace(**record.wildcards))
        for path in (path for value in vars(outputs).values() for path in job_records.as_list(value)):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        sys.path[:0] = [str(code.SRC)]
        run_path(str(script), run_name=f"script_{script.stem}")["main"](job)
        written = digests(record.arguments("outputs"), contents=True)
        answer["outputs"] = {normal(path): value for files in written.values() for path, value in files.items()}
    except (ImportError, MissingExtra) as error:
        answer["here"] = f"{error}"
    except BaseException as error:  # whatever it is, it is what the job says
        answer["error"] = f"{type(error).__name__}: {error}"
    with suppress(OSError):
        (folder / "answer").write_text(json.dumps(answer))
    os._exit(0)


def link_inputs(study: Path, inputs: Iterable[str]) -> None:
    """A folder that looks like the study's, with the inputs as the only results; folders are made, files are links."""
    study.mkdir()
    for path in Path.cwd().iterdir():
        if path.name not in job_records.MADE and not path.name.startswith("."):
            (study / path.name).symlink_to(path)
    for name in filter(is_made, inputs):
        if os.pardir in Path(name).parts:  # a forged record must not make links outside of the folder
            raise AuditError(f"{name}: an input that leads out of the study. Run the job again.")
        for file in folder_files(Path(name)) if Path(name).is_dir() else [Path(name)]:
            (study / file).parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                (study / file).symlink_to(file.absolute())


# No network, and no writing but in one folder

KERNEL, PYTHON = "the kernel", "Python alone, which code in C may get around"
LANDLOCK = (444, 445, 446)  # system calls, the same on every processor: create a set of rules, add one, restrict oneself
# rights of Landlock, as bits: write, remove and make files of every kind; from its version 2 on to move, from 3 on to cut
WRITE, OTHERS, MOVE, CUT = 1 << 1, sum(1 << bit for bit in range(4, 13)), 1 << 13, 1 << 14
NO_NEW_RIGHTS, NEW_USER, NEW_NETWORK = 38, 0x10000000, 0x40000000
FORBIDDEN = ("socket.connect", "socket.bind", "socket.sendto", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn")
CHANGING = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod",
            "shutil.rmtree")  # fmt: skip


def confine(folder: Path) -> str:
    """Forbid this process the network and every file outside a folder; says who sees to it."""
    if sys.platform == "linux" and _landlock(folder):
        unshare = ctypes.CDLL(None, use_errno=True).unshare
        if unshare(NEW_NETWORK) == 0 or unshare(NEW_USER | NEW_NETWORK) == 0:
            return KERNEL
    home = os.path.realpath(folder) + os.sep

    def watch(event: str, given: tuple[Any, ...]) -> None:
        writing = event == "open" and (set("wax+") & set(given[1] or "") or given[2] & (os.O_WRONLY | os.O_RDWR))
        outside = not os.path.realpath(str(given[0])).startswith(home) if given and (writing or event in CHANGING) else False
        if event in FORBIDDEN or (outside and given[0] != os.devnull and not isinstance(given[0], int)):
            raise PermissionError(f"{event} {given[:1]}: a job that is run again may not do that")

    sys.addaudithook(watch)
    return PYTHON


def _landlock(folder: Path) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(LANDLOCK[0], None, 0, 1)
    if version < 1:
        return False
    rights = WRITE | OTHERS | (MOVE if version > 1 else 0) | (CUT if version > 2 else 0)
    rules = libc.syscall(LANDLOCK[0], struct.pack("Q", rights), 8, 0)
    for path, allowed in ((str(folder), rights), (os.devnull, rights & (WRITE | CUT))):
        inside = os.open(path, os.O_PATH)
        if libc.syscall(LANDLOCK[1], rules, 1, struct.pack("=Qi", allowed, inside), 0):
            return False
    return bool(libc.prctl(NO_NEW_RIGHTS, 1, 0, 0, 0) == 0 and libc.syscall(LANDLOCK[2], rules, 0) == 0)
