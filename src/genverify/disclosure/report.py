"""The report of an audit, section by section."""

from collections.abc import Iterator
from html import escape
from typing import Any

import pandas as pd

from genverify.attack.words.layout import explain_proof
from genverify.core.release import Schema
from genverify.disclosure.audit import RECORD, Audit, recovered
from genverify.disclosure.page import cards, folded, heading, page, paragraph, table
from genverify.disclosure.people import longest, singled_out
from genverify.disclosure.withhold import Search

MOST_CELLS = 20
MOST_CLAIMS = 40


def report(audit: Audit, cells: pd.DataFrame, search: Search) -> str:
    """The whole report as one HTML page."""
    title = audit.described.form.title or audit.described.form.name
    sections = (_opening, _people, _riskiest, _withhold, _claims, _ranges, _premises)
    body = [f"<h1>{escape(title)}</h1>"]
    for section in sections:
        body += section(audit, cells, search)
    return page(f"What {title} gives away", body)


def _opening(audit: Audit, cells: pd.DataFrame, search: Search) -> Iterator[str]:
    described, singles = audit.described, audit.singles
    one, many = described.form.unit
    if described.form.synthetic:
        yield paragraph(f"Synthetic data: none of the {many} in this report exist.", "note")
    yield paragraph(
        f"What must be true of the {many} behind these tables, whatever the private data were? A claim below is verified: "
        "it holds in every dataset that fits the published counts, and each has a proof in whole numbers that was checked."
    )
    people = singled_out(singles, described.records, described.schema.domain.names)
    some = [(recovered(audit.ranges), "cells not printed exactly, yet known exactly")] if _hides(audit) else []
    yield cards(
        [
            (described.people, many + (f" in {_areas(audit)} areas" if described.form.area else "")),
            (sum(len(release.cells) for release in described.releases), "published cells"),
            (len(audit.claims), "verified claims"),
            (len(singles), f"of them about exactly one {one}"),
            (f"{'' if described.records is not None else 'at least '}{people}", f"{many} singled out"),
            *some,
        ]
    )
    if audit.undecided:
        yield paragraph(f"{audit.undecided} candidate claims ran into a limit and are left out: undecided.", "note")


def _areas(audit: Audit) -> int:
    described = audit.described
    return len(described.schema.domain[str(described.form.area)].codes) if described.coupled else len(described.releases)


def _hides(audit: Audit) -> bool:
    ranges = audit.ranges[audit.ranges["table"] != RECORD]
    return bool((ranges["lo"] < ranges["hi"]).any())


def _people(audit: Audit, cells: pd.DataFrame, search: Search) -> Iterator[str]:
    one, many = audit.described.form.unit
    yield heading(f"How many {many} are singled out, by how many columns")
    exact = audit.described.records is not None
    for grouping, words in (("k", "columns in the claim"), ("effective_k", "columns that would have been enough")):
        rows = audit.people[(audit.people["grouping"] == grouping) & (audit.people["claims"] > 0)]
        counted = f"{many} singled out" if exact else f"{many} singled out, at least"
        if len(rows):
            yield table([words, "claims", counted], rows[["columns", "claims", "people"]].to_numpy().tolist(), bar=2)
    if not len(audit.singles):
        yield paragraph(f"None: no claim about exactly one {one} can be verified.")
    else:
        said = f"A claim singles out the {one} that alone matches it. Many of its columns follow from the others: "
        yield paragraph(f"{said}whoever knows the columns that would have been enough learns the rest.", "soft")


def _riskiest(audit: Audit, cells: pd.DataFrame, search: Search) -> Iterator[str]:
    if not len(cells):
        return
    yield heading("The riskiest published cells")
    rows = [
        (*_named(audit, row["block"], row["cell"]), row["label"], _said(row["lo"], row["hi"]), row["proofs"])
        for row in _rows(cells, MOST_CELLS)
    ]
    yield table([*_heads(audit), "what it counts", "count", "proofs that use it"], rows, bar=len(rows[0]) - 1)
    shown = f"{min(len(cells), MOST_CELLS)} of {len(cells)} cells, all in cells.csv."
    yield paragraph(f"Proofs about exactly one {audit.described.form.unit[0]}; {shown}", "soft")


def _withhold(audit: Audit, cells: pd.DataFrame, search: Search) -> Iterator[str]:
    one = audit.described.form.unit[0]
    yield heading("Which cells to withhold first")
    if not search.before:
        yield paragraph(f"None: there is no claim about exactly one {one} with {search.k} or more columns.")
        return
    yield paragraph(
        f"{search.before} claims about exactly one {one} name {search.k} or more columns. If the {len(search.steps)} cells "
        f"below are withheld together, {search.left or 'none'} of them can be verified: the attack was run again and its "
        f"proofs were checked.{_undecided(search)}"
    )
    smallest = search.least >= len(search.steps) and not search.left
    open_ = f"A smaller set may exist, but none below {search.least} cells."
    covered = (
        "The least number is the solver's optimum of a covering program. The proofs that it covers were checked, also that "
        "the named cells are enough for each; that no fewer cells cover them has no proof of its own."
    )
    yield paragraph(f"{'No smaller set of cells does it.' if smallest else open_} {covered}", "soft")
    rows = [(at, *_named(audit, step.block, step.cell), step.label, step.left) for at, step in enumerate(search.steps, 1)]
    yield table(["", *_heads(audit), "what it counts", "claims left"], rows)


def _undecided(search: Search) -> str:
    return f" {search.undecided} more could not be decided within the limits." if search.undecided else ""


def _claims(audit: Audit, cells: pd.DataFrame, search: Search) -> Iterator[str]:
    yield heading("The claims")
    if not audit.described.form.show_claims:
        yield paragraph(
            "This report shows aggregates. The claims themselves are in claims.csv, to be kept as private as the data; with "
            "show_claims: true in the release file they are shown here in words, with their proofs.", "note"
        )  # fmt: skip
        return
    names = audit.described.schema.domain.names
    said = longest(audit.singles, names).sort_values(["k", "effective_k"], ascending=[False, True], kind="stable")
    shown = f"{min(len(said), MOST_CLAIMS)} of {len(said)}, all in claims.csv."
    yield paragraph(
        f"About exactly one {audit.described.form.unit[0]}, each as long as it can be verified; {shown} "
        "Open a claim for the cells that force it."
    )
    of_area = {one.program.release.block: place for place, one in enumerate(audit.found)}
    for row in _rows(said, MOST_CLAIMS):
        where = {name: int(row[name]) for name in names if pd.notna(row[name])}
        yield _claim(audit, of_area[row["block"]], where, row)


def _claim(audit: Audit, place: int, where: dict[str, int], row: dict[str, Any]) -> str:
    release, proofs = audit.described.releases[place], audit.proofs[place]
    area = f"{audit.described.form.area} {release.block}: " if len(audit.described.releases) > 1 else ""
    words = in_words(audit.described.schema, where)
    claim = {"where": where, "m": 1, "proof": int(row["proof"])}
    said = (
        f"{area}exactly one {audit.described.form.unit[0]} has {words} (k = {row['k']}, effective k = {row['effective_k']})"
    )
    return folded(said, explain_proof(release, proofs, claim))


def in_words(schema: Schema, where: dict[str, int]) -> str:
    """A partial assignment in words."""
    return "; ".join(f"{c.label}: {c.meaning[where[c.name]]}" for c in schema.domain.columns if c.name in where)


def _ranges(audit: Audit, cells: pd.DataFrame, search: Search) -> Iterator[str]:
    yield heading("What every cell can be")
    rows = []
    for name, part in audit.ranges.groupby("table", sort=False):
        printed, known = part["lo"] == part["hi"], part["least"] == part["most"]
        words = "kinds of records (unpublished)" if name == RECORD else str(name)
        counts = (printed, known & ~printed, ~known)
        rows.append((words, len(part), *(int(flags.sum()) for flags in counts), int((part["most"] - part["least"]).max())))
    yield table(["table", "cells", "printed exactly", "known exactly all the same", "left open", "widest range"], rows)
    limited = int((audit.ranges["limit"] != "").sum())
    stopped = f" {limited} searches ran into a limit: there the range is the printed one." if limited else ""
    yield paragraph(
        "The least and the greatest count of each cell over all datasets that fit: ranges.csv. Both ends were found in a "
        "dataset that was counted again; the proofs that no count lies outside were checked, and are not stored." + stopped,
        "soft",
    )


def _premises(audit: Audit, cells: pd.DataFrame, search: Search) -> Iterator[str]:
    form = audit.described.form
    yield heading("What this rests on")
    yield paragraph(_published(audit))
    coupled = f"Totals across areas are published: all areas stand in one program, with {form.area} as one more column."
    apart = f"Nothing is published across areas, so each {form.area} is decided by itself; nothing is lost by that."
    if form.area:
        yield paragraph(coupled if audit.described.coupled else apart)
    of_area = " of each area" if form.area else ""
    rules = ", and to obey the structural rules of the release file" if form.rules else ""
    yield paragraph(
        f"The number of {form.unit[1]}{of_area} is taken as known exactly. Records are assumed to hold one of the listed "
        f"codes in each column{rules}."
    )
    command = "genverify check proofs release"
    again = f"To check the proof of every claim again, without a solver, in the folder of this report: {command}"
    yield paragraph(again, "soft")


def _published(audit: Audit) -> str:
    how, data = audit.described.form.published_as, audit.described.form.data
    parts = [f"counts below {how.suppress} suppressed (zeros {how.zeros})"] if how.suppress else []
    bases = (("rounded to", how.round), ("rounded at random to", how.random_round), ("off by at most", how.plus_minus))
    parts += [f"{words} {base}" for words, base in bases if base]
    source = "tabulated from the microdata" if data else "as given"
    return (
        f"Published counts: {source}, {', '.join(parts) or 'exact'}. What a reader knows of a count that is not exact "
        "enters as a range."
    )


def _heads(audit: Audit) -> list[str]:
    return [*([str(audit.described.form.area)] if len(audit.described.releases) > 1 else []), "cell"]


def _named(audit: Audit, block: str, cell: str) -> list[str]:
    return [*([block] if len(audit.described.releases) > 1 else []), cell]


def _said(lo: int, hi: int) -> str:
    return f"{lo}" if lo == hi else f"{lo} to {hi}"


def _rows(frame: pd.DataFrame, most: int) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.head(most).to_dict("records")]
