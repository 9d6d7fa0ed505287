"""The files of a chain as they are now, against what the records say."""

import csv
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from genverify.core.errors import DataError
from genverify.run.code import code_digest, code_parts, find_script, joint_digest
from genverify.run.jobs import digest, folder_digest, folder_files
from genverify.run.provenance.chain import Chain
from genverify.run.provenance.declared import check_files
from genverify.run.provenance.installed import Lock, check_versions
from genverify.run.provenance.layout import Layout
from genverify.run.provenance.records import AuditError, Record, Records, normal, rerun
from genverify.run.provenance.rules import CODE, Sections, check_settings, read_sections
from genverify.run.provenance.stages import Stages
from genverify.run.settings import Config

Now = Mapping[str, str | None]  # path: digest of what is there, None where nothing is


@dataclass(frozen=True)
class Checks:
    """What the chain is compared with: files as they are, raw files as listed, rules and settings as they stand."""

    layout: Layout
    config: Config
    records: Records
    stages: Stages
    listed: Mapping[str, str]
    now: Now
    lock: Lock

    @cached_property
    def sections(self) -> Sections:
        return read_sections(self.stages)

    def check(self, record: Record) -> list[str]:
        """
        A job's lock, code, settings, inputs and outputs; an error names the first that is not as recorded.

        Returns the inputs whose paths could not be compared with those of the rule.
        """
        self._lock(record)
        check_versions(record, self.lock, self.layout.lock)
        self._code(record)
        check_settings(record, self.sections, self.config)
        open_ = check_files(record, self.stages, self.config)
        for path, recorded in record.inputs.items():
            self._made(record, path, recorded) if self.records.is_made(path) else self._raw(record, path, recorded)
        for path, recorded in sorted(record.outputs.items(), key=_inside_first):
            if (found := self.now[path]) != recorded:
                raise AuditError(f"{path}: {differs(found, recorded, record.path)}. {rerun(record.target_of(path))}")
        return open_

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
        stated = record.params.get(CODE), joint_digest(record.code.values())
        if stated != (code_digest(script),) * 2:
            raise AuditError(
                f"{normal(script)}: not the code that {record.path} says it ran, or it imports other modules. "
                f"{rerun(record.target)}"
            )

    def _made(self, record: Record, path: str, recorded: str) -> None:
        writer = self.records.writer(path)
        if writer.outputs[path] != recorded:
            raise AuditError(
                f"{record.target}: made from another {path} than the one that {writer.path} tells of. {rerun(record.target)}"
            )

    def _raw(self, record: Record, path: str, recorded: str) -> None:
        found, listed = self.now[path], self.listed.get(path)
        if listed and found != listed:
            raise AuditError(
                f"{path}: {differs(found, listed, str(self.layout.sources))}. Put the file back, or list the new one "
                f"there and run Snakemake again (snakemake {record.target})."
            )
        if found != recorded:
            raise AuditError(
                f"{path}: {differs(found, recorded, record.path)}. Put the file back, or run Snakemake again (snakemake "
                f"{record.target})."
            )


def _inside_first(item: tuple[str, str]) -> int:
    """Files before the folder that they lie in, so that the file is named."""
    return -item[0].count(os.sep)


def differs(found: str | None, recorded: str | None, where: str) -> str:
    """How a file is not as some other file says."""
    if found is None:
        return f"missing, though {where} names it"
    if recorded is None:
        return f"not named in {where}"
    return f"not as {where} says (SHA-256 {found[:12]}, recorded {recorded[:12]})"


def digest_files(paths: Iterable[str]) -> dict[str, str | None]:
    """What is there now, every file read once, several at a time; a folder by the files in it."""
    wanted = {path: Path(path) for path in paths}
    folders = {path: folder_contents(place) for path, place in wanted.items() if place.is_dir()}
    files = {normal(f): f for place, inside in zip(wanted.values(), map(folders.get, wanted), strict=True)
             for f in (inside if inside is not None else [place])}  # fmt: skip
    with ThreadPoolExecutor() as pool:
        found = dict(zip(files, pool.map(_digest, files.values()), strict=True))
    for path, inside in folders.items():
        found[path] = folder_digest(Path(path), {file: str(found[normal(file)]) for file in inside})
    return found


def folder_contents(folder: Path) -> list[Path]:
    """The files of a folder; a folder that is only linked to would not be seen by a digest, so it is refused."""
    for path in folder.rglob("*"):
        if path.is_symlink() and path.is_dir():
            raise AuditError(f"{path}: a link to a folder, whose files no record tells of. Remove it.")
    return folder_files(folder)


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
    """The digests of the raw files that the study ships."""
    with sources.open(newline="") as file:
        return {normal(row["file"]): row["sha256"] for row in csv.DictReader(file) if row["sha256"]}
