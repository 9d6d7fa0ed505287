"""What-if: a release under protections, what the attack verifies under each, and combinations that nobody can have."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genverify.disclosure.protection import BASE, METHODS, ROUND
from genverify.disclosure.record_audit import LEVEL_COLUMN, UNDECIDED, Attack, all_claims, by_level, singled_out
from genverify.disclosure.release_data import ReleaseDescription, published
from genverify.disclosure.release_data import merged as merged_prior
from genverify.disclosure.release_form import ProtectionForm
from genverify.disclosure.sources import disclose, protect_tables
from genverify.disclosure.tables_audit import TablesAudit
from genverify.model.arrays import Ints
from genverify.model.errors import DataError, GenverifyError, MissingExtra, naming_missing_extras, nearest
from genverify.model.release import recode
from genverify.model.tablefiles import neutral_frame
from genverify.model.work import log
from genverify.protect.publishing import without

if TYPE_CHECKING:
    from matplotlib.figure import Figure
from collections.abc import Iterable, Iterator
from itertools import combinations
from operator import itemgetter

from genverify.disclosure.release_form import RuleForm
from genverify.model.release import Release
from genverify.model.work import progress

AS_IS = "as published"


def what_if(described: ReleaseDescription, attack: Attack, k: int) -> pd.DataFrame:
    """A row for the release as it is and one for each protection: claims, people singled out, and what is likely."""
    rows = [protection_row(AS_IS, described, attack, k)]
    rows += [protection_row(label(p), protected(described, p), attack, k) for p in described.form.protect]
    return with_missing_counts(pd.DataFrame(rows), k)


def with_missing_counts(result: pd.DataFrame, k: int) -> pd.DataFrame:
    """The table with columns of whole numbers that may be missing, where an area could not be counted."""
    likely = [name for name in map(str, result) if name.startswith(LEVEL_COLUMN) and name != f"{LEVEL_COLUMN}k{k}"]
    return result.astype(dict.fromkeys(likely, "Int64"))  # none where an area could not be counted


def label(form: ProtectionForm) -> str:
    """
    The name of a protection, made from what it does where the file gives none.

    >>> label(ProtectionForm(suppress=5, round=3))
    'suppress below 5, round to 3'
    """
    parts = [f"drop {', '.join(form.drop)}"] if form.drop else []
    parts += [f"merge {column}" for column in form.coarsen]
    parts += [f"suppress below {form.suppress}" + (", zeros too" if form.zeros == "hidden" else "")] if form.suppress else []
    words = (("round to", form.round), ("round at random to", form.random_round), ("plus or minus", form.plus_minus))
    return form.name or ", ".join([*parts, *(f"{action} {base}" for action, base in words if base)]) or AS_IS


def protected(described: ReleaseDescription, form: ProtectionForm) -> ReleaseDescription:
    """The release with a protection: tables left out, codes merged, then its true counts published as the form says."""
    known = list(dict.fromkeys(query.table for query in described.schema.queries))
    for table in (table for table in form.drop if table not in known):
        raise DataError(f"protect: drop: unknown table {table!r}: {nearest(table, known)}")
    changed = replace(described, exact=tuple(without(release, tables=form.drop) for release in described.exact))
    for column, merged in form.coarsen.items():
        changed = _coarsened(changed, column, merged)
    return replace(changed, releases=published(changed.exact, form, described.form.seed, label(form)))


def _coarsened(described: ReleaseDescription, column: str, merged: dict[str, list[str]]) -> ReleaseDescription:
    location = f"protect: coarsen {column}"
    if column not in described.codings.by_name:
        raise DataError(f"{location}: unknown column: {nearest(column, list(described.codings.by_name))}")
    coding = described.codings[column]
    codes = {name: [coding.code(text, location) for text in texts] for name, texts in merged.items()}
    recoding = recode(described.schema, column, codes)
    records = described.records
    if records is not None:
        records = records.assign(**{column: records[column].map(dict(recoding.code))})
    exact = tuple(recoding.release(release) for release in described.exact)
    priors = tuple(merged_prior(prior, recoding.schema.domain, column, recoding.code) for prior in described.priors)
    return replace(described, schema=recoding.schema, exact=exact, records=records, priors=priors)


def protection_row(name: str, case: ReleaseDescription, attack: Attack, k: int, likely: bool = True) -> dict[str, Any]:
    """What the attack verifies of a release under a protection, and, which takes far longer, what is then likely."""
    result = [attack(release) for release in case.releases]
    claims, names = all_claims(result, case.records), case.schema.domain.names
    singles = claims[claims["m"] == 1]
    long = singles[singles["k"] >= k]
    return {
        "protection": name,
        "cells": sum(len(release.cells) for release in case.releases),
        "exact_cells": sum(int((release.lo == release.hi).sum()) for release in case.releases),
        "claims": len(claims),
        "singleton_claims": len(singles),
        f"singleton_claims_k{k}": len(long),
        "people_singled_out": singled_out(singles, case.records, names),
        f"people_singled_out_k{k}": singled_out(long, case.records, names),
        **(by_level(result, case.priors, attack.min_k, attack.seed) if likely else {}),
        "undecided": sum(d.verdict in UNDECIDED for one in result for d in one.decisions),
    }


def write_what_if(result: pd.DataFrame, described: ReleaseDescription, folder: Path) -> None:
    form, title = described.form, described.form.title or described.form.name
    title += ": synthetic data" if form.synthetic and "synthetic" not in title else ""
    write_comparison(result, lambda: plot_what_if(result, form.search.k, form.unit, title), folder)


def write_comparison(result: pd.DataFrame, figure: "Callable[[], Figure]", folder: Path) -> None:
    """Write a table of protections, and its figure where one can be drawn."""
    folder.mkdir(parents=True, exist_ok=True)
    neutral_frame(result).to_csv(folder / "whatif.csv", index=False)
    try:
        with naming_missing_extras("the figure of what protections buy"):
            from genverify.report.figures import save

            save(figure(), folder / "whatif.pdf", folder / "whatif.png")
    except MissingExtra as missing:
        log.warning("%s. The table is complete.", missing)


def plot_what_if(protections: pd.DataFrame, k: int, unit: tuple[str, str], label: str) -> "Figure":
    """Two panels over the same protections: claims about exactly one record, and the records that they single out."""
    from genverify.report.figures import plain

    words = {"singleton_claims": f"verified claims about exactly one {plain(unit[0])}",
             "people_singled_out": f"{plain(unit[1])} singled out"}  # fmt: skip
    bars = {"": "any number of columns", f"_k{k}": f"{k} or more columns"}
    panels = {text: {own + end: said for end, said in bars.items()} for own, text in words.items()}
    return _bar_panels(protections, panels, label)


def plot_compared_tables(protections: pd.DataFrame, label: str) -> "Figure":
    drawn = protections[protections["why_not"] == ""]
    words = {"counts_changed": "counts changed", "loss": "percent lost of what the counts say"}
    return _bar_panels(drawn, {text: {own: ""} for own, text in words.items()}, label)


def _bar_panels(protections: pd.DataFrame, panels: Mapping[str, Mapping[str, str]], label: str) -> "Figure":
    """Panels of bars over the same protections: for the words of each, its columns with their names in the legend."""
    from genverify.report.figures import INK, PALETTE, STYLE, plain, say_source, subplots

    # laid out in the pixels that are saved: at fewer, the same labels are narrower, and the longest would be cut off
    indices, dots = np.arange(len(protections)), STYLE["style"]["savefig.dpi"]
    figure, all_axes = subplots(1, len(panels), height=1.1 + 0.36 * len(protections), dpi=dots, sharey=True)
    for axes, (words, columns) in zip(all_axes, panels.items(), strict=True):
        for at, (column, name) in enumerate(columns.items()):
            bars = axes.barh(indices + 0.4 * at - 0.2 * (len(columns) - 1), protections[column], height=0.38, lw=0,
                             color=PALETTE[at], hatch="////" * at, edgecolor="white", label=name)  # fmt: skip
            axes.bar_label(bars, padding=2, fontsize=6.5, color=INK)
        axes.set_xlabel(words)
        axes.set_xlim(0, 1.14 * max(1, int(protections[next(iter(columns))].max())))
        axes.grid(axis="y", visible=False)
    all_axes[0].set_yticks(indices, [plain(name) for name in protections["protection"]])
    all_axes[0].invert_yaxis()
    handles, labels = all_axes[0].get_legend_handles_labels()
    if any(labels):
        figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    return say_source(figure, label)


# Printed tables: suppression, rounding and merging compared.


def compare_tables(tables: Any, rule: str, **options: Any) -> pd.DataFrame:
    """A row for printed tables as they are, and for each way to protect them: what changes, what is lost, or why not."""
    own = {name: options.pop(name) for name in ("width", "cost", "base") if name in options}
    before = disclose(tables, search_seconds=0, **options)
    assert isinstance(before, TablesAudit)
    rows = [{"protection": AS_IS, "counts_changed": 0, "certified_cells": 0, "loss": 0.0, "why_not": ""}]
    for method in METHODS:
        row = {"protection": f"round to {own.get('base', BASE)}" if method == ROUND else method}
        with TemporaryDirectory() as folder:
            try:
                audit = protect_tables(tables, Path(folder) / "safe", rule, method=method, **own, **options)
            except GenverifyError as error:
                rows.append({**row, "why_not": str(error)})
                continue
        made = audit.protected_by
        loss = round(100 * (1 - _said(before, audit) / (_said(before, before) or 1)), 1)
        rows.append({**row, "counts_changed": len(made.why), "certified_cells": len(made.ends), "loss": loss, "why_not": ""})
    return pd.DataFrame(rows).astype({"counts_changed": "Int64", "certified_cells": "Int64"})


def _said(before: TablesAudit, audit: TablesAudit) -> float:
    """What an audit leaves of the cells that were printed, in bits."""
    names, ranges = before.exposed.linked.sums.cells, audit.exposed.ranges
    most, place = int(before.exposed.ranges.lo.max()), audit.exposed.linked.sums.place
    at = [place[names[cell]] for cell in before.exposed.printed.values() if names[cell] in place]
    return information(most, ranges.lo[at], np.minimum(ranges.hi[at], most))


def information(n: int, lo: Ints, hi: Ints) -> float:
    """What ranges of counts up to n say, in bits: one of lo to hi of 0 to n says log2(n + 1) - log2(hi - lo + 1)."""
    return float((np.log2(n + 1) - np.log2((hi - lo).clip(min=0) + 1)).sum())


# Releases of records: the usual protections, tried alone and in pairs.

THRESHOLDS = (3, 5, 10)  # below which counts are suppressed, and bases of rounding: those that offices use
RARE = 0.05  # share of the records below which a code may be merged with other rare ones
COMBINED = 4  # protections of those tried alone, the best ones, that are tried in pairs: six more attacks
COUNTED = 1  # protections, the best ones, under which datasets are counted for what is likely: up to minutes for each
EXPECTED = 10  # records, if two columns were independent: none at all is then no chance (e^-10), but a rule of the data


def usual_protections(described: ReleaseDescription) -> list[list[ProtectionForm]]:
    """Thresholds, rounding, each table left out, each column coarser; of one kind the weaker before the stronger."""
    kinds = list[list[ProtectionForm]]()
    if all((release.lo == release.hi).all() for release in described.exact):  # ranges are not protected once more
        kinds += [[ProtectionForm(suppress=t, zeros=zeros) for t in THRESHOLDS] for zeros in ("shown", "hidden")]
        kinds.append([ProtectionForm(round=t) for t in THRESHOLDS])
    tables = list(described.form.tables)
    kinds += [[ProtectionForm(drop=[table])] for table in tables] if len(tables) > 1 else []
    return kinds + [[ProtectionForm(coarsen=merged)] for merged in _coarser(described)]


def _coarser(described: ReleaseDescription) -> Iterator[dict[str, dict[str, list[str]]]]:
    """Each column with its codes merged: neighbours in pairs where they are bins of numbers, else those that are rare."""
    for name, coding in described.codings.by_name.items():
        form = described.form.columns.get(name)
        if form is not None and form.bins:
            pairs = [coding.texts[at : at + 2] for at in range(0, len(coding.texts) - 1, 2)]
        elif described.records is not None:
            shares = described.records[name].value_counts(normalize=True)
            pairs = [tuple(t for t, code in coding.code_of.items() if shares.get(code, 0) < RARE)]
        else:
            pairs = []
        merged = {" or ".join(pair): list(pair) for pair in pairs if 1 < len(pair) < len(coding.texts)}
        if merged:
            yield {name: merged}


def compare_protections(described: ReleaseDescription, attack: Attack, k: int) -> pd.DataFrame:
    """The release as it is, the usual protections, and pairs of the best; first those that leave and lose the least."""

    def said(releases: Iterable[Release]) -> float:
        return sum(information(release.n, release.lo, release.hi) for release in releases)

    def trial(form: ProtectionForm) -> tuple[tuple[int, float], ProtectionForm, dict[str, Any]]:
        case = protected(described, form)
        row, loss = protection_row(label(form), case, attack, k, likely=False), said(case.releases) / (exact or 1)
        return (row[f"singleton_claims_k{k}"] + row["undecided"], round(100 * (1 - loss), 1)), form, row

    exact, tried = said(described.exact), list[tuple[tuple[int, float], ProtectionForm, dict[str, Any]]]()
    for kind in progress(usual_protections(described), "kinds of protection tried"):
        for form in kind:
            tried.append(trial(form))
            if not tried[-1][0][0]:  # a stronger one of this kind only loses more
                break
    best = [form for _, form, _ in sorted(tried, key=itemgetter(0))[:COMBINED]]
    pairs = [both for first, second in combinations(best, 2) if (both := _together(first, second))]
    tried += [trial(form) for form in progress(pairs, "pairs of protections tried")]
    rows = [protection_row(AS_IS, described, attack, k) | {"loss": 0.0}]
    for place, ((_, loss), form, row) in enumerate(sorted(tried, key=itemgetter(0))):
        if place < COUNTED:  # what is likely is counted as well
            row = protection_row(label(form), protected(described, form), attack, k)
        rows.append(row | {"loss": loss})
    return with_missing_counts(pd.DataFrame(rows), k)


def _together(first: ProtectionForm, second: ProtectionForm) -> ProtectionForm | None:
    """Both protections; none where they are of one kind, since the stronger of two thresholds is one of them."""
    one, other = (form.model_dump(exclude_defaults=True) for form in (first, second))
    shared = set(one) & set(other)
    if shared - {"drop", "coarsen"}:
        return None
    both = {name: [*one[name], *other[name]] if name == "drop" else one[name] | other[name] for name in shared}
    return ProtectionForm(**(one | other | both))


def impossible_pairs(described: ReleaseDescription) -> list[RuleForm]:
    """Pairs of codes that no record has although ten would by chance, as rules that are offered and never assumed."""
    rules, records = list[RuleForm](), described.records if described.records is not None else pd.DataFrame()
    for first, second in combinations(described.codings.by_name, 2) if len(records) else ():
        counts = pd.crosstab(records[first], records[second])
        expected = counts.sum(axis=1).to_numpy()[:, None] * counts.sum(axis=0).to_numpy() / len(records)
        codings = described.codings[first], described.codings[second]
        texts = [dict(zip(coding.column.codes, coding.texts, strict=True)) for coding in codings]
        never = (counts == 0) & (expected >= EXPECTED)
        for code in counts.index[never.any(axis=1)]:
            allowed = [texts[1][int(other)] for other in counts.columns if not never.loc[code, other]]
            name = f"{first} {texts[0][code]}: not every {second}"
            rules.append(RuleForm(name=name, when={first: [texts[0][code]]}, then=[{second: allowed}]))
    return rules
