"""The report of an audit as one HTML page: verdict first, why, what to suppress, what was left out, what it rests on."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from math import inf
from typing import Any

import pandas as pd

from genverify.attack.explain import Reasons, explain_proof
from genverify.attack.probability import DatasetCount, calibration
from genverify.disclosure import record_audit
from genverify.disclosure.audit_value import RECORD, Audit, said
from genverify.disclosure.record_audit import CELL_PROOFS, LEVELS, RecordsAudit, counted_areas, longest, probable_claims
from genverify.disclosure.release_form import PublishedForm
from genverify.disclosure.tables_audit import PROOFS, TablesAudit
from genverify.model.release import Schema
from genverify.report.pages import render
from genverify.solve.counting.prior import Prior

TEMPLATE = "disclosure/report.html.j2"
MOST_TABLES, MOST_ROWS, MOST_COLUMNS = 12, 60, 16  # what a page shows of tables as they are printed
MOST_CELLS = 20  # rows of a list in the report, which also gives the number of all
MOST_CLAIMS = 40  # as above; each is given with its proof in words
MOST_WORST = 5  # cells of the first screen
WIDTHS = (1, 2, 4, 11, 101, inf)  # where the bars of the widths of intervals begin: one value, two or three, up to ten, ...
VERDICTS = {True: "Safe", False: "Not safe", None: "Not known to be safe"}
LEAST, LIKELY, OVER = 0.5, 0.9, 0.999
GROUPINGS = {"k": "columns in the claim", "effective_k": "columns that would have been enough"}


def report(audit: Audit) -> str:
    unsafe = sorted(audit.unsafe_cells, key=_interest)
    seen = {(row["area"], row["cell"]) for row in unsafe}
    rest = (row for row in audit.rows if row["unclear"] and row["what"] != RECORD and (row["area"], row["cell"]) not in seen)
    worst = [*unsafe, *sorted(rest, key=_interest)]
    part: dict[str, Any] = _records(audit) if isinstance(audit, RecordsAudit) else {}
    if isinstance(audit, TablesAudit):
        often = Counter(row.get("table") for row in unsafe)
        placed = sorted(audit.exposed.linked.now, key=lambda one: -often[one.table.name])
        part = {"printed": [audit.printed(one, MOST_ROWS, MOST_COLUMNS) for one in placed[:MOST_TABLES]],
                "more": max(len(placed) - MOST_TABLES, 0)}  # fmt: skip
    steps = audit.to_suppress
    used = {"area": audit.several, **{name: bool((steps[name] != "").any()) for name in ("label", "left")}}
    columns = [name for name in ("area", "cell", "label", "published", "left") if used.get(name, True)]

    def shown(row: Mapping[str, Any]) -> tuple[str, str, str]:
        return audit.name(row["area"], row["cell"]), row.get("published", ""), said(row["lower"], row["upper"])

    context = {
        "title": audit.source.title or "What these tables give away", "audit": audit, "verdict": VERDICTS[audit.safe],
        "worst": list(map(shown, worst[:MOST_WORST])), "widths": list(_widths(worst)),
        "reasons": [(*shown(row), row["proof"], audit.why(row)) for row in unsafe[:MOST_CELLS]],
        "lines": [line.removesuffix(":") for line in audit.lines() if not line.startswith("  ")],
        "advice": [line for line in audit.advice() if not line.startswith("  ")], "cards": [], "records": None,
        "suppress": steps[columns].head(MOST_CELLS * 5).to_numpy().tolist(), "suppress_columns": columns,
        "suppress_all": len(steps), "printed": None, "statements": len(audit.statements),
        "stored": CELL_PROOFS if isinstance(audit, RecordsAudit) else PROOFS,
    }  # fmt: skip
    return render(TEMPLATE, **{**context, **part})


def _interest(row: Mapping[str, Any]) -> tuple[float, int]:
    """The narrowest interval first, then the smallest count."""
    return inf if row["upper"] == "" else row["upper"] - row["lower"], row["lower"]


def _widths(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, int]]:
    values = [min(_interest(row)[0] + 1, WIDTHS[-2]) for row in rows]
    for least, most in pairwise(WIDTHS) if rows else ():
        words = f"{least} to {most - 1:.0f} values" if most < inf else f"{least} values or more"
        yield "known exactly" if least == 1 else words, sum(least <= value < most for value in values)


def _records(audit: RecordsAudit) -> dict[str, Any]:
    described, form = audit.described, audit.described.form
    one, many = form.unit
    people = audit.people[audit.people["claims"] > 0]
    groups = {words: people[people["grouping"] == grouping] for grouping, words in GROUPINGS.items()}
    areas = len(described.schema.domain[str(form.area)].codes if described.coupled else described.releases)
    alone = record_audit.singled_out(audit.singles, described.records, described.schema.domain.names)
    exact = described.records is not None
    heads = [*([str(form.area)] if len(described.releases) > 1 else []), "cell"]
    return {
        "title": f"What {form.title or form.name} gives away",
        "cards": [(described.people, f"{many} in {areas} areas" if form.area else many),
                  (len(audit.claims), "verified claims"), (len(audit.singles), f"of them about exactly one {one}"),
                  (f"{'' if exact else 'at least '}{alone}", f"{many} singled out")],
        "records": {
            "form": form, "one": one, "many": many, "exact": exact, "heads": heads, "coupled": described.coupled,
            "groups": {words: rows[["columns", "claims", "people"]].to_numpy().tolist() for words, rows in groups.items()},
            "risky": len(audit.riskiest), "riskiest": [
                (*((row["area"], row["cell"])[2 - len(heads) :]), row["label"], row["published"], row["claims"])
                for row in audit.riskiest[:MOST_CELLS]
            ],
            "likely": [_likely(audit, counted, prior) for counted in [counted_areas(audit.verified)]
                       for prior in (None, *described.priors)],
            "protections": list(_protections(form.published_as)), **_claims(audit),
        },
    }  # fmt: skip


def _claims(audit: RecordsAudit) -> dict[str, Any]:
    """The longest claims in words with their proofs, where the release file says that they may be shown."""
    described, schema = audit.described, audit.described.schema
    if not described.form.show_claims:
        return {"longest": 0, "claims": []}
    result = longest(audit.singles, schema.domain.names)
    ordered = result.sort_values(["k", "effective_k"], ascending=[False, True], kind="stable")
    areas = {one.program.release.block: (one.program.release, one.certificate) for one in audit.verified}
    reasons = {block: Reasons(release, proofs["lemmas"]) for block, (release, proofs) in areas.items()}
    claims = []
    for row in ordered.head(MOST_CLAIMS).to_dict("records"):
        block, number = row["block"], int(row["proof"])
        where = {name: int(row[name]) for name in schema.domain.names if pd.notna(row[name])}
        proof = explain_proof(reasons[block], areas[block][1], {"where": where, "m": 1, "proof": number})
        area = f"{described.form.area} {block}: " if len(described.releases) > 1 else ""
        claims.append({"k": row["k"], "effective_k": row["effective_k"], "number": number, "area": area,
                       "words": in_words(schema, where), "proof": proof})  # fmt: skip
    return {"longest": len(ordered), "claims": claims}


def _likely(audit: RecordsAudit, counted: Sequence[DatasetCount | None], prior: Prior | None) -> dict[str, Any]:
    """Claims that are not verified and yet likely under a prior: how many, and the longest in words where they are shown."""
    described, form, names = audit.described, audit.described.form, audit.described.schema.domain.names
    result = probable_claims(audit.verified, counted, prior, form.min_k, LEAST, form.seed)
    listed = result[result["probability"] >= LIKELY] if (result["probability"] >= LIKELY).any() else result
    listed = longest(listed, names) if len(result) else result
    rows = list[Sequence[str]]()
    for row in listed.sort_values(["probability", "k"], ascending=False).head(MOST_CELLS).to_dict("records"):
        words = in_words(described.schema, {name: int(row[name]) for name in names if pd.notna(row[name])})
        chance = f"{100 * row['probability']:.1f} %" if row["probability"] < OVER else "over 99.9 %"
        rows.append([*([row["block"]] if len(described.releases) > 1 else []), words, chance])
    areas = (one.program.release for one, area in zip(audit.verified, counted, strict=True) if area is not None)
    held = [calibration(area, prior) for area in islice(areas, 1)] if prior else []  # of the first area: it takes seconds
    return {
        "prior": prior.name if prior else None,
        "held": "; ".join(str(one) for one in held if one),
        "levels": {f"{100 * level:.0f} %": int((result["probability"] >= level).sum()) for level in LEVELS},
        "not_counted": sum(area is None for area in counted),
        "rows": rows if form.show_claims else [],
    }


def in_words(schema: Schema, where: dict[str, int]) -> str:
    return "; ".join(f"{c.label}: {c.meaning[where[c.name]]}" for c in schema.domain.columns if c.name in where)


def _protections(how: PublishedForm) -> Iterator[str]:
    if how.suppress:
        yield f"counts below {how.suppress} suppressed (zeros {how.zeros})"
    bases = (("rounded to", how.round), ("rounded at random to", how.random_round), ("off by at most", how.plus_minus))
    yield from (f"{words} {base}" for words, base in bases if base)
