"""The person tables by their number of columns: published lines, distinct ones, and the cells that the paper counts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from genverify.core.predicates import Predicate
from genverify.core.queries import Query
from genverify.show.markdown import markdown_table

TITLE = "Cells of the person tables by the number of columns k that they speak of"


def person_queries(lines: Mapping[str, Sequence[Query]], paper: Mapping[str, Any]) -> pd.DataFrame:
    """One row per k and a total: lines, the paper's cells, lines and distinct queries of each level, and why they differ."""
    every = _by_k(query.predicate for queries in lines.values() for query in queries)
    rows = []
    for k in sorted(every.keys() | paper["cells"].keys()):
        row: dict[str, Any] = {"k": str(k), "lines": every[k], "paper": paper["cells"].get(k, 0)}
        row["difference"] = row["lines"] - row["paper"]
        for level, queries in lines.items():
            row[f"{level}_lines"] = _by_k(query.predicate for query in queries)[k]
            row[f"{level}_distinct"] = _by_k({query.predicate for query in queries})[k]
        rows.append({**row, "not_in_paper": _reason(paper["left_out"].get(k), row["difference"])})
    table = pd.DataFrame(rows)
    total = {name: table[name].sum() for name in table.columns if name not in ("k", "not_in_paper")}
    return pd.concat([table, pd.DataFrame([{"k": "total", **total, "not_in_paper": ""}])], ignore_index=True)


def _by_k(predicates: Iterable[Predicate]) -> Counter[int]:
    return Counter(len(predicate.columns) for predicate in predicates)


def _reason(known: Mapping[str, Any] | None, difference: int) -> str:
    """What the paper leaves out, if that explains the whole difference."""
    if known is not None and known["cells"] == difference:
        return str(known["what"])
    return "" if difference == 0 else "other tables are chosen than the paper's"


def person_queries_text(table: pd.DataFrame) -> str:
    """The table to read."""
    return f"# {TITLE}\n\n{markdown_table(list(table), table.to_numpy().tolist())}\n"
