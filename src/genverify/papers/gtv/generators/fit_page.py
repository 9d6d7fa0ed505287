"""How well the country fits surveys, as a page: worst and median margins of each survey, then all of them."""

import pandas as pd

from genverify.show.markdown import bullets, document, markdown_table

SHOWN = 10
NOTES = (
    "distance: percent of the households that would have to change their cell (half the sum of all differences). by_chance: "
    "what a sample of that size would show on average, were it drawn from the country. largest: the largest difference of "
    "one cell, in points.",
    "odds.csv: the percentages that stand beside the odds, of the largest survey that has the columns; in any clone. Other "
    "surveys: files of counts that generators.surveys names. All are weighted to the national figures of 2010.",
)


def fit_text(table: pd.DataFrame, label: str) -> str:
    """The page."""
    grouped = table.groupby(["survey", "ways"], sort=False)
    summary = grouped.agg(
        margins=("columns", "size"), largest_sample=("sample", "max"), median=("distance", "median"),
        worst=("distance", "max"), by_chance=("by_chance", "median"),
    ).reset_index()  # fmt: skip
    parts = [markdown_table(list(summary.columns), summary.to_numpy().tolist(), left=1)]
    for (survey, ways), rows in grouped:
        worst = rows.nlargest(SHOWN, "distance").drop(columns=["survey", "ways", "data"])
        parts += [
            f"## {survey}: margins of {ways} columns that fit worst",
            markdown_table(list(worst.columns), worst.to_numpy().tolist()),
        ]
    return document("Households of the country beside surveys", label, [*parts, bullets(NOTES)])
