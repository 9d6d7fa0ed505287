"""Whole tracts as tables and a page."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from genverify.core.queries import Query
from genverify.papers.gtv.tracts.judge import unit_of
from genverify.papers.gtv.tracts.settings import KIND_OF
from genverify.show.markdown import document, markdown_table

SOURCES = {
    "synthetic_persons": "synthetic persons",
    "synthetic_households": "synthetic households",
    "records": "persons of a file",
}
READINGS = {"years": "age in years", "bins": "age in bins", "codes": ""}
NOTE = (
    "A claim is verified if it holds in every dataset that fits the tables; from tract tables alone it is about the tract "
    "as a whole, otherwise about a block. Singled out: records that some verified claim with m = 1 describes. Determined: "
    "records known in every column, so that an area all of whose records are determined has one solution (Abowd et al.). "
    "Undecided: candidates that are neither proved nor refuted. Every proof was checked in exact integers when it was made; "
    "those from both levels are stored and were checked again from the files. Age in bins: single years below 22, then the "
    "bands of P12."
)
WHOLE_NOTE = (
    "One solution: no other dataset of the tract fits, by the stored proofs. Records that can differ: solution variability "
    "(subsidized housing, equation 3), the most records in which another dataset of all blocks can differ from the first "
    "that was found, in the tracts where the integer program ended (`exact`). Classes: kinds of records by block that the "
    "tables leave open and tell apart, the columns of the one program of a tract."
)
MISSING_NOTE = (
    "Records that block and tract tables together do not determine, by what the verified claims tell of them: the largest "
    "sets of columns known together, the columns that are then missing, and whether some cell of a block tells the record's "
    "codes in these columns apart from all others (where none does, only the tract's cells have them, and they can lie in "
    "any of its blocks). Cells: the counts of one block by all columns that would have to be published for these records. "
    "Persons only; the largest groups."
)
MISSING = ("known", "missing", "told_apart", "records", "areas", "cells")
LISTED = 8  # groups of records on the page; the table file has all
NO_RECORDS = (
    "Real tracts are not part of this run: no file of person records is named (`tracts.records` in config/tracts.yaml)."
)


def in_words(source: str, reading: str) -> str:
    """
    >>> in_words("synthetic_persons", "years")
    'synthetic persons, age in years'
    """
    words = READINGS.get(reading, reading)
    return f"{SOURCES[source]}, {words}" if words else SOURCES[source]


def tracts_table(judged: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """The judged claims of every source of records and reading, one below the other, with shares of records and areas."""
    parts = [frame.assign(source=source, reading=reading) for (source, reading), frame in judged.items()]
    table = pd.concat(parts, ignore_index=True)
    table["share_singled_out"] = table["singled_out"] / table["persons"]
    table["share_determined"] = table["determined"] / table["persons"]
    table["share_unique"] = table["unique_areas"] / table["areas"]
    first = ["source", "reading", "tables", "k"]
    return table[[*first, *(name for name in table.columns if name not in first)]]


def whole_table(whole: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Sums over the tracts of every source and reading: what they took, and how far from one solution they are."""
    rows = []
    for (source, reading), frame in whole.items():
        exact = frame[frame["solvar_exact"]]
        rows.append(
            {
                "source": source,
                "reading": reading,
                "tracts": len(frame),
                **{name: int(frame[name].sum()) for name in ("persons", "blocks", "blocks_not_asked", "one_solution")},
                "exact": len(exact),
                "solvar": int(exact["solvar"].sum()),
                "share_solvar": exact["solvar"].sum() / max(1, 2 * exact["persons"].sum()),
                **{name: int(frame[name].sum()) for name in SUMMED},
                "largest_classes": int(frame["classes"].max()),
            }
        )
    return pd.DataFrame(rows)


def missing_table(missing: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """The records that are not determined, of every source and reading whose claims have any number of columns."""
    parts = [frame.assign(source=source, reading=reading) for (source, reading), frame in missing.items()]
    return pd.concat(parts, ignore_index=True)[["source", "reading", *MISSING]]


SUMMED = ("classes", "linear_programs", "searches", "together", "cells_of_nobody", "proof_bytes")


def cells_by_table(queries: Sequence[Query], printed: Mapping[str, int]) -> pd.DataFrame:
    """How many cells of each table are used here, beside those that the Bureau prints; iterations together."""
    base = [
        next((name for name in sorted(printed, key=len, reverse=True) if q.table.startswith(name)), q.table) for q in queries
    ]
    frame = pd.DataFrame({"table": base, "name": [query.table for query in queries]})
    counts = frame.groupby("table", sort=False).agg(tables=("name", "nunique"), ours=("name", "size")).reset_index()
    counts["printed"] = [
        printed.get(name, 0) * tables for name, tables in zip(counts["table"], counts["tables"], strict=True)
    ]
    return counts


def tracts_text(table: pd.DataFrame, whole: pd.DataFrame, missing: pd.DataFrame, cells: pd.DataFrame, label: str) -> str:
    """The page: what is known of records by which tables, what the tracts took, and how many cells were used."""
    rows: list[list[Any]] = []
    for row in table[table["k"] == 0].to_dict("records"):
        shares = [f"{100 * row[f'share_{name}']:.1f} %" for name in ("singled_out", "determined")]
        unique = f"{row['unique_areas']:,} of {row['areas']:,}"
        source = in_words(str(row["source"]), str(row["reading"]))
        known = [source, row["tables"], unit_of(str(row["tables"])), row["persons"], *shares, unique]
        rows.append([*known, *(row[name] for name in ("claims", "false_claims", "undecided", "cells_per_proof"))])
    header = ["records", "tables", "claims about", "number", "singled out", "determined", "areas with one solution"]
    main = markdown_table([*header, "claims", "false", "undecided", "cells per proof"], rows, left=3)
    used = markdown_table(["table", "tables", "cells used", "cells printed"], cells.to_numpy().tolist())
    real = [] if (table["source"] == "records").any() else [NO_RECORDS]
    parts = [main, NOTE, *real, "## Tracts as a whole", _whole_text(whole), WHOLE_NOTE]
    parts += ["## Cells that are missing", _missing_text(missing), MISSING_NOTE, "## Cells of persons", used]
    return document("Whole tracts: block and tract tables in one attack", label, parts)


def _whole_text(whole: pd.DataFrame) -> str:
    rows = []
    for row in whole.to_dict("records"):
        varies = f"{100 * row['share_solvar']:.1f} % ({row['exact']} exact)" if row["exact"] else "not asked (too large)"
        solved = [row[name] for name in ("classes", "linear_programs", "searches", "together")]
        source = in_words(str(row["source"]), str(row["reading"]))
        one = f"{row['one_solution']} of {row['tracts']}"
        rows.append([source, one, varies, *solved, f"{row['proof_bytes'] / 1e6:.1f} MB"])
    header = ["records", "tracts with one solution", "records that can differ", "classes", "linear programs"]
    return markdown_table([*header, "integer searches", "claims that need all blocks", "proofs"], rows, left=1)


def _missing_text(missing: pd.DataFrame) -> str:
    rows = []
    for (source, reading), own in missing.groupby(["source", "reading"], sort=False):
        if KIND_OF[str(source)] == "persons":
            named = in_words(str(source), str(reading))
            rows += [[named, *(row[name] for name in MISSING)] for row in own.head(LISTED).to_dict("records")]
    if not rows:
        return "No cell is missing: every record is determined."
    header = ["records", "known together", "missing", "told apart by a block cell", "number", "blocks", "cells"]
    return markdown_table(header, rows, left=4)
