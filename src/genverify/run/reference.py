"""Writing of a reference set: results that the audit finds in order, made small, with a page and a manifest."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from genverify.core.errors import DataError
from genverify.run.jobs import digest
from genverify.run.provenance.chain import Chain, walk
from genverify.run.provenance.checks import Checks, digest_files, files_of, read_listed
from genverify.run.provenance.installed import read_lock
from genverify.run.provenance.layout import Layout
from genverify.run.provenance.records import Records, find_records
from genverify.run.provenance.stages import read_stages
from genverify.run.reference.captions import Captions, caption
from genverify.run.reference.listing import FIGURE, Listing, read_listing
from genverify.run.reference.manifest import (
    MANIFEST,
    PAGE,
    Entry,
    Manifest,
    entry_of,
    manifest_of,
    read_manifest,
    seed_of,
    sources_of,
    write_manifest,
)
from genverify.run.reference.page import data_in_words, reference_page
from genverify.run.registry import registered
from genverify.run.settings import Config
from genverify.show.markdown import document, markdown_table
from genverify.show.smaller import write_smaller

NOT_RUN, NOT_ASKED = "not run", "not asked for"


@dataclass(frozen=True)
class Place:
    """Where a reference set lies, what it is to hold, and the captions."""

    folder: Path
    listing: Path
    captions: Captions


def write_reference(place: Place, layout: Layout, config: Config, papers: Sequence[str] = ()) -> dict[str, Entry]:
    """
    Make the set anew from the results that are there, of all papers or of those named; what is missing is listed as absent.

    Results of papers that are not named stay as they are, where the set shows them. AuditError if one of the results here is
    not what its settings, code and data would give; the set that was there then stays.
    """
    listing = read_listing(place.listing)
    absent = absent_of(listing, papers)
    present = [target for target in listing.targets if target not in absent]
    kept = kept_of(place.folder, [target for target, reason in absent.items() if reason == NOT_ASKED])
    absent = {target: reason for target, reason in absent.items() if target not in kept["results"]}
    records = find_records(layout.made)
    _check(walk(present, records), records, layout, config)
    chains = {target: walk([target], records) for target in present}
    with TemporaryDirectory(dir=place.folder.parent, prefix=place.folder.name) as beside:
        entries = _write(Path(beside), place, listing, chains, absent, config, kept)
        shutil.rmtree(place.folder, ignore_errors=True)
        place.folder.mkdir()
        for path in Path(beside).iterdir():
            shutil.copyfile(path, place.folder / path.name)
    return entries


def kept_of(folder: Path, targets: Sequence[str]) -> Manifest:
    """What the set that is there says of some of its results; an error if one of their files is not as it says."""
    if not (folder / MANIFEST).exists():
        return {"results": {}, "jobs": {}, "data": {}}
    old = read_manifest(folder / MANIFEST)
    kept = {target: old["results"][target] for target in targets if target in old["results"]}
    for name, value in ((name, value) for entry in kept.values() for name, value in entry["files"].items()):
        if not (folder / name).is_file() or digest(folder / name) != value:
            raise DataError(f"{folder / name}: not as {MANIFEST} says, so it cannot stay. Make its paper again, too")
    return {**old, "results": kept}


def _wildcards(kept: Manifest, target: str) -> dict[str, str]:
    """Those of the job that made a result."""
    entry = kept["results"][target]
    made = [job for job in (kept["jobs"][name] for name in entry["jobs"]) if job["rule"] == entry["rule"]]
    return dict(made[0]["wildcards"])


def _write(
    folder: Path,
    place: Place,
    listing: Listing,
    chains: Mapping[str, Chain],
    absent: Mapping[str, str],
    config: Config,
    kept: Manifest,
) -> dict[str, Entry]:
    study = config.model_dump()
    named = {target: name for paper in listing.papers.values() for target, name in paper.results.items()}
    wildcards = {target: chain.results[target].wildcards for target, chain in chains.items()}
    wildcards |= {target: _wildcards(kept, target) for target in kept["results"]}
    captions = {target: caption(place.captions, named[target], own, study, target) for target, own in wildcards.items()}
    entries = {target: entry_of(target, chain, _write_files(target, chain, folder)) for target, chain in chains.items()}
    for target, entry in kept["results"].items():
        for name in entry["files"]:
            shutil.copyfile(place.folder / name, folder / name)
        entries[target] = entry
    entries = {target: entries[target] for target in listing.targets if target in entries}
    (folder / PAGE).write_text(reference_page(listing, entries, captions, absent))
    manifest = manifest_of(entries, chains, {**absent, **listing.absent}, digest(folder / PAGE), kept)
    write_manifest(manifest, folder / MANIFEST)
    return entries


def absent_of(listing: Listing, papers: Sequence[str]) -> dict[str, str]:
    """The targets that are not shown, and why: their paper was not asked for, or they are not there."""
    unknown = [name for name in papers if name not in listing.papers]
    if unknown:
        raise DataError(f"no paper is called {unknown[0]!r}: there are {', '.join(listing.papers)}")
    asked = [target for name in papers or listing.papers for target in listing.papers[name].results]
    found: dict[str, str] = {}
    for target in listing.targets:
        if target not in asked:
            found[target] = NOT_ASKED
        elif not Path(target).is_file():
            found[target] = NOT_RUN
    return found


def _check(chain: Chain, records: Records, layout: Layout, config: Config) -> None:
    """Every job as recorded, with the settings and the code of today; and nothing but synthetic data and listed sources."""
    listed = read_listed(layout.sources)
    for refuse in registered("private"):
        refuse(config)
    other = [path for path in chain.raw if path not in listed]
    if other:
        raise DataError(f"{other[0]}: not in {layout.sources}, and a reference set is made from the files listed there only")
    now, stages = digest_files(files_of(chain, layout)), read_stages(layout.stages)
    checks = Checks(layout, config, records, stages, listed, now, read_lock(layout.lock))
    for record in chain.jobs:
        checks.check(record)


def _write_files(target: str, chain: Chain, folder: Path) -> dict[str, str]:
    """The files that show a result, with their digests: a figure as a picture, a table as CSV and Markdown."""
    source = Path(target)
    if source.suffix == FIGURE:
        written = [folder / f"{source.stem}.png"]
        write_smaller(source.with_suffix(".png"), written[0])
    else:
        written = [folder / source.name, folder / f"{source.stem}.md"]
        shutil.copyfile(source, written[0])
        readable = source.with_suffix(".md")
        own = str(readable) in sources_of(target, chain.results[target])
        written[1].write_text(readable.read_text() if own else csv_page(source, data_in_words(seed_of(chain))))
    return {path.name: digest(path) for path in written}


def csv_page(source: Path, label: str) -> str:
    """A table that has no readable form of its own; a column `data` is the same in every row and goes into the heading."""
    frame = pd.read_csv(source)
    if "data" in frame and len(frame):
        label = str(frame["data"].iloc[0])
        frame = frame.drop(columns="data")
    return document(source.stem, label, [markdown_table(list(frame), frame.astype(object).to_numpy().tolist())])
