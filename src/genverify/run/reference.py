"""A reference set: every figure and table of the papers with its caption, made small; a page, a manifest, their check."""

import argparse
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, product
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
from genverify.run.code import code_digest, find_script
from genverify.run.config import Config
from genverify.run.jobs import digest, folder_files
from genverify.run.layout import REFERENCE, STAGES
from genverify.run.provenance import records as job_records
from genverify.run.provenance.audit import Checks, differs, digest_files, files_of, read_config, read_listed, repository
from genverify.run.provenance.records import AuditError, Chain, Layout, Record, Records, Stages, walk, without_places
from genverify.run.registry import registered

# What the reference set is to hold: the results of each paper with their captions, and what is left out with a reason.

FIGURE, TABLE = ".pdf", ".csv"
FILE = "reference.yaml"


class Part(Section):
    """What the folder of a study lists: title and order of a paper, its targets with their captions; what is left out."""

    order: int = 0
    title: str = ""
    results: dict[str, str] = Field(default_factory=dict)
    absent: dict[str, str] = Field(default_factory=dict)


class Listing(NamedTuple):
    """The papers by their names, all their targets, and the targets that are left out, each with a reason."""

    papers: dict[str, Part]
    targets: list[str]
    absent: dict[str, str]


def read_listing(stages: Path) -> Listing:
    """The listings of a folder and of those of its studies; every target is a figure or a table, and stands in them once."""
    parts = {path.parent.name: _part(path) for path in sorted(stages.rglob(FILE))}
    papers = sorted((name for name, part in parts.items() if part.results), key=lambda name: (parts[name].order, name))
    targets = [target for name in papers for target in parts[name].results]
    absent = [item for part in parts.values() for item in part.absent.items()]
    # a result is stored by its name alone; what is absent is stored nowhere, so that a table may have its name
    names = Counter(Path(target).stem for target in targets) + Counter([*targets, *(target for target, _ in absent)])
    for name in (name for name, times in names.items() if times > 1):
        raise DataError(f"{stages}: {name} is duplicated in the files {FILE}: name each result once")
    return Listing({name: parts[name] for name in papers}, targets, dict(absent))


def _part(path: Path) -> Part:
    part = validate(Part, read_yaml(path), str(path))
    for target in part.results:
        if Path(target).suffix not in (FIGURE, TABLE):
            raise DataError(f"{path}: {target}: neither a figure ({FIGURE}) nor a table ({TABLE})")
    if part.results and not part.title:
        raise DataError(f"{path}: setting title is missing: the name of the paper whose results are shown")
    return part


# The manifest of a reference set: what each file was made from, as the job records say; no times, places or versions.

MANIFEST, PAGE = "manifest.json", "README.md"
SEED = "seed"
Manifest = dict[str, Any]
Entry = dict[str, Any]


def _entry_of(target: str, chain: Chain, files: Mapping[str, str]) -> Entry:
    """What the manifest says of one result: digests of its files, sources, inputs and raw data, of all settings and code."""
    jobs, record = jobs_of(chain), chain.results[target]
    parts = {part: {name: job[part] for name, job in jobs.items()} for part in ("settings", "code")}
    return {
        "rule": record.rule, "files": dict(files), "sources": sources_of(target, record), "seed": _seed_of(chain),
        "jobs": sorted(jobs), "data": list(chain.raw), "inputs": dict(record.inputs),
        **{part: job_records.json_digest(values)[:16] for part, values in parts.items()},
    }  # fmt: skip


def sources_of(target: str, record: Record) -> dict[str, str]:
    """The outputs of the job that go by the name of the target."""
    name = Path(target).with_suffix("")
    return {path: value for path, value in record.outputs.items() if Path(path).with_suffix("") == name}


def jobs_of(chain: Chain) -> dict[str, dict[str, Any]]:
    """The jobs of a chain, batches as one: rule, wildcards, settings and the digest of the code."""
    result: dict[str, dict[str, Any]] = {}
    for job in chain.jobs:
        wildcards = {name: value for name, value in sorted(job.wildcards.items()) if name != job_records.FOLDED}
        name = " ".join([job.rule, *(f"{key}={value}" for key, value in wildcards.items())])
        code = job.params.get(job_records.CODE)
        result[name] = {"rule": job.rule, "wildcards": wildcards, "settings": job_records.settings_in(job), "code": code}
    return result


def _seed_of(chain: Chain) -> int | None:
    """The seed of the jobs, the same for all; None where nothing was drawn at random."""
    return next((int(job.params[SEED]) for job in chain.jobs if SEED in job.params), None)


def _data_of(chain: Chain) -> dict[str, str]:
    """SHA-256 of the raw files of a chain."""
    return {path: value for job in chain.jobs for path, value in job.inputs.items() if path in chain.raw}


def manifest_of(entries: Mapping[str, Entry], chains: Mapping[str, Chain], absent: Mapping[str, str], page: str,
                old: Manifest) -> Manifest:  # fmt: skip
    """All of it: the results, what is absent and why, the jobs and the raw files that the results share."""
    jobs = {name: job for chain in chains.values() for name, job in jobs_of(chain).items()}
    data = {path: value for chain in chains.values() for path, value in _data_of(chain).items()}
    known: dict[str, dict[str, Any]] = {"jobs": jobs, "data": data}
    # what a result that stays was made from; what it shares with the others must be the same
    for target, part in product(sorted(entries.keys() - chains.keys()), known):
        for name in entries[target][part]:
            if known[part].setdefault(name, old[part][name]) != old[part][name]:
                raise DataError(f"{target} was made from another {name} than the results here: make its paper again, too")
    return {"page": page, "results": dict(entries), "absent": dict(absent), **known}


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


def _page_of(
    listing: Listing, entries: Mapping[str, Entry], wildcards: Mapping[str, Mapping[str, str]], absent: Mapping[str, str],
    config: Config,
) -> str:  # fmt: skip
    """The page as Markdown, with the captions as they are filled in with the settings of today."""
    study, parts = config.model_dump(), [INTRODUCTION]
    for paper in listing.papers.values():
        parts.append(f"## {paper.title}")
        for target, name in paper.results.items():
            if target in entries:
                parts += _section(target, entries[target], caption(STAGES, name, wildcards[target], study, target))
            else:
                parts.append(f"`{target}`: {absent[target]}.")
    parts += ["## Left out", bullets(f"`{target}`: {reason}" for target, reason in listing.absent.items())]
    rows = [[f"`{text}`" for text in (target, path, value, entry["settings"], entry["code"])]
            for target, entry in entries.items() for path, value in sorted(entry["sources"].items())]  # fmt: skip
    parts += [DIGESTS, markdown_table(["target", "source", "SHA-256", "settings", "code"], rows, left=5)]
    return "\n\n".join(parts) + "\n"


def _section(target: str, entry: Entry, caption: str) -> list[str]:
    """A figure as an image, a table as links to it; below it the caption, the data and the target."""
    name, data = Path(target).stem, _data_in_words(entry["seed"])
    table = f"[{name}.md]({name}.md), [{name}.csv]({name}.csv)"
    shown = f"![{name}, {data}]({name}.png)" if Path(target).suffix == FIGURE else table
    return [f"### {name}", shown, f"{caption} *{data.capitalize()}.* `snakemake {target}`"]


def _data_in_words(seed: int | None) -> str:
    """
    Which data a result shows: whatever depends on a seed was drawn at random.

    >>> _data_in_words(1), _data_in_words(None)
    ('synthetic data, seed 1', 'no microdata: nothing drawn at random')
    """
    return "no microdata: nothing drawn at random" if seed is None else f"synthetic data, seed {seed}"


# Writing of a reference set: results that the audit finds in order, made small, with a page and a manifest.

NOT_RUN, NOT_ASKED = "not run", "not asked for"


def write_reference(layout: Layout, config: Config, papers: Sequence[str] = ()) -> dict[str, Entry]:
    """
    Make the set anew from the results that are there, of all papers or of those named; what is missing is listed as absent.

    Results of papers that are not named stay as they are, where the set shows them. AuditError if one of the results here is
    not what its settings, code and data would give; the set that was there then stays.
    """
    listing = read_listing(STAGES)
    absent = _absent_of(listing, papers)
    present = [target for target in listing.targets if target not in absent]
    old = _earlier_results([target for target, reason in absent.items() if reason == NOT_ASKED])
    absent = {target: reason for target, reason in absent.items() if target not in old["results"]}
    records = job_records.find_records(layout.made)
    _check(walk(present, records), records, layout, config)
    chains = {target: walk([target], records) for target in present}
    with TemporaryDirectory(dir=REFERENCE.parent, prefix=REFERENCE.name) as beside:
        folder = Path(beside)
        entries = {target: _entry_of(target, chain, _write_files(target, chain, folder)) for target, chain in chains.items()}
        for name in (name for entry in old["results"].values() for name in entry["files"]):
            shutil.copyfile(REFERENCE / name, folder / name)
        entries |= old["results"]
        entries = {target: entries[target] for target in listing.targets if target in entries}
        wildcards = {target: chain.results[target].wildcards for target, chain in chains.items()}
        wildcards |= {target: _wildcards(old, target) for target in old["results"]}
        (folder / PAGE).write_text(_page_of(listing, entries, wildcards, absent, config))
        manifest = manifest_of(entries, chains, {**absent, **listing.absent}, digest(folder / PAGE), old)
        (folder / MANIFEST).write_text(without_places(json.dumps(manifest, indent=1, sort_keys=True)) + "\n")
        shutil.rmtree(REFERENCE, ignore_errors=True)
        REFERENCE.mkdir()
        for path in folder.iterdir():
            shutil.copyfile(path, REFERENCE / path.name)
    return entries


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


def _wildcards(manifest: Manifest, target: str) -> dict[str, str]:
    entry = manifest["results"][target]
    made = [job for job in (manifest["jobs"][name] for name in entry["jobs"]) if job["rule"] == entry["rule"]]
    return dict(made[0]["wildcards"])


def _is_page_current(manifest: Manifest, config: Config) -> bool:
    """Whether the page says what the manifest, the listing and the captions give, whatever the order of what is left out."""
    listing, known = read_listing(STAGES), manifest["results"]
    entries = {target: known[target] for target in listing.targets if target in known}
    absent = {target: reason for target, reason in manifest["absent"].items() if target not in listing.absent}
    wildcards = {target: _wildcards(manifest, target) for target in entries}
    page = _page_of(listing, entries, wildcards, absent, config)
    return _lists_sorted(page) == _lists_sorted((REFERENCE / PAGE).read_text())


def _lists_sorted(page: str) -> list[str]:
    runs = groupby(page.splitlines(keepends=True), key=lambda line: line.startswith("- "))
    return [line for is_list, lines in runs for line in (sorted(lines) if is_list else lines)]


def _absent_of(listing: Listing, papers: Sequence[str]) -> dict[str, str]:
    """The targets that are not shown, and why: their paper was not asked for, or they are not there."""
    for name in papers:
        if name not in listing.papers:
            raise DataError(f"no paper is called {name!r}: there are {', '.join(listing.papers)}")
    asked = [target for name in papers or listing.papers for target in listing.papers[name].results]
    reasons = {target: NOT_RUN if target in asked else NOT_ASKED for target in listing.targets}
    return {target: reason for target, reason in reasons.items() if reason == NOT_ASKED or not Path(target).is_file()}


def _check(chain: Chain, records: Records, layout: Layout, config: Config) -> None:
    """Every job as recorded, with the settings and the code of today; and nothing but synthetic data and listed sources."""
    listed = read_listed(layout.sources)
    for refuse in registered("private"):
        refuse(config)
    for path in chain.raw:
        if path not in listed:
            raise DataError(f"{path}: not in {layout.sources}, and a reference set is made from the files listed there only")
    now, stages = digest_files(files_of(chain, layout)), Stages(layout.stages, config)
    checks = Checks(layout, records, stages, listed, now, job_records.read_lock(layout.lock))
    for record in chain.jobs:
        checks.check(record)


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
        is_source = str(readable) in sources_of(target, chain.results[target])
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


class Finding(NamedTuple):
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


def changes(manifest: Manifest, layout: Layout, config: Config) -> list[Finding]:
    """What has changed since the set was made, without a run or results: settings, raw data and code of every job."""
    by_job = _changed_jobs(manifest["jobs"], layout, config)
    data = {path: text for path, value in manifest["data"].items() if (text := _changed_file(path, value))}
    findings = []
    for target, entry in manifest["results"].items():
        changed = [change for name in entry["jobs"] for change in by_job[name]]
        changed += [(DATA, data[path]) for path in entry["data"] if path in data]
        findings += [Finding(target, *change) for change in dict.fromkeys(changed)]
    return findings


def _changed_jobs(jobs: Mapping[str, Any], layout: Layout, config: Config) -> dict[str, list[tuple[str, str]]]:
    stages = Stages(layout.stages, config)
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
        if job["code"] != _code_now(layout, job["rule"]):
            result[name].append((CODE, job["rule"]))
    return result


def _code_now(layout: Layout, rule: str) -> str | None:
    script = find_script(Path.cwd() / layout.scripts, rule)
    return code_digest(script) if script.is_file() else None


def _changed_file(path: str, recorded: str) -> str | None:
    now = digest(Path(path)) if Path(path).exists() else None
    return None if now == recorded else f"{path} {'is gone' if now is None else 'has changed'}"


def _with_results(findings: Sequence[Finding], manifest: Manifest, layout: Layout) -> list[Finding]:
    """
    The findings beside the results that are here, made with the settings and data of the set: another result is one more;
    if today's code gave what the set shows, its change does not matter.
    """
    records, result = job_records.find_records(layout.made), list(findings)
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
            result.append(Finding(target, RESULT, f"{other[0]} here is another, made with the same settings and data"))
        elif altered:
            result.append(Finding(target, RESULT, f"{altered[0]} of the set is not what {target} here gives"))
        elif all(job.params.get(job_records.CODE) == _code_now(layout, job.rule) for job in chain.jobs):
            result = [finding for finding in result if (finding.target, finding.kind) != (target, CODE)]
    return result


# The command `reference`, and where this repository keeps the set.

REMEDY = "Make the set again: snakemake reference"


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("reference", help="check, without a run, whether docs/reference is current; or make it")
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
    entries = write_reference(repository(), config, papers)
    size = sum(path.stat().st_size for path in REFERENCE.iterdir())
    yield f"{REFERENCE}: {in_words(entries)}, {size / 1e6:.1f} MB"
    for target, reason in read_manifest(REFERENCE / MANIFEST)["absent"].items():
        yield f"absent: {target}: {reason}"


def in_words(entries: Mapping[str, Entry]) -> str:
    """
    How many figures and tables.

    >>> in_words({"figures/a.pdf": {}, "results/tables/b.csv": {}, "results/tables/c.csv": {}})
    'figures 1, tables 2'
    """
    kinds = Counter(Path(target).suffix for target in entries)
    return f"figures {kinds[FIGURE]}, tables {kinds[TABLE]}"


def check_lines(config: Config, strict: bool = False) -> Iterator[str]:
    """What is not whole or not of today's settings and data, an error at the end. `strict`: the page's words, too."""
    manifest = read_manifest(REFERENCE / MANIFEST)
    wrong = [*altered_files(REFERENCE, manifest), *unlisted_targets(manifest, read_listing(STAGES))]
    yield from wrong
    layout = repository()
    findings = _with_results(changes(manifest, layout, config), manifest, layout)
    outdated = [finding for finding in findings if finding.kind in OUTDATED]
    yield from (f"out of date: {line}" for line in _by_target(outdated))
    if not wrong and not _is_page_current(manifest, config):
        outdated += [Finding(PAGE, RESULT, "")] if strict else []
        yield f"{REFERENCE / PAGE}: not what {MANIFEST}, the captions and the settings of today give"
    code = _by_target([finding for finding in findings if finding.kind not in OUTDATED])
    yield from (f"code has changed since, and only a run can say whether it matters: {line}" for line in code)
    yield f"{REFERENCE}: {in_words(manifest['results'])}, absent {len(manifest['absent'])}"
    if wrong or outdated:
        raise DataError(f"{REFERENCE}: not whole or out of date, as listed above. {REMEDY}")
    yield "whole, and of the settings and data of today"


def _by_target(findings: Sequence[Finding]) -> list[str]:
    """
    A line for each result, with all that was found about it.

    >>> _by_target([Finding("figures/a.pdf", "code", "plot_a"), Finding("figures/a.pdf", "code", "draw")])
    ['figures/a.pdf: plot_a; draw']
    """
    texts = {finding.target: list[str]() for finding in findings}
    for finding in findings:
        texts[finding.target].append(finding.text)
    return [f"{target}: {'; '.join(changed)}" for target, changed in texts.items()]
