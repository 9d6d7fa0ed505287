"""A reference set: every figure and table of the papers with its caption, made small; a page, a manifest, their check."""

import argparse
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple

import pandas as pd
from jinja2 import Environment, StrictUndefined, TemplateError
from pydantic import Field

from genverify.model.errors import DataError
from genverify.model.files import read_json, read_yaml
from genverify.model.settings import Section, validate
from genverify.report.pages import bullets, document, markdown_table
from genverify.run.code import code_digest
from genverify.run.config import Config
from genverify.run.jobs import digest, folder_files
from genverify.run.layout import REFERENCE, SOURCES, STAGES
from genverify.run.provenance import records as job_records
from genverify.run.provenance.audit import check_chain, differs, read_config, read_sources, stage_paths
from genverify.run.provenance.records import AuditError, Chain, Stages, script_of, walk, without_places
from genverify.run.registry import registered

# What the reference set is to hold: the results of each paper with their captions, and what is left out with a reason.

FIGURE, TABLE = ".pdf", ".csv"
FILE = "reference.yaml"


class _Part(Section):
    """What the folder of a study lists: title and order of a paper, its targets with their captions; what is left out."""

    order: int = 0
    title: str = ""
    results: dict[str, str] = Field(default_factory=dict)
    absent: dict[str, str] = Field(default_factory=dict)


class Listing(NamedTuple):
    """The papers by their names, all their targets, and the targets that are left out, each with a reason."""

    papers: dict[str, _Part]
    targets: list[str]
    absent: dict[str, str]


def read_listing(stages: Path) -> Listing:
    """The listings of a folder and of those of its studies; every target is a figure or a table, and stands in them once."""
    parts = dict[str, _Part]()
    for path in sorted(stages.rglob(FILE)):
        part = parts[path.parent.name] = validate(_Part, read_yaml(path), str(path))
        for target in (one for one in part.results if Path(one).suffix not in (FIGURE, TABLE)):
            raise DataError(f"{path}: {target}: neither a figure ({FIGURE}) nor a table ({TABLE})")
        if part.results and not part.title:
            raise DataError(f"{path}: setting title is missing: the name of the paper whose results are shown")
    papers = sorted((name for name, part in parts.items() if part.results), key=lambda name: (parts[name].order, name))
    targets = [target for name in papers for target in parts[name].results]
    absent = [item for part in parts.values() for item in part.absent.items()]
    # a result is stored by its name alone; what is absent is stored nowhere, so that a table may have its name
    names = Counter(Path(target).stem for target in targets) + Counter([*targets, *(target for target, _ in absent)])
    for name in (name for name, times in names.items() if times > 1):
        raise DataError(f"{stages}: {name} is duplicated in the files {FILE}: name each result once")
    return Listing({name: parts[name] for name in papers}, targets, dict(absent))


# The manifest of a reference set: what each file was made from, as the job records say; no times, places or versions.

MANIFEST, PAGE = "manifest.json", "README.md"
SEED = "seed"
Manifest = dict[str, Any]
Entry = dict[str, Any]


def _entry_of(target: str, chain: Chain, files: Mapping[str, str]) -> Entry:
    """What the manifest says of one result: digests of its files, sources, inputs and raw data, of all settings and code."""
    jobs, record, name = _jobs_of(chain), chain.results[target], Path(target).with_suffix("")
    parts = {part: {key: job[part] for key, job in jobs.items()} for part in ("settings", "code")}
    return {
        "rule": record.rule, "files": dict(files), "seed": _seed_of(chain), "jobs": sorted(jobs), "data": list(chain.raw),
        # the outputs of the job that go by the name of the target
        "sources": {path: value for path, value in record.outputs.items() if Path(path).with_suffix("") == name},
        "inputs": dict(record.inputs), **{part: job_records.json_digest(values)[:16] for part, values in parts.items()},
    }  # fmt: skip


def _jobs_of(chain: Chain) -> dict[str, dict[str, Any]]:
    """The jobs of a chain, batches as one: rule, wildcards, settings and the digest of the code."""
    result: dict[str, dict[str, Any]] = {}
    for job in chain.jobs:
        rule, wildcards = job_records.key_of(job)
        name = " ".join([rule, *(f"{key}={value}" for key, value in wildcards)])
        settings, code = job_records.settings_in(job), job.params.get(job_records.CODE)
        result[name] = {"rule": rule, "wildcards": dict(wildcards), "settings": settings, "code": code}
    return result


def _seed_of(chain: Chain) -> int | None:
    """The seed of the jobs, the same for all; None where nothing was drawn at random."""
    return next((int(job.params[SEED]) for job in chain.jobs if SEED in job.params), None)


def _data_of(chain: Chain) -> dict[str, str]:
    """SHA-256 of the raw files of a chain."""
    return {path: value for job in chain.jobs for path, value in job.inputs.items() if path in chain.raw}


def read_manifest(path: Path) -> Manifest:
    text = read_json(path)
    for key in {"page", "results", "absent", "jobs", "data"} - text.keys():
        raise DataError(f"{path}: no {key!r}; not the manifest of a reference set. Make it: snakemake reference")
    return text


# The captions of the report as lines of a Markdown page.

FOLDER, REPORT = "captions", "report.yaml"


def find_captions(stages: Path) -> dict[str, Path]:
    """The captions of figures by their names: one file each, in the folders `captions` of the stages and of every study."""
    result: dict[str, Path] = {}
    for path in sorted(stages.rglob(f"{FOLDER}/*.rst")):
        if path.stem in result:
            raise DataError(f"{path}: {result[path.stem]} is a caption of the same name: give one another name")
        result[path.stem] = path
    return result


def read_pages(stages: Path) -> dict[str, dict[str, dict[str, str]]]:
    """The tables of the report, by the rule that asks for their pages, from the files report.yaml of every study."""
    result: dict[str, dict[str, dict[str, str]]] = {}
    for path in sorted(stages.rglob(REPORT)):
        for rule, pages in read_yaml(path).items():
            twice = [name for name in pages for group in result.values() if name in group]
            if twice:
                raise DataError(f"{path}: the page {twice[0]} is also in another {REPORT}: give one another name")
            result.setdefault(rule, {}).update(pages)
    return result


def read_caption(stages: Path, name: str, target: str = "") -> str:
    """The caption of a name; where a figure and a table share it, that of the table if the target is the table's."""
    figures = find_captions(stages)
    tables = {table: page for group in read_pages(stages).values() for table, page in group.items()}
    if name in figures and tables.get(name, {}).get("file") != target:
        return figures[name].read_text()
    if name not in tables:
        raise DataError(f"no caption {name}: neither {FOLDER}/{name}.rst nor a table of {REPORT} in {stages}")
    return str(tables[name]["caption"])


def caption(stages: Path, name: str, wildcards: Mapping[str, str], study: Mapping[str, Any], target: str = "") -> str:
    """The first paragraph of a caption on one line, filled in as the report does: with wildcards and settings."""
    first = read_caption(stages, name, target).split("\n\n")[0]
    values = SimpleNamespace(wildcards=SimpleNamespace(**wildcards), config=study)
    try:
        text = Environment(undefined=StrictUndefined, autoescape=False).from_string(first).render(snakemake=values)
    except TemplateError as error:
        raise DataError(f"caption {name} in {stages}: cannot be filled in ({error})") from None
    return " ".join(text.replace("``", "`").split())


# The page of a reference set: every figure and table of the papers with its caption and its target, then the digests.

INTRODUCTION = """\
# The papers, reproduced: figures and tables of the default study

Made by `snakemake reference` from the results of the default settings; nothing here is written by hand.
**The data are synthetic** (the built-in country: no real household or person is in it), but for the counts that the
paper on cell bounds prints. Pictures are smaller than those that a run makes. [manifest.json](manifest.json) tells what
each file was made from; `genverify reference` says whether the set is still current. Where each result is computed:
[map.md](../map.md)."""
DIGESTS = """\
## Digests

SHA-256 of each source as the study wrote it; settings and code: one digest each over all jobs from the raw data to the
result, as in manifest.json, which also has the digests of what the last job read."""


def _page_of(listing: Listing, manifest: Manifest, config: Config) -> str:
    """The page as Markdown, with the captions as they are filled in with the settings of today."""
    study, parts, entries = config.model_dump(), [INTRODUCTION], manifest["results"]
    for paper in listing.papers.values():
        parts.append(f"## {paper.title}")
        for target, name in paper.results.items():
            if entry := entries.get(target):
                made = [job for job in map(manifest["jobs"].get, entry["jobs"]) if job["rule"] == entry["rule"]]
                parts += _section(target, entry, caption(STAGES, name, made[0]["wildcards"], study, target))
            else:
                parts.append(f"`{target}`: {manifest['absent'].get(target, NOT_RUN)}.")
    parts += ["## Left out", bullets(f"`{target}`: {reason}" for target, reason in listing.absent.items())]
    rows = [[f"`{text}`" for text in (target, path, value, entries[target]["settings"], entries[target]["code"])]
            for target in listing.targets if target in entries
            for path, value in sorted(entries[target]["sources"].items())]  # fmt: skip
    parts += [DIGESTS, markdown_table(["target", "source", "SHA-256", "settings", "code"], rows, left=5)]
    return "\n\n".join(parts) + "\n"


def _section(target: str, entry: Entry, caption: str) -> list[str]:
    """A figure as an image, a table as links to it; below it the caption, the data and the target."""
    name, data = Path(target).stem, _data_in_words(entry["seed"])
    table = f"[{name}.md]({name}.md), [{name}.csv]({name}.csv)"
    shown = f"![{name}, {data}]({name}.png)" if Path(target).suffix == FIGURE else table
    return [f"### {name}", shown, f"{caption} *{data.capitalize()}.* `snakemake {target}`"]


def _data_in_words(seed: int | None) -> str:
    """Which data a result shows: whatever depends on a seed was drawn at random."""
    return "no microdata: nothing drawn at random" if seed is None else f"synthetic data, seed {seed}"


# Writing of a reference set: results that the audit finds in order, made small, with a page and a manifest.

NOT_RUN, NOT_ASKED = "not run", "not asked for"


def write_reference(config: Config, papers: Sequence[str] = ()) -> Manifest:
    """
    Make the set anew from the results that are there, of all papers or of those named; what is missing is listed as absent.

    Results of papers that are not named stay as they are, where the set shows them. AuditError if one of the results here is
    not what its settings, code and data would give; the set that was there then stays.
    """
    listing = read_listing(STAGES)
    for name in (name for name in papers if name not in listing.papers):
        raise DataError(f"no paper is called {name!r}: there are {', '.join(listing.papers)}")
    asked = [target for name in papers or listing.papers for target in listing.papers[name].results]
    old = _earlier_results([target for target in listing.targets if target not in asked])
    records = job_records.find_records()
    chains = {target: walk([target], records) for target in asked if Path(target).is_file()}
    _check(walk(chains, records), records, config)
    with TemporaryDirectory(dir=REFERENCE.parent, prefix=REFERENCE.name) as beside:
        folder = Path(beside)
        entries = {target: _entry_of(target, chain, _write_files(target, chain, folder)) for target, chain in chains.items()}
        for name in (name for entry in old["results"].values() for name in entry["files"]):
            shutil.copyfile(REFERENCE / name, folder / name)
        entries |= old["results"]
        absent = {target: NOT_RUN if target in asked else NOT_ASKED for target in listing.targets if target not in entries}
        manifest = {"results": entries, "absent": absent | listing.absent, **_made_from(entries, chains, old)}
        (folder / PAGE).write_text(_page_of(listing, manifest, config))
        manifest["page"] = digest(folder / PAGE)
        (folder / MANIFEST).write_text(without_places(json.dumps(manifest, indent=1, sort_keys=True)) + "\n")
        shutil.rmtree(REFERENCE, ignore_errors=True)
        shutil.copytree(folder, REFERENCE)
    return manifest


def _earlier_results(targets: Sequence[str]) -> Manifest:
    """What the set that is there says of some of its results; an error if one of their files is not as it says."""
    if not (REFERENCE / MANIFEST).exists():
        return {"results": {}, "jobs": {}, "data": {}}
    old = read_manifest(REFERENCE / MANIFEST)
    entries = {target: old["results"][target] for target in targets if target in old["results"]}
    for name, value in ((name, value) for entry in entries.values() for name, value in entry["files"].items()):
        if not (REFERENCE / name).is_file() or digest(REFERENCE / name) != value:
            raise DataError(f"{REFERENCE / name}: not as {MANIFEST} says, so it cannot stay. Make its paper again, too")
    return {**old, "results": entries}


def _made_from(entries: Mapping[str, Entry], chains: Mapping[str, Chain], old: Manifest) -> dict[str, dict[str, Any]]:
    """The jobs and the raw files that the results share."""
    known: dict[str, dict[str, Any]] = {"jobs": {}, "data": {}}
    for chain in chains.values():
        known["jobs"] |= _jobs_of(chain)
        known["data"] |= _data_of(chain)
    # what a result that stays was made from; what it shares with the others must be the same
    for target, part in product(sorted(entries.keys() - chains.keys()), known):
        for name in entries[target][part]:
            if known[part].setdefault(name, old[part][name]) != old[part][name]:
                raise DataError(f"{target} was made from another {name} than the results here: make its paper again, too")
    return known


def _check(chain: Chain, records: job_records.Records, config: Config) -> None:
    """Every job as recorded, with the settings and the code of today; and nothing but synthetic data and listed sources."""
    for refuse in registered("private"):
        refuse(config)
    sources = read_sources()
    for path in (path for path in chain.raw if not sources.get(path)):
        raise DataError(f"{path}: not in {SOURCES}, and a reference set is made from the files listed there only")
    for _ in check_chain(chain, records, config):
        pass


def _write_files(target: str, chain: Chain, folder: Path) -> dict[str, str]:
    """The files that show a result, with their digests: a figure as a picture, a table as CSV and Markdown."""
    source = Path(target)
    if source.suffix == FIGURE:
        written = [folder / f"{source.stem}.png"]
        from genverify.report.figures import write_smaller  # Snakemake reads this module at its start, and draws nothing

        write_smaller(source.with_suffix(".png"), written[0])
    else:
        written = [folder / source.name, folder / f"{source.stem}.md"]
        shutil.copyfile(source, written[0])
        readable = source.with_suffix(".md")
        is_source = str(readable) in chain.results[target].outputs
        written[1].write_text(readable.read_text() if is_source else csv_page(source, _data_in_words(_seed_of(chain))))
    return {path.name: digest(path) for path in written}


def csv_page(source: Path, label: str) -> str:
    """A table that has no readable form of its own; a column `data` is the same in every row and goes into the heading."""
    frame = pd.read_csv(source)
    if "data" in frame and len(frame):
        label = str(frame["data"].iloc[0])
        frame = frame.drop(columns="data")
    return document(source.stem, label, [markdown_table(list(frame), frame.astype(object).to_numpy().tolist())])


# Whether a reference set is whole and current: its files, today's settings, data and code, and the results here.

SETTINGS, DATA, CODE, RESULT = "settings", "data", "code", "result"
# a change of code may change nothing that is shown, as a docstring does: it is told, and is no error
OUTDATED = (SETTINGS, DATA, RESULT)


class _Finding(NamedTuple):
    """What has changed since a result was put into the set: its target, the kind of change, and the change in words."""

    target: str
    kind: str
    text: str


def altered_files(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Files of the set that are missing, not as the manifest says, or not in it."""
    listed = {PAGE: manifest["page"]}
    for entry in manifest["results"].values():
        listed |= entry["files"]
    now = {str(path.relative_to(folder)): digest(path) for path in folder_files(folder) if path.name != MANIFEST}
    for name in (*sorted(listed), *sorted(now.keys() - listed)):
        if now.get(name) != listed.get(name):
            yield f"{folder / name}: {differs(now.get(name), listed.get(name), str(folder / MANIFEST))}"


def unlisted_targets(manifest: Manifest, listing: Listing) -> Iterator[str]:
    """Targets that the set should hold, or say why not, and does neither; and those that it need not know of."""
    known = {**manifest["results"], **manifest["absent"]}
    wanted = [*listing.targets, *listing.absent]
    yield from (f"{target}: neither in the set nor listed as absent" for target in wanted if target not in known)
    unknown = [target for target in known if target not in wanted]
    yield from (f"{target}: shown or absent, though the listing does not name it" for target in unknown)


def changes(manifest: Manifest, config: Config) -> list[_Finding]:
    """What has changed since the set was made, without a run or results: settings, raw data and code of every job."""
    by_job = _changed_jobs(manifest["jobs"], config)
    data = {path: text for path, value in manifest["data"].items() if (text := _changed_file(path, value))}
    findings = []
    for target, entry in manifest["results"].items():
        changed = [change for name in entry["jobs"] for change in by_job[name]]
        changed += [(DATA, data[path]) for path in entry["data"] if path in data]
        findings += [_Finding(target, *change) for change in dict.fromkeys(changed)]
    return findings


def _changed_jobs(jobs: Mapping[str, Any], config: Config) -> dict[str, list[tuple[str, str]]]:
    stages = Stages(stage_paths(), config)
    result: dict[str, list[tuple[str, str]]] = {}
    for name, job in jobs.items():
        if job["rule"] not in stages.rules:
            result[name] = [(CODE, f"rule {job['rule']} is gone")]
            continue
        try:
            changed = list(job_records.changed_settings(stages, job["rule"], job["settings"], job["wildcards"]))
            result[name] = [(SETTINGS, f"{setting} was {was}, is {is_}") for setting, was, is_ in changed]
        except job_records.UNKNOWN as error:
            result[name] = [(SETTINGS, f"settings of {name} are gone ({error})")]
        if job["code"] != _code_now(job["rule"]):
            result[name].append((CODE, job["rule"]))
    return result


def _code_now(rule: str) -> str | None:
    script = script_of(rule)
    return code_digest(script) if script.is_file() else None


def _changed_file(path: str, recorded: str) -> str | None:
    now = digest(Path(path)) if Path(path).exists() else None
    return None if now == recorded else f"{path} {'is gone' if now is None else 'has changed'}"


def _with_results(findings: Sequence[_Finding], manifest: Manifest) -> list[_Finding]:
    """
    The findings beside the results that are here, made with the settings and data of the set: another result is one more;
    if today's code gave what the set shows, its change does not matter.
    """
    records, result = job_records.find_records(), list(findings)
    for target, entry in manifest["results"].items():
        try:
            chain = walk([target], records)
        except AuditError:
            continue
        known = {path: manifest["data"][path] for path in entry["data"]}
        if _entry_of(target, chain, {})["settings"] != entry["settings"] or _data_of(chain) != known:
            continue
        other = [path for path, value in entry["sources"].items() if _changed_file(path, value)]
        with TemporaryDirectory() as folder:
            redrawn = {} if other else _write_files(target, chain, Path(folder))
        altered = [name for name, value in entry["files"].items() if redrawn.get(name) != value]
        if other:
            result.append(_Finding(target, RESULT, f"{other[0]} here is another, made with the same settings and data"))
        elif altered:
            result.append(_Finding(target, RESULT, f"{altered[0]} of the set is not what {target} here gives"))
        elif all(job.params.get(job_records.CODE) == _code_now(job.rule) for job in chain.jobs):
            result = [finding for finding in result if (finding.target, finding.kind) != (target, CODE)]
    return result


# The command `reference`, and where this repository keeps the set.

REMEDY = "Make the set again: snakemake reference"


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("reference")
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--check", action="store_true", help="say whether it is whole and current (what is done by default)")
    asked.add_argument("--write", nargs="*", metavar="PAPER",
                       help="make it from the results here, of all or of the named papers (the others stay)")  # fmt: skip
    parser.add_argument("--configfile", nargs="+", action="extend", type=Path, default=[], metavar="FILE",
                        help="laid over config.yaml, as for Snakemake")  # fmt: skip
    parser.set_defaults(run=_reference)


def _reference(options: argparse.Namespace) -> None:
    config = read_config(options.configfile)
    lines = check_lines(config) if options.write is None else write_lines(config, options.write)
    for line in lines:
        print(line, flush=True)


def write_lines(config: Config, papers: Sequence[str] = ()) -> Iterator[str]:
    """Make the set, and say what is in it."""
    manifest = write_reference(config, papers)
    size = sum(path.stat().st_size for path in REFERENCE.iterdir())
    yield f"{REFERENCE}: {_in_words(manifest)}, {size / 1e6:.1f} MB"
    yield from (f"absent: {target}: {reason}" for target, reason in sorted(manifest["absent"].items()))


def _in_words(manifest: Manifest) -> str:
    """How many figures and tables."""
    kinds = Counter(Path(target).suffix for target in manifest["results"])
    return f"figures {kinds[FIGURE]}, tables {kinds[TABLE]}"


def check_lines(config: Config, strict: bool = False) -> Iterator[str]:
    """What is not whole or not of today's settings and data, an error at the end. `strict`: the page's words, too."""
    manifest, listing = read_manifest(REFERENCE / MANIFEST), read_listing(STAGES)
    wrong = [*altered_files(REFERENCE, manifest), *unlisted_targets(manifest, listing)]
    yield from wrong
    findings = _with_results(changes(manifest, config), manifest)
    outdated = [finding for finding in findings if finding.kind in OUTDATED]
    yield from _by_target("out of date", outdated)
    if not wrong and _page_of(listing, manifest, config) != (REFERENCE / PAGE).read_text():
        outdated += [_Finding(PAGE, RESULT, "")] if strict else []
        yield f"{REFERENCE / PAGE}: not what {MANIFEST}, the captions and the settings of today give"
    code = [finding for finding in findings if finding.kind not in OUTDATED]
    yield from _by_target("code has changed since, and only a run can say whether it matters", code)
    yield f"{REFERENCE}: {_in_words(manifest)}, absent {len(manifest['absent'])}"
    if wrong or outdated:
        raise DataError(f"{REFERENCE}: not whole or out of date, as listed above. {REMEDY}")
    yield "whole, and of the settings and data of today"


def _by_target(what: str, findings: Sequence[_Finding]) -> Iterator[str]:
    """A line for each result, with all that was found about it."""
    for target in dict.fromkeys(finding.target for finding in findings):
        yield f"{what}: {target}: {'; '.join(finding.text for finding in findings if finding.target == target)}"
