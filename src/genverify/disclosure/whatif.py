"""What-if: the same release under protections, and what the attack still verifies under each."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genverify.attack.evaluate import check_against_microdata
from genverify.disclosure.record_attack import LEVEL_COLUMN, UNDECIDED, Attack, all_claims, by_level, singled_out
from genverify.disclosure.release_data import ReleaseDescription, published
from genverify.disclosure.release_data import merged as merged_prior
from genverify.disclosure.release_form import ProtectionForm
from genverify.model.errors import DataError, MissingExtra, naming_missing_extras, nearest
from genverify.model.release import recode
from genverify.model.tablefiles import neutral_frame
from genverify.model.work import log
from genverify.protect.publishing import without

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AS_IS = "as published"


def what_if(described: ReleaseDescription, attack: Attack, k: int) -> pd.DataFrame:
    """
    One row for the release as it is and one per protection: cells, claims, singleton claims, people singled out; and
    singleton claims with a probability of 99, 90 and 50 % and more, under the uniform prior and under each that the release
    names: a protection that takes certainty away may leave 99 %.
    """
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
    parts += [f"{action} {base}" for action, base in words if base]
    return form.name or ", ".join(parts) or AS_IS


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
    claims = all_claims(result)
    if case.records is not None:
        check_against_microdata(claims, case.records)
    names = case.schema.domain.names
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
    """Write the table and the figure of what each protection buys."""
    folder.mkdir(parents=True, exist_ok=True)
    neutral_frame(result).to_csv(folder / "whatif.csv", index=False)
    try:
        with naming_missing_extras("the figure of what protections buy"):
            from genverify.report.figures import save

            form = described.form
            title = form.title or form.name
            title += ": synthetic data" if form.synthetic and "synthetic" not in title else ""
            save(plot_what_if(result, form.search.k, form.unit, title), folder / "whatif.pdf", folder / "whatif.png")
    except MissingExtra as missing:
        log.warning("%s. The table is complete.", missing)


def plot_what_if(protections: pd.DataFrame, k: int, unit: tuple[str, str], label: str) -> "Figure":
    """Two panels over the same protections: claims about exactly one record, and the records that they single out."""
    import matplotlib.pyplot as plt

    from genverify.report.figures import PAGE_WIDTH, plain, say_source, use_style

    use_style()
    height = 1.1 + 0.36 * len(protections)
    figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE_WIDTH, height), sharey=True, layout="constrained")
    _bars(left, protections, "singleton_claims", k, f"verified claims about exactly one {plain(unit[0])}")
    _bars(right, protections, "people_singled_out", k, f"{plain(unit[1])} singled out")
    left.set_yticks(np.arange(len(protections)), [plain(name) for name in protections["protection"]])
    left.invert_yaxis()
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    say_source(figure, label)
    return figure


def _bars(axes: "Axes", protections: pd.DataFrame, column: str, k: int, words: str) -> None:
    from genverify.report.figures import INK, PALETTE

    indices = np.arange(len(protections))
    series = (
        (column, "any number of columns", PALETTE[0], ""),
        (f"{column}_k{k}", f"{k} or more columns", PALETTE[1], "////"),
    )
    for shift, (name, label, colour, hatch) in zip((-0.2, 0.2), series, strict=True):
        bars = axes.barh(
            indices + shift, protections[name], height=0.38, color=colour, hatch=hatch, edgecolor="white", label=label, lw=0
        )
        axes.bar_label(bars, padding=2, fontsize=6.5, color=INK)
    axes.set_xlabel(words)
    axes.set_xlim(0, 1.14 * max(1, int(protections[column].max())))
    axes.grid(axis="y", visible=False)
