"""Whole tracts as a table and a page."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from genverify.core.queries import Query
from genverify.papers.gtv.tracts.judge import unit_of
from genverify.show.markdown import document, markdown_table

NOTE = (
    "A claim is verified if it holds in every dataset that fits the tables; from tract tables alone it is about the tract "
    "as a whole, otherwise about a block. Singled out: persons that some verified claim with m = 1 describes. Determined: "
    "persons known in every column, so that an area all of whose persons are determined has one solution (Abowd et al.). "
    "Every proof was checked in exact integers when it was made, and none is stored. `years`: age as it is; `bins`: single "
    "years below 22, then the bands of P12."
)


def tracts_table(judged: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """The judged claims of every source of records and reading, one below the other, with shares of persons."""
    parts = [frame.assign(source=source, reading=reading) for (source, reading), frame in judged.items()]
    table = pd.concat(parts, ignore_index=True)
    table["share_singled_out"] = table["singled_out"] / table["persons"]
    table["share_determined"] = table["determined"] / table["persons"]
    first = ["source", "reading", "tables", "k"]
    return table[[*first, *(name for name in table.columns if name not in first)]]


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


def tracts_text(table: pd.DataFrame, cells: pd.DataFrame, label: str) -> str:
    """The page: what is known of persons by which tables, and how many cells were used."""
    shown = table[table["k"] == 0]
    rows: list[list[Any]] = []
    for row in shown.to_dict("records"):
        shares = [f"{100 * row[f'share_{name}']:.1f} %" for name in ("singled_out", "determined")]
        unique = f"{row['unique_areas']:,} of {row['areas']:,}"
        known = [row["source"], row["reading"], row["tables"], unit_of(str(row["tables"])), row["persons"], *shares, unique]
        rows.append([*known, *(row[name] for name in ("claims", "false_claims", "undecided", "cells_per_proof"))])
    header = ["records", "age", "tables", "claims about", "persons", "singled out", "determined", "areas with one solution"]
    main = markdown_table([*header, "claims", "false", "undecided", "cells per proof"], rows, left=4)
    used = markdown_table(["table", "tables", "cells used", "cells printed"], cells.to_numpy().tolist())
    return document("Whole tracts: block and tract tables in one attack", label, [main, NOTE, "## Cells", used])
