"""The report of an audit of records, and the files of an audit and of a what-if in one folder."""

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from genverify.attack.explain import Reasons, explain_proof
from genverify.attack.probability import DatasetCount
from genverify.checker.certificate import write_proofs
from genverify.checker.stored import checked_blocks
from genverify.disclose.record_audit import (
    LEVELS,
    RECORD,
    Attack,
    Audit,
    audit,
    counted_areas,
    longest,
    probable_claims,
    recovered,
    riskiest_cells,
    singled_out,
)
from genverify.disclose.release_data import ReleaseDescription
from genverify.disclose.release_form import PublishedForm
from genverify.disclose.suppression import Search, SuppressionStep, left_without, search_cells
from genverify.disclose.whatif import what_if
from genverify.model.errors import DataError, MissingExtra, naming_missing_extras
from genverify.model.files import UNREADABLE, read_json
from genverify.model.release import Schema, ranges_frame, read_schema, write_schema
from genverify.model.tablefiles import CSV, PARQUET, neutral_frame, read_frame, table_file, write_frame
from genverify.model.work import log, progress
from genverify.report.pages import render
from genverify.solve.counting.prior import Prior

# The report of an audit: what its template shows.

TEMPLATE = "disclose/report.html.j2"
MOST_CELLS = 20  # rows of a list in the report, which also gives the number of all
MOST_CLAIMS = 40  # as above; each is given with its proof in words
MOST_PROBABLE = 20  # as above
LEAST, LIKELY, OVER = 0.5, 0.9, 0.999
GROUPINGS = {"k": "columns in the claim", "effective_k": "columns that would have been enough"}


def report(audit: Audit, cells: pd.DataFrame, search: Search) -> str:
    """The whole report as one HTML page."""
    described, form = audit.described, audit.described.form
    name = form.title or form.name
    return render(
        TEMPLATE,
        title=f"What {name} gives away",
        name=name,
        audit=audit,
        described=described,
        form=form,
        one=form.unit[0],
        many=form.unit[1],
        search=search,
        **_numbers(audit),
        **_cells(audit, cells, search),
        **_claims(audit),
        **_probable(audit),
        **_ranges(audit.ranges),
        protections=list(_protections(form.published_as)),
    )


def _numbers(audit: Audit) -> dict[str, Any]:
    described, people = audit.described, audit.people[audit.people["claims"] > 0]
    groups = {words: people[people["grouping"] == grouping] for grouping, words in GROUPINGS.items()}
    return {
        "areas": len(described.schema.domain[str(described.form.area)].codes if described.coupled else described.releases),
        "published": sum(len(release.cells) for release in described.releases),
        "singles": len(audit.singles),
        "people": singled_out(audit.singles, described.records, described.schema.domain.names),
        "exact": described.records is not None,
        "groups": {words: rows[["columns", "claims", "people"]].to_numpy().tolist() for words, rows in groups.items()},
    }


def _cells(audit: Audit, cells: pd.DataFrame, search: Search) -> dict[str, Any]:
    def named(block: str, cell: str) -> list[str]:
        return [block, cell] if len(audit.described.releases) > 1 else [cell]

    return {
        "heads": named(str(audit.described.form.area), "cell"),
        "risky": len(cells),
        "riskiest": [
            (*named(row["block"], row["cell"]), row["label"], _said(row["lo"], row["hi"]), row["proofs"])
            for row in _rows(cells, MOST_CELLS)
        ],
        "withheld": [
            (at, *named(step.block, step.cell), step.label, said_left(step)) for at, step in enumerate(search.steps, 1)
        ],
    }


def _claims(audit: Audit) -> dict[str, Any]:
    if not audit.described.form.show_claims:
        return {}
    found = longest(audit.singles, audit.described.schema.domain.names)
    ordered = found.sort_values(["k", "effective_k"], ascending=[False, True], kind="stable")
    of_area = {one.program.release.block: index for index, one in enumerate(audit.verified)}
    reasons: dict[int, Reasons] = {}
    return {
        "longest": len(ordered),
        "claims": [_claim(audit, of_area[row["block"]], row, reasons) for row in _rows(ordered, MOST_CLAIMS)],
    }


def _probable(audit: Audit) -> dict[str, Any]:
    """Claims that are not verified and yet likely, under the uniform prior and under each that the release names."""
    counted = counted_areas(audit.verified)
    return {"likely": [_likely(audit, counted, prior) for prior in (None, *audit.described.priors)]}


def _likely(audit: Audit, counted: Sequence[DatasetCount | None], prior: Prior | None) -> dict[str, Any]:
    """How many there are, and the longest of them, in words where claims are shown."""
    described = audit.described
    names = described.schema.domain.names
    found = probable_claims(audit.verified, counted, prior, described.form.min_k, LEAST, described.form.seed)
    listed = found[found["probability"] >= LIKELY] if (found["probability"] >= LIKELY).any() else found
    listed = longest(listed, names) if len(found) else found
    rows = [
        (
            *([row["block"]] if len(described.releases) > 1 else []),
            in_words(described.schema, {name: int(row[name]) for name in names if pd.notna(row[name])}),
            f"{100 * row['probability']:.1f} %" if row["probability"] < OVER else "over 99.9 %",
        )
        for row in _rows(listed.sort_values(["probability", "k"], ascending=False), MOST_PROBABLE)
    ]
    return {
        "prior": prior.name if prior else None,
        "levels": {f"{100 * level:.0f} %": int((found["probability"] >= level).sum()) for level in LEVELS},
        "not_counted": sum(area is None for area in counted),
        "rows": rows if described.form.show_claims else [],
    }


def _claim(audit: Audit, index: int, row: dict[str, Any], reasons: dict[int, Reasons]) -> dict[str, Any]:
    described, release = audit.described, audit.described.releases[index]
    if index not in reasons:
        reasons[index] = Reasons(release, audit.proofs[index]["lemmas"])
    where = {name: int(row[name]) for name in described.schema.domain.names if pd.notna(row[name])}
    proof = explain_proof(reasons[index], audit.proofs[index], {"where": where, "m": 1, "proof": int(row["proof"])})
    area = f"{described.form.area} {release.block}: " if len(described.releases) > 1 else ""
    return {**row, "area": area, "words": in_words(described.schema, where), "proof": proof}


def in_words(schema: Schema, where: dict[str, int]) -> str:
    """A partial assignment in words."""
    return "; ".join(f"{c.label}: {c.meaning[where[c.name]]}" for c in schema.domain.columns if c.name in where)


def _ranges(ranges: pd.DataFrame) -> dict[str, Any]:
    printed = ranges[ranges["table"] != RECORD]
    return {
        "ranges": [_range(str(name), part) for name, part in ranges.groupby("table", sort=False)],
        "limited": int((ranges["limit"] != "").sum()),
        "recovered": recovered(ranges) if (printed["lo"] < printed["hi"]).any() else None,
    }


def _range(name: str, part: pd.DataFrame) -> tuple[str | int, ...]:
    printed, known = part["lo"] == part["hi"], part["least"] == part["most"]
    words = "kinds of records (unpublished)" if name == RECORD else name
    counts = (int(flags.sum()) for flags in (printed, known & ~printed, ~known))
    return words, len(part), *counts, int((part["most"] - part["least"]).max())


def _protections(how: PublishedForm) -> Iterator[str]:
    if how.suppress:
        yield f"counts below {how.suppress} suppressed (zeros {how.zeros})"
    bases = (("rounded to", how.round), ("rounded at random to", how.random_round), ("off by at most", how.plus_minus))
    yield from (f"{words} {base}" for words, base in bases if base)


def said_left(step: SuppressionStep) -> int | str:
    """The claims that a step leaves; nothing where there was no time to see."""
    return "" if step.left is None else step.left


def _said(lo: int, hi: int) -> str:
    return f"{lo}" if lo == hi else f"{lo} to {hi}"


def _rows(frame: pd.DataFrame, most: int) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.head(most).to_dict("records")]


# The files of an audit and of a what-if, written to one folder.

SEARCH = "search.json"
CLAIM_FILES = (f"claims{PARQUET}", f"claims{CSV}")


def write_audit(
    described: ReleaseDescription, attack: Attack, folder: Path, say: Callable[[Audit], None] = lambda found: None
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


def check_audit(described: ReleaseDescription, attack: Attack, folder: Path) -> Iterator[str]:
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
        return Search(**{**text, "steps": tuple(SuppressionStep(**step) for step in text["steps"])})
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


def write_what_if(described: ReleaseDescription, attack: Attack, folder: Path) -> pd.DataFrame:
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


def _plot(described: ReleaseDescription, found: pd.DataFrame, folder: Path) -> None:
    from genverify.disclose.whatif_figure import plot_what_if
    from genverify.report.figures import save

    figure = plot_what_if(found, described.form.search.k, described.form.unit, source_label(described))
    save(figure, folder / "whatif.pdf", folder / "whatif.png")


def source_label(described: ReleaseDescription) -> str:
    """What a figure says about its data."""
    title = described.form.title or described.form.name
    return f"{title}: synthetic data" if described.form.synthetic and "synthetic" not in title else title
