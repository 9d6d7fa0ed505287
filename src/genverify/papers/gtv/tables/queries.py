"""Tables 2 and 3: what is published, in the paper's own form."""

from collections import Counter

import pandas as pd

from genverify.core.release import Release, Schema
from genverify.show.markdown import document, markdown_table

PAPER_TABLE3 = {1: 4, 2: 10, 3: 8, 4: 2}
REMARK = (
    "the paper counts 4 sets of one column; P21, H6 and H9 use one column alone here, and fall into sets that "
    "exist already if they are written with the clause TEN in 1..4"
)


def table2(release: Release, table: str, label: str) -> pd.DataFrame:
    """The published lines of one table for one block: number, condition, words and count."""
    rows = [(query, low) for query, low in zip(release.queries, release.lo, strict=True) if query.table == table]
    return pd.DataFrame(
        [
            {"query": number, "id": query.id, "condition": str(query.predicate), "words": query.label, "count": count}
            for number, (query, count) in enumerate(rows, 1)
        ]
    ).assign(block=release.block, data=label)


def table2_text(table: pd.DataFrame, label: str) -> str:
    """Table 2 to read."""
    shown = table[["query", "id", "condition", "words", "count"]]
    title = f"Table 2. What one table publishes about block {table['block'].iloc[0]}" if len(table) else "Table 2"
    return document(title, label, [markdown_table(list(shown), shown.to_numpy().tolist(), left=4)])


def table3_text(table: pd.DataFrame, label: str) -> str:
    """Table 3 to read."""
    shown = table[["k", "ours", "paper"]]
    title = "Table 3. Sets of k columns that the published tables cross"
    return document(title, label, [markdown_table(list(shown), shown.to_numpy().tolist()), f"k = 1: {REMARK}."])


def table3(schema: Schema) -> pd.DataFrame:
    """The number of distinct sets of k columns among the published queries, ours and the paper's."""
    sets = Counter(len(columns) for columns in {query.predicate.columns for query in schema.queries})
    rows = [
        {"k": str(k), "ours": sets[k], "paper": PAPER_TABLE3.get(k, 0), "remark": REMARK if k == 1 else ""}
        for k in sorted(sets.keys() | PAPER_TABLE3.keys())
    ]
    total = {"k": "total", "ours": sum(sets.values()), "paper": sum(PAPER_TABLE3.values()), "remark": ""}
    return pd.DataFrame([*rows, total])
