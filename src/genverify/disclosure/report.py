"""The report of an audit: what its template shows."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from genverify.attack.posterior import Counted
from genverify.attack.words.layout import explain_proof
from genverify.attack.words.reasons import Reasons
from genverify.core.release import Schema
from genverify.disclosure.audit import RECORD, Audit, recovered
from genverify.disclosure.form import PublishedForm
from genverify.disclosure.people import longest, singled_out
from genverify.disclosure.probable import LEVELS, counted_areas, probable_claims
from genverify.disclosure.withhold import Search, Step
from genverify.show.pages import render
from genverify.solve.counting.prior import Prior

TEMPLATE = "disclosure/report.html.j2"
MOST_CELLS = 20
MOST_CLAIMS = 40
MOST_PROBABLE = 20
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


def _likely(audit: Audit, counted: Sequence[Counted | None], prior: Prior | None) -> dict[str, Any]:
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


def said_left(step: Step) -> int | str:
    """The claims that a step leaves; nothing where there was no time to see."""
    return "" if step.left is None else step.left


def _said(lo: int, hi: int) -> str:
    return f"{lo}" if lo == hi else f"{lo} to {hi}"


def _rows(frame: pd.DataFrame, most: int) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.head(most).to_dict("records")]
