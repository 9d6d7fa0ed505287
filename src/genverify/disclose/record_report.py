"""The files of an audit and of a what-if, written to one folder."""

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from genverify.checker.file import write_proofs
from genverify.checker.stored import checked_blocks
from genverify.core.csvtext import neutral_frame
from genverify.core.errors import DataError
from genverify.core.extras import MissingExtra, naming_missing_extras
from genverify.core.files import read_json
from genverify.core.limits import UNREADABLE
from genverify.core.release import ranges_frame, read_schema, write_schema
from genverify.core.tablefile import CSV, PARQUET, read_frame, table_file, write_frame
from genverify.core.timing import log, progress
from genverify.disclosure.audit import Attack, Audit, audit
from genverify.disclosure.describe import Described
from genverify.disclosure.report import report, said_left
from genverify.disclosure.riskiest import riskiest_cells
from genverify.disclosure.whatif import what_if
from genverify.disclosure.withhold import Search, Step, left_without, search_cells

SEARCH = "search.json"
CLAIM_FILES = (f"claims{PARQUET}", f"claims{CSV}")


def write_audit(
    described: Described, attack: Attack, folder: Path, say: Callable[[Audit], None] = lambda found: None
) -> tuple[Audit, Search]:
    """Audit a release, say what was found, then write claims, ranges, cells, what to withhold, proofs, and the report."""
    found = audit(described, attack, lambda releases: progress(releases, "areas"))
    say(found)
    how = described.form.search
    search = search_cells(found.verified, attack, how.k, how.cells, how.seconds)
    write_results(found, search, folder)
    return found, search


def write_results(found: Audit, search: Search, folder: Path) -> None:
    """
    All files of an audit; the same audit gives the same bytes. Claims are listed only where the release file says that they
    may be shown; else they are counted.
    """
    described = found.described
    cells = riskiest_cells(described.releases, found.proofs)
    for part in ("release", "proofs"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    write_schema(described.schema, folder / "release" / "schema.json")
    write_frame(ranges_frame(described.releases), folder / "release", "000")
    write_proofs(found.proofs, folder / "proofs" / "000.jsonl.gz")
    if described.form.show_claims:
        write_frame(found.claims, folder, "claims")
    neutral_frame(_in_texts(found) if described.form.show_claims else _counted(found)).to_csv(
        folder / "claims.csv", index=False
    )
    neutral_frame(found.ranges).to_csv(folder / "ranges.csv", index=False)
    found.people.to_csv(folder / "people.csv", index=False)
    neutral_frame(cells).to_csv(folder / "cells.csv", index=False)
    steps = [(step.block, step.cell, step.label, said_left(step)) for step in search.steps]
    withheld = pd.DataFrame(steps, columns=["block", "cell", "label", "claims_left"])
    neutral_frame(withheld).to_csv(folder / "withhold.csv", index=False)
    (folder / "report.html").write_text(report(found, cells, search), encoding="utf-8")
    (folder / SEARCH).write_text(json.dumps(asdict(search), indent=1) + "\n", encoding="utf-8")


def check_audit(described: Described, attack: Attack, folder: Path) -> Iterator[str]:
    """
    Check a folder of results against the release that it is about: the proofs without a solver; then everything is made
    again and compared. The cells to withhold come from a search with a limit in seconds: they are taken as stored, and how
    many claims are left without them is seen again.
    """
    if not (folder / SEARCH).is_file():
        raise DataError(f"{folder}: holds no results of a release file ({SEARCH} is missing)")
    search = _stored_search(folder / SEARCH)
    schema = read_schema(folder / "release" / "schema.json")
    checked = list(checked_blocks(table_file(folder / "release", "000"), folder / "proofs" / "000.jsonl.gz", schema))
    claims, proofs = (sum(getattr(block.checked, name) for block in checked) for name in ("claims", "proofs"))
    yield f"{len(checked)} areas, {claims} claims, {proofs} proofs: all right"
    found = audit(described, attack, lambda releases: progress(releases, "areas"))
    known = {(release.block, query.id) for release in described.releases for query in release.queries}
    if not {(step.block, step.cell) for step in search.steps} <= known or search.k != described.form.search.k:
        raise DataError(f"{folder / SEARCH}: about other cells or claims than those of the release; make the results again")
    with TemporaryDirectory() as home:
        write_results(found, search, Path(home))
        _compare(folder, Path(home))
    if left_without(found.verified, attack, search.k, search.steps) != (search.before, search.left, search.undecided):
        raise DataError(f"{folder / SEARCH}: withholding these cells leaves other claims than it says; make it again")
    yield "all files show what is found again from the release file and its data; the cells to withhold leave what they say"
    yield "as stored, not made again: how many claims each single step leaves, and that no fewer cells would do"


def _compare(folder: Path, made: Path) -> None:
    for path in sorted(made.rglob("*")):
        name = path.relative_to(made)
        if path.is_dir():
            continue
        if not (folder / name).is_file():
            raise DataError(f"{folder / name}: missing; make the results again")
        if _content(folder / name) != _content(path):
            raise DataError(f"{folder / name}: shows something else than what is found again; make the results again")
    other = [name for name in ("claims.csv", *CLAIM_FILES) if (folder / name).exists() and not (made / name).exists()]
    if other:
        raise DataError(f"{folder / other[0]}: lists claims, though the release file does not show them; take it away")


def _content(path: Path) -> object:
    """What a file holds: the bytes of packed files depend on who packed them."""
    try:
        if path.suffix == ".parquet":
            return read_frame(path).to_csv()
        return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except UNREADABLE as error:
        raise DataError(f"{path}: broken ({error}); make the results again") from None


def _stored_search(path: Path) -> Search:
    try:
        text = read_json(path)
        return Search(**{**text, "steps": tuple(Step(**step) for step in text["steps"])})
    except (KeyError, TypeError) as error:
        raise DataError(f"{path}: not what a search writes ({error!r}); make the results again") from None


def _counted(found: Audit) -> pd.DataFrame:
    """How many claims there are by their numbers of columns and of records, and of which no one is listed."""
    if not len(found.claims):
        return pd.DataFrame(columns=["k", "effective_k", "about_one", "claims"])
    about = found.claims.assign(about_one=found.claims["m"] == 1)
    return about.groupby(["k", "effective_k", "about_one"]).size().rename("claims").reset_index()


def _in_texts(found: Audit) -> pd.DataFrame:
    """The claims with the texts of the user's file in place of codes; empty where any value will do."""
    frame = found.claims.copy()
    for name, coding in found.described.codings.by_name.items():
        texts = dict(zip(coding.column.codes, coding.texts, strict=True))
        frame[name] = [texts[int(code)] if pd.notna(code) else "" for code in frame[name]]
    return frame.rename(columns={"block": "area"})


def write_what_if(described: Described, attack: Attack, folder: Path) -> pd.DataFrame:
    """Try the protections of a release and write the table and the figure of what each buys."""
    folder.mkdir(parents=True, exist_ok=True)
    found = what_if(described, attack, described.form.search.k)
    neutral_frame(found).to_csv(folder / "whatif.csv", index=False)
    try:
        with naming_missing_extras("the figure of what protections buy"):
            _plot(described, found, folder)
    except MissingExtra as missing:
        log.warning("%s. The table is complete.", missing)
    return found


def _plot(described: Described, found: pd.DataFrame, folder: Path) -> None:
    from genverify.disclosure.figure import plot_what_if
    from genverify.show.style import save

    figure = plot_what_if(found, described.form.search.k, described.form.unit, source_label(described))
    save(figure, folder / "whatif.pdf", folder / "whatif.png")


def source_label(described: Described) -> str:
    """What a figure says about its data."""
    title = described.form.title or described.form.name
    return f"{title}: synthetic data" if described.form.synthetic and "synthetic" not in title else title
