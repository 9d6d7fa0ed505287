"""The audit: from results through every job record to the raw data; whatever is not as recorded is an error."""

import argparse
import csv
import os
import time
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from secrets import randbits

from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from genverify.model.settings import merge
from genverify.run import layout
from genverify.run.code import code_digest, code_parts, joint_digest
from genverify.run.config import Config, parse_config, read_shipped
from genverify.run.jobs import digest, folder_digest, folder_files, git_state
from genverify.run.provenance import records as job_records
from genverify.run.provenance.recheck import check_proofs, jobs_with_proofs
from genverify.run.provenance.records import AuditError, Chain, Record, Records, is_made, normal, rerun, script_of, walk
from genverify.run.provenance.rerun import read_share, run_again
from genverify.run.registry import SHARED, stage_files

# The files of a chain as they are now, against what the records say.

Now = Mapping[str, str | None]  # path: digest of what is there, None where nothing is


def check_chain(chain: Chain, known: Records, config: Config) -> Generator[str, None, Now]:
    """Compare every job with what is there: lock, versions, code, settings, names and files; returns today's digests."""
    sources, lock, stages = read_sources(), job_records.read_lock(), job_records.Stages(stage_paths(), config)
    yield job_records.installed_here(lock)
    files, lock_file = [*map(normal, [layout.LOCK, *stage_paths()]), *chain.raw], str(layout.LOCK)
    for record in chain.jobs:
        files += [*record.code, *record.lock, *record.inputs, *record.outputs]
    now = _digest_files(dict.fromkeys(files))
    yield from _raw_files(chain, now, sources)
    for record in chain.jobs:
        if record.lock.get(lock_file) != now[lock_file]:
            problem = differs(now[lock_file], record.lock.get(lock_file), record.path)
            again = "Make everything again (snakemake --forceall), or put the lock back."
            raise AuditError(f"{lock_file}: {problem}: {record.target} was made with other versions. {again}")
        job_records.check_versions(record, lock)
        _check_code(record)
        job_records.check_settings(record, stages)
        job_records.check_files(record, stages)
        for path, recorded in record.inputs.items():
            if not is_made(path):
                _check_raw(record, path, recorded, now[path], sources.get(path))
            elif (writer := known.writer(path)).outputs[path] != recorded:
                problem = f"made from another {path} than the one that {writer.path} tells of"
                raise AuditError(f"{record.target}: {problem}. {rerun(record.target)}")
        # files before the folder that they lie in, so that the file is named
        for path, recorded in sorted(record.outputs.items(), key=lambda item: -item[0].count(os.sep)):
            if now[path] != recorded:
                raise AuditError(f"{path}: {differs(now[path], recorded, record.path)}. {rerun(record.target_of(path))}")
            if os.path.islink(path):
                raise AuditError(f"{path}: a link in place of the file that its job wrote. {rerun(record.target_of(path))}")
    return now


def _check_code(record: Record) -> None:
    script = script_of(record.rule)
    now = code_parts(script) if script.is_file() else {}
    for path, recorded in record.code.items():
        if now.get(path) != recorded:
            other = f"what {normal(script)} uses of it is not as {record.path} says"
            none = f"{normal(script)} uses nothing of it, though {record.path} names it"
            again = f"Run Snakemake again (snakemake {record.target}), or put the code back."
            raise AuditError(f"{path}: {other if path in now else none}: {record.target} was made by other code. {again}")
    stated = record.params.get(job_records.CODE), joint_digest(record.code.values())
    if stated != (code_digest(script),) * 2:
        problem = f"not the code that {record.path} says it ran, or it imports other modules"
        raise AuditError(f"{normal(script)}: {problem}. {rerun(record.target)}")


def _check_raw(record: Record, path: str, recorded: str, now: str | None, listed: str | None) -> None:
    if now is None and not listed:
        return  # of a user, and said in the first line
    again = f"run Snakemake again (snakemake {record.target})."
    if listed and now != listed:
        problem = differs(now, listed, str(layout.SOURCES))
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


def _digest_files(paths: Collection[str]) -> dict[str, str | None]:
    """What is there now, every file read once, several at a time; a folder by the files in it."""
    folders = {path: folder_files(Path(path)) for path in paths if os.path.isdir(path)}
    for link in (inside for path in folders for inside in Path(path).rglob("*") if inside.is_symlink() and inside.is_dir()):
        raise AuditError(f"{link}: a link to a folder, whose files no record tells of. Remove it.")
    files = {normal(file): file for path in paths for file in folders.get(path, [Path(path)])}
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


def read_sources() -> dict[str, str]:
    """SHA-256 of the files that the list of sources names; nothing for one of which it has none."""
    with layout.SOURCES.open(newline="") as file:
        return {normal(row["file"]): row["sha256"] for row in csv.DictReader(file)}


def audit(
    config: Config, asked: Iterable[str] = (), proofs: bool = True, share: float = 0.0, seed: int | None = None
) -> Generator[str, None, job_records.Summary]:
    """The lines of the audit: the chain as a tree, then what was checked; returns it in the form that can be published."""
    started = time.monotonic()
    known, results = job_records.find_records(), job_records.find_results(asked)
    if not results:
        raise AuditError(f"nothing to audit: no file in {layout.FIGURES}, {layout.TABLES}. Run Snakemake first.")
    chain, sources = walk(results, known), read_sources()
    if gone := [path for path in chain.raw if not sources.get(path) and not os.path.exists(path)]:
        yield f"MISSING raw data: {', '.join(gone)}: what was made from it is taken on the digests in the job records"
    yield from job_records.tree(chain, sources)
    yield from job_records.versions(chain)
    yield f"now: {job_records.git_in_words(git := git_state())}"
    now, reached = (yield from check_chain(chain, known, config)), job_records.Reached()
    if proofs:
        _check_proofs(chain, known, reached)
        yield f"proofs: {reached.words}: all right{reached.resting}" if reached.words else "proofs: none in this chain"
    yield from run_again(chain, reached, share, randbits(32) if seed is None else seed)
    yield from reached.lines(chain, now)
    summary = job_records.summarise(chain, now, reached, git)
    yield f"chain {summary['chain']} (publish it, and anybody can see whether one of these files was changed later)"
    yield summary["badge"]
    files = sum(not Path(path).is_dir() for path in now)
    named = "1 result" if len(results) == 1 else f"{len(results)} results"
    yield f"{named}, {files} files, all accounted for ({time.monotonic() - started:.1f} s)"
    return summary


def _raw_files(chain: Chain, now: Now, sources: Mapping[str, str]) -> Iterator[str]:
    """Raw files that the study does not ship: size, digest, and whose digest that is by the list of sources."""
    printed = {value: path for path, value in sources.items() if value}
    for path in (path for path in chain.raw if path not in sources):
        if (digest := now[path]) is None:
            yield f"raw {path}: missing"
            continue
        by = f"as {layout.SOURCES} has it for {printed[digest]}" if digest in printed else ""
        listed = by or f"no publisher's digest in {layout.SOURCES}"
        size = sum(file.stat().st_size for file in (folder_files(Path(path)) if os.path.isdir(path) else [Path(path)]))
        yield f"raw {path}: {size:,} bytes, SHA-256 {digest}, {listed}"


def _check_proofs(chain: Chain, known: Records, reached: job_records.Reached) -> None:
    """The proofs of every job: what is right, in numbers and words, and the files that say nothing else."""
    jobs = jobs_with_proofs(chain.jobs, known)
    right = list(zip(jobs.values(), check_proofs(list(jobs.values())), strict=True))
    counts = reached.proofs = sum((one.counts for _, one in right), Counter[str]())
    by_check = {job.kind.check: job.kind for job, _ in right}
    kinds = [by_check[check] for check in sorted(by_check)]
    reached.words = "; ".join(kind.words.format_map(counts) for kind in kinds)
    resting = [f"; {words.format(counts[name])}" for kind in kinds for name, words in kind.unproved.items() if counts[name]]
    reached.resting = "".join(resting)
    reached.proved = {normal(path) for job, one in right for path in one.files or job.record.outputs}


# The command `audit`, and which stage files it reads.

SETTINGS = (".yaml", ".yml", ".json")


def stage_paths() -> list[Path]:
    # in the order in which the Snakefile includes them: targets are added up as they come
    first = [layout.SNAKEFILE, layout.STAGES / SHARED, *map(Path, stage_files(layout.STAGES))]
    # a Snakefile that uses this one as a module is not read
    ours = [path for path in first if path.exists() and path.resolve().is_relative_to(layout.repository())]
    return list(dict.fromkeys([*ours, *sorted(layout.STAGES.rglob("*.smk"))]))


def read_config(changes: list[Path]) -> Config:
    text = read_shipped(Path())
    for path in changes:
        if path.suffix not in SETTINGS:
            first = f"Name results first: genverify audit {path} --configfile ..."
            raise DataError(f"--configfile {path}: not a file of settings. {first}")
        text = merge(text, read_yaml(path))
    return parse_config(text)


def command(options: argparse.Namespace) -> Iterator[str]:
    if options.out and not options.out.absolute().parent.is_dir():  # said before the work, not after it
        raise DataError(f"--out {options.out}: there is no folder {options.out.parent}; make it, or give another path")
    other = job_records.read_summary(options.against) if options.against else None
    config, share = read_config(options.configfile), read_share(options.rerun)
    if list(map(normal, options.results)) == [str(layout.REFERENCE)]:
        yield from layout.load(f"{layout.REFERENCE_TOOL}:check_lines")(config, strict=True)
        return
    summary = yield from audit(config, options.results, not options.without_proofs, share, options.seed)
    if options.out:
        job_records.write_summary(summary, options.out)
        yield f"written: {options.out}"
    if other:
        yield from job_records.compare(summary, other, options.against)
