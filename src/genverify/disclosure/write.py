"""The files of an audit and of a what-if, written to one folder."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from genverify.checker.file import write_proofs
from genverify.core.csvtext import neutral_frame
from genverify.core.extras import MissingExtra, naming_missing_extras
from genverify.core.release import ranges_frame, write_schema
from genverify.core.tablefile import write_frame
from genverify.core.timing import log, progress
from genverify.disclosure.audit import Attack, Audit, audit
from genverify.disclosure.describe import Described
from genverify.disclosure.report import report, said_left
from genverify.disclosure.riskiest import riskiest_cells
from genverify.disclosure.whatif import what_if
from genverify.disclosure.withhold import Search, search_cells


def write_audit(
    described: Described, attack: Attack, folder: Path, say: Callable[[Audit], None] = lambda found: None
) -> tuple[Audit, Search]:
    """Audit a release, say what was found, then write claims, ranges, cells, what to withhold, proofs, and the report."""
    found = audit(described, attack, lambda releases: progress(releases, "areas"))
    say(found)
    cells = riskiest_cells(described.releases, found.proofs)
    how = described.form.search
    search = search_cells(found.verified, attack, how.k, how.cells, how.seconds)
    for part in ("release", "proofs"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    write_schema(described.schema, folder / "release" / "schema.json")
    write_frame(ranges_frame(described.releases), folder / "release", "000")
    write_proofs(found.proofs, folder / "proofs" / "000.jsonl.gz")
    write_frame(found.claims, folder, "claims")
    neutral_frame(_in_texts(found)).to_csv(folder / "claims.csv", index=False)
    neutral_frame(found.ranges).to_csv(folder / "ranges.csv", index=False)
    found.people.to_csv(folder / "people.csv", index=False)
    neutral_frame(cells).to_csv(folder / "cells.csv", index=False)
    steps = [(step.block, step.cell, step.label, said_left(step)) for step in search.steps]
    withheld = pd.DataFrame(steps, columns=["block", "cell", "label", "claims_left"])
    neutral_frame(withheld).to_csv(folder / "withhold.csv", index=False)
    (folder / "report.html").write_text(report(found, cells, search), encoding="utf-8")
    return found, search


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
