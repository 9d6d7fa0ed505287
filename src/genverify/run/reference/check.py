"""Whether a reference set is whole and current: its files, today's settings, data and code, and the results here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain as joined
from pathlib import Path
from typing import Any

from genverify.run.code import code_digest, find_script
from genverify.run.jobs import digest, folder_files
from genverify.run.provenance.chain import walk
from genverify.run.provenance.checks import differs
from genverify.run.provenance.layout import Layout
from genverify.run.provenance.records import AuditError, find_records
from genverify.run.provenance.rules import CODE as JOB_CODE
from genverify.run.provenance.rules import UNKNOWN, changed_settings, read_sections
from genverify.run.provenance.stages import read_stages
from genverify.run.reference.listing import Listing
from genverify.run.reference.manifest import MANIFEST, PAGE, Manifest, data_of, entry_of
from genverify.run.settings import Config

SETTINGS, DATA, CODE, RESULT, SAME = "settings", "data", "code", "result", "same result"
# a change of code may change nothing that is shown, as a docstring does: it is told, and is no error
OUTDATED = (SETTINGS, DATA, RESULT)


@dataclass(frozen=True)
class Finding:
    """What has changed since a result was put into the set: its target, the kind of change, and the change in words."""

    target: str
    kind: str
    text: str

    @property
    def is_outdated(self) -> bool:
        return self.kind in OUTDATED


def altered_files(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Files of the set that are missing, not as the manifest says, or not in it."""
    listed = {PAGE: manifest["page"]} | {
        name: value for entry in manifest["results"].values() for name, value in entry["files"].items()
    }
    found = {str(path.relative_to(folder)): path for path in folder_files(folder) if path.name != MANIFEST}
    for name, value in sorted(listed.items()):
        now = digest(found[name]) if name in found else None
        if now != value:
            yield f"{folder / name}: {differs(now, value, str(folder / MANIFEST))}"
    yield from (f"{folder / name}: {differs('', None, str(folder / MANIFEST))}" for name in sorted(found.keys() - listed))


def unlisted_targets(manifest: Manifest, listing: Listing) -> Iterator[str]:
    """Targets that the set should hold, or say why not, and does neither; and those that it need not know of."""
    known = {**manifest["results"], **manifest["absent"]}
    wanted = [*listing.targets, *listing.absent]
    yield from (f"{target}: neither in the set nor listed as absent" for target in wanted if target not in known)
    yield from (
        f"{target}: shown or absent, though the listing does not name it" for target in known if target not in wanted
    )


def changes(manifest: Manifest, layout: Layout, config: Config) -> list[Finding]:
    """What has changed since the set was made, without a run or results: settings, raw data and code of every job."""
    by_job = _changed_jobs(manifest["jobs"], layout, config)
    data = {path: text for path, value in manifest["data"].items() if (text := _changed_file(path, value))}
    found: list[Finding] = []
    for target, entry in manifest["results"].items():
        own = list(dict.fromkeys(joined.from_iterable(by_job[name] for name in entry["jobs"])))
        own += [(DATA, data[path]) for path in entry["data"] if path in data]
        found += [Finding(target, kind, text) for kind, text in own]
    return found


def with_results(found: Sequence[Finding], manifest: Manifest, layout: Layout) -> list[Finding]:
    """The findings beside the results that are here; if today's code gave what the set shows, its change does not matter."""
    here = list(_results_here(manifest, layout))
    same = {finding.target for finding in here if finding.kind == SAME}
    kept = [finding for finding in found if finding.kind != CODE or finding.target not in same]
    return kept + [finding for finding in here if finding.kind == RESULT]


def _changed_jobs(jobs: Mapping[str, Any], layout: Layout, config: Config) -> dict[str, list[tuple[str, str]]]:
    sections = read_sections(read_stages(layout.stages))
    found: dict[str, list[tuple[str, str]]] = {}
    for name, job in jobs.items():
        if job["rule"] not in sections:
            found[name] = [(CODE, f"rule {job['rule']} is gone")]
            continue
        try:
            changed = list(changed_settings(sections[job["rule"]], job["settings"], job["wildcards"], config))
            found[name] = [(SETTINGS, f"{place} was {was}, is {is_}") for place, was, is_ in changed]
        except UNKNOWN as error:
            found[name] = [(SETTINGS, f"settings of {name} are gone ({error})")]
        if job["code"] != _code_now(layout, job["rule"]):
            found[name].append((CODE, job["rule"]))
    return found


def _code_now(layout: Layout, rule: str) -> str | None:
    script = find_script(Path.cwd() / layout.scripts, rule)
    return code_digest(script) if script.is_file() else None


def _changed_file(path: str, recorded: str) -> str | None:
    now = digest(Path(path)) if Path(path).exists() else None
    return None if now == recorded else f"{path} {'is gone' if now is None else 'has changed'}"


def _results_here(manifest: Manifest, layout: Layout) -> Iterator[Finding]:
    """
    For each result that was made here with the settings and data of the set: another one, or the same by the code of today.

    One of other settings or data, or without the records of its jobs, says nothing about the set.
    """
    records = find_records(layout.made)
    for target, entry in manifest["results"].items():
        try:
            chain = walk([target], records)
        except AuditError:
            continue
        made = entry_of(target, chain, {})
        known = {path: manifest["data"][path] for path in entry["data"]}
        if made["settings"] != entry["settings"] or data_of(chain) != known:
            continue
        other = [path for path, value in entry["sources"].items() if _changed_file(path, value)]
        if other:
            yield Finding(target, RESULT, f"{other[0]} here is another, made with the same settings and data")
        elif all(job.params.get(JOB_CODE) == _code_now(layout, job.rule) for job in chain.jobs):
            yield Finding(target, SAME, "made here by the code of today")
