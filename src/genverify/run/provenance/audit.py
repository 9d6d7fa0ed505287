"""The audit: from results through every job record to the raw data; whatever is not as recorded is an error."""

import argparse
import csv
import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from secrets import randbits
from typing import Any

from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from genverify.model.settings import merge
from genverify.run import layout
from genverify.run.code import code_digest, code_parts, find_script, joint_digest
from genverify.run.config import Config, parse_config, read_shipped
from genverify.run.jobs import digest, folder_digest, folder_files, git_state
from genverify.run.provenance import records as job_records
from genverify.run.provenance.recheck import check_proofs, jobs_with_proofs
from genverify.run.provenance.records import AuditError, Chain, Layout, Record, Records, normal, rerun, walk
from genverify.run.provenance.rerun import Again, read_costs, read_share
from genverify.run.registry import SHARED, load, stage_files

# The files of a chain as they are now, against what the records say.

Now = Mapping[str, str | None]  # path: digest of what is there, None where nothing is


@dataclass(frozen=True)
class Checks:
    """What the chain is compared with: files as they are, raw files as listed, rules and settings as they stand."""

    layout: Layout
    records: Records
    stages: job_records.Stages
    listed: Mapping[str, str]
    now: Now
    lock: job_records.Lock

    def check(self, record: Record) -> None:
        """A job's lock, code, settings, inputs and outputs; an error names the first that is not as recorded."""
        self._lock(record)
        job_records.check_versions(record, self.lock, self.layout.lock)
        self._code(record)
        job_records.check_settings(record, self.stages)
        job_records.check_files(record, self.stages)
        for path, recorded in record.inputs.items():
            if not self.records.is_made(path):
                self._raw(record, path, recorded)
            elif (writer := self.records.writer(path)).outputs[path] != recorded:
                problem = f"made from another {path} than the one that {writer.path} tells of"
                raise AuditError(f"{record.target}: {problem}. {rerun(record.target)}")
        # files before the folder that they lie in, so that the file is named
        for path, recorded in sorted(record.outputs.items(), key=lambda item: -item[0].count(os.sep)):
            if (now := self.now[path]) != recorded:
                raise AuditError(f"{path}: {differs(now, recorded, record.path)}. {rerun(record.target_of(path))}")
            if os.path.islink(path):
                raise AuditError(f"{path}: a link in place of the file that its job wrote. {rerun(record.target_of(path))}")

    def _lock(self, record: Record) -> None:
        lock = normal(self.layout.lock)
        if record.lock.get(lock) != self.now[lock]:
            raise AuditError(
                f"{lock}: {differs(self.now[lock], record.lock.get(lock), record.path)}: {record.target} was made with "
                "other versions. Make everything again (snakemake --forceall), or put the lock back."
            )

    def _code(self, record: Record) -> None:
        script = find_script(Path.cwd() / self.layout.scripts, record.rule)
        now = code_parts(script) if script.is_file() else {}
        for path, recorded in record.code.items():
            if now.get(path) != recorded:
                other = f"what {normal(script)} uses of it is not as {record.path} says"
                none = f"{normal(script)} uses nothing of it, though {record.path} names it"
                raise AuditError(
                    f"{path}: {other if path in now else none}: {record.target} was made by other code. "
                    f"Run Snakemake again (snakemake {record.target}), or put the code back."
                )
        stated = record.params.get(job_records.CODE), joint_digest(record.code.values())
        if stated != (code_digest(script),) * 2:
            problem = f"not the code that {record.path} says it ran, or it imports other modules"
            raise AuditError(f"{normal(script)}: {problem}. {rerun(record.target)}")

    def _raw(self, record: Record, path: str, recorded: str) -> None:
        now, listed = self.now[path], self.listed.get(path)
        if now is None and listed is None:
            return  # of a user, and said in the first line
        again = f"run Snakemake again (snakemake {record.target})."
        if listed and now != listed:
            problem = differs(now, listed, str(self.layout.sources))
            raise AuditError(f"{path}: {problem}. Put the file back, or list the new one there and {again}")
        if now != recorded:
            raise AuditError(f"{path}: {differs(now, recorded, record.path)}. Put the file back, or {again}")


def differs(now: str | None, recorded: str | None, where: str) -> str:
    """How a file is not as some other file says."""
    if now is None:
        return f"missing, though {where} names it"
    if recorded is None:
        return f"not named in {where}"
    return f"not as {where} says (SHA-256 {now[:12]}, recorded {recorded[:12]})"


def digest_files(paths: Iterable[str]) -> dict[str, str | None]:
    """What is there now, every file read once, several at a time; a folder by the files in it."""
    wanted = list(paths)
    folders = {path: folder_files(Path(path)) for path in wanted if os.path.isdir(path)}
    for link in (inside for path in folders for inside in Path(path).rglob("*") if inside.is_symlink() and inside.is_dir()):
        raise AuditError(f"{link}: a link to a folder, whose files no record tells of. Remove it.")
    files = {normal(file): file for path in wanted for file in folders.get(path, [Path(path)])}
    with ThreadPoolExecutor() as pool:
        now = dict(zip(files, pool.map(_digest, files.values()), strict=True))
    for path, inside in folders.items():
        now[path] = folder_digest(Path(path), {file: str(now[normal(file)]) for file in inside})
    return now


def _digest(path: Path) -> str | None:
    try:
        return digest(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise AuditError(f"{path}: cannot be read ({error.strerror}).") from None
    except DataError as error:  # a pipe or a device
        raise AuditError(str(error)) from None


def files_of(chain: Chain, layout: Layout) -> list[str]:
    """Every file that the chain speaks of, each once, and the stage files that it is compared with."""
    parts = [normal(layout.lock), *map(normal, layout.stages), *chain.raw]
    for record in chain.jobs:
        parts += [*record.code, *record.lock, *record.inputs, *record.outputs]
    return list(dict.fromkeys(parts))


def read_listed(sources: Path) -> dict[str, str]:
    """SHA-256 of the files that the list of sources names, where it has one."""
    with sources.open(newline="") as file:
        return {normal(row["file"]): row["sha256"] for row in csv.DictReader(file) if row["sha256"]}


def audit(
    layout: Layout, config: Config, asked: Iterable[str] = (), proofs: bool = True, share: float = 0.0,
    seed: int | None = None,
) -> Generator[str, None, job_records.Summary]:  # fmt: skip
    """
    The lines of the audit: the chain as a tree, then what was checked. AuditError names the first file that differs.

    Cheap jobs are run again, and of the others a share, drawn with the seed. Returns the chain in the form that can be
    published.
    """
    started = time.monotonic()
    known = job_records.find_records(layout.made)
    results = job_records.find_results(asked, layout.shown)
    if not results:
        raise AuditError(f"nothing to audit: no file in {', '.join(map(str, layout.shown))}. Run Snakemake first.")
    chain, listed = walk(results, known), read_listed(layout.sources)
    if gone := [path for path in chain.raw if path not in listed and not os.path.exists(path)]:
        yield f"MISSING raw data: {', '.join(gone)}: what was made from it is taken on the digests in the job records"
    yield from job_records.tree(chain, listed)
    yield from job_records.versions(chain)
    lock = job_records.read_lock(layout.lock)
    yield job_records.in_words(job_records.differing(lock), layout.lock)
    git = git_state()
    yield f"now: {job_records.git_in_words(git)}"
    now = digest_files(files_of(chain, layout))
    yield from _raw_files(chain, now, layout.sources)
    checks = Checks(layout, known, job_records.Stages(layout.stages, config), listed, now, lock)
    for record in chain.jobs:
        checks.check(record)
    reached = job_records.Reached()
    if proofs:
        reached = _check_proofs(chain, known)
        yield f"proofs: {reached.words}: all right{reached.resting}" if reached.words else "proofs: none in this chain"
    again = Again(chain, layout.scripts, layout.made, read_costs(layout.costs))
    yield from again.run(share, randbits(32) if seed is None else seed)
    reached = replace(reached, recomputed=again.recomputed, rerun=again.rerun, others=again.others)
    yield from reached.lines(chain, now)
    summary = job_records.summarise(chain, now, reached, git)
    yield f"chain {summary['chain']} (publish it, and anybody can see whether one of these files was changed later)"
    yield summary["badge"]
    files = sum(not Path(path).is_dir() for path in now)
    named = "1 result" if len(results) == 1 else f"{len(results)} results"
    yield f"{named}, {files} files, all accounted for ({time.monotonic() - started:.1f} s)"
    return summary


def _raw_files(chain: Chain, now: Now, sources: Path) -> Iterator[str]:
    """Raw files that the study does not ship: size, digest, and whose digest that is by the list of sources."""
    with sources.open(newline="") as file:
        rows = list(csv.DictReader(file))
    printed = {row["sha256"]: row["file"] for row in rows if row["sha256"]}
    for path in (path for path in chain.raw if normal(path) not in {normal(row["file"]) for row in rows}):
        if (digest := now[path]) is None:
            yield f"raw {path}: missing"
            continue
        known = f"as {sources} has it for {printed[digest]}" if digest in printed else f"no publisher's digest in {sources}"
        size = sum(file.stat().st_size for file in (folder_files(Path(path)) if os.path.isdir(path) else [Path(path)]))
        yield f"raw {path}: {size:,} bytes, SHA-256 {digest}, {known}"


def _check_proofs(chain: Chain, known: Records) -> job_records.Reached:
    """The proofs of every job: what is right, in numbers and words, and the files that say nothing else."""
    jobs = jobs_with_proofs(chain.jobs, known)
    right = list(zip(jobs.values(), check_proofs(list(jobs.values())), strict=True))
    counts = sum((one.counts for _, one in right), Counter[str]())
    by_check = {job.kind.check: job.kind for job, _ in right}
    kinds = [by_check[check] for check in sorted(by_check)]
    resting = [f"; {words.format(counts[name])}" for kind in kinds for name, words in kind.unproved.items() if counts[name]]
    proved = {normal(path) for job, one in right for path in one.files or job.record.outputs}
    return job_records.Reached(counts, "; ".join(kind.words.format_map(counts) for kind in kinds), "".join(resting), proved)


# The command `audit`, and where this repository keeps what they look at.

SETTINGS = (".yaml", ".yml", ".json")


def repository() -> Layout:
    """The layout of this repository, seen from its root."""
    # in the order in which the Snakefile includes them: targets are added up as they come
    first = [layout.SNAKEFILE, layout.STAGES / SHARED, *map(Path, stage_files(layout.STAGES))]
    # a Snakefile that uses this one as a module is not read
    ours = [path for path in first if path.exists() and path.resolve().is_relative_to(layout.repository())]
    stages = list(dict.fromkeys([*ours, *sorted(layout.STAGES.rglob("*.smk"))]))
    made, shown = (str(layout.RESULTS), str(layout.FIGURES)), (layout.FIGURES, layout.TABLES)
    return Layout(made, shown, layout.SOURCES, layout.LOCK, layout.SCRIPTS, stages, layout.TIMES)


def add_audit(commands: Any) -> None:
    parser = commands.add_parser("audit", help="walk from results back to the raw data; check every file, setting and proof")
    parser.add_argument("results", nargs="*", help="for instance figures/fig3.pdf (default: every figure and table)")
    parser.add_argument("--configfile", nargs="+", action="extend", type=Path, default=[], metavar="FILE",
                        help="laid over config.yaml, as for Snakemake; results come before it")  # fmt: skip
    parser.add_argument("--without-proofs", action="store_true", help="do not check the proofs again (quicker)")
    parser.add_argument("--rerun", default="0", metavar="SHARE",
                        help="also run a share of the costly jobs again: 0.1, 10%%, or all")  # fmt: skip
    parser.add_argument("--seed", type=int, metavar="N", help="of that draw (default: a new one, which is printed)")
    parser.add_argument("--out", "--write", type=Path, metavar="FILE",
                        help="write the digest of the chain with all it covers, to publish (audit.json)")  # fmt: skip
    parser.add_argument("--against", type=Path, metavar="FILE", help="say what differs from a chain that was published")
    parser.set_defaults(run=_audit)


def read_config(changes: list[Path]) -> Config:
    text = read_shipped(Path())
    for path in changes:
        if path.suffix not in SETTINGS:
            first = f"Name results first: genverify audit {path} --configfile ..."
            raise DataError(f"--configfile {path}: not a file of settings. {first}")
        text = merge(text, read_yaml(path))
    return parse_config(text)


def _audit(options: argparse.Namespace) -> None:
    if options.out and not options.out.absolute().parent.is_dir():  # said before the work, not after it
        raise DataError(f"--out {options.out}: there is no folder {options.out.parent}; make it, or give another path")
    other = job_records.read_summary(options.against) if options.against else None
    config = read_config(options.configfile)
    share = read_share(options.rerun)
    if list(map(normal, options.results)) == [str(layout.REFERENCE)]:
        for line in load("genverify.run.reference:check_lines")(config, strict=True):
            print(line, flush=True)
        return
    lines = audit(repository(), config, options.results, not options.without_proofs, share, options.seed)
    summary = say_lines(lines, partial(print, flush=True))
    if options.out:
        job_records.write_summary(summary, options.out)
        print(f"written: {options.out}")
    if other:
        for line in job_records.compare(summary, other, options.against):
            print(line, flush=True)


def say_lines(lines: Generator[str, None, job_records.Summary], say: Callable[[str], object]) -> job_records.Summary:
    while True:
        try:
            say(next(lines))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
