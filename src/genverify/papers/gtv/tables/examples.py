"""Table 1: verified singleton claims in plain English."""

import json
from collections import Counter
from pathlib import Path

import pandas as pd

from genverify.attack.words.sentences import Phrases
from genverify.core.claims import ANY
from genverify.core.domain import Domain
from genverify.core.errors import DataError
from genverify.microdata.store import GEOGRAPHY
from genverify.show.markdown import document, markdown_table

EXAMPLES = 8
LEAST_K = 8
STATE = GEOGRAPHY["state"]


def require_synthetic(manifest: Path) -> None:
    """An error unless the microdata are synthetic: claims about single households of real data are not printed."""
    source = json.loads(manifest.read_text())["source"]
    if source != "synthetic":
        raise DataError(
            f"{manifest}: the microdata come from {source!r}. Table 1 describes single households, so it is made from "
            "synthetic microdata only: set microdata.source to synthetic in config.yaml, or leave table1 out."
        )


def choose_examples(claims: pd.DataFrame, vary: tuple[str, ...]) -> pd.DataFrame:
    """
    Singleton claims of many columns that differ from each other, one per state, by a fixed rule.

    One after the other, the claim is taken whose k, effective k and codes were taken least often; an open column counts
    as taken once. Of equals: the larger effective k, then the larger k, then the order of the file.
    """
    known = ["k", "effective_k", *vary]
    left = claims[(claims["m"] == 1) & (claims["k"] >= LEAST_K)].drop_duplicates(["block", *_codes(claims)])
    left = left.sort_values(["effective_k", "k"], ascending=False, kind="stable")
    taken = {name: Counter({ANY: 1}) for name in known}
    chosen: list[int] = []
    while len(chosen) < EXAMPLES and len(left):
        values = left[known].fillna(ANY).astype(int)
        scores = sum((values[name].map(taken[name]) for name in known), start=pd.Series(0, index=left.index))
        place = int(scores.argmin())
        chosen.append(int(left.index[place]))
        for name in known:
            taken[name][int(values[name].iloc[place])] += 1
        left = left[left["block"].str.slice(0, STATE) != left["block"].iloc[place][:STATE]]
    return claims.loc[chosen]


def _codes(claims: pd.DataFrame) -> list[str]:
    return [name for name in claims.columns if str(claims[name].dtype) == "Int16"]


def table1(chosen: pd.DataFrame, domain: Domain, phrases: Phrases, label: str) -> pd.DataFrame:
    """The chosen claims: where, what is known in words, k and effective k."""
    rows = []
    for _, claim in chosen.iterrows():
        known = {name: int(claim[name]) for name in domain.names if pd.notna(claim[name])}
        where = {name: claim["block"][:width] for name, width in GEOGRAPHY.items()}
        rows.append(where | {"k": claim["k"], "effective_k": claim["effective_k"], "claim": phrases.describe(known),
                             "unknown": " ".join(name for name in domain.names if name not in known)})  # fmt: skip
    columns = [*GEOGRAPHY, "k", "effective_k", "claim", "unknown"]
    return pd.DataFrame(rows, columns=columns).sort_values("block", ignore_index=True).assign(data=label)


def table1_text(table: pd.DataFrame, label: str) -> str:
    """Table 1 as Markdown, block by block in the paper's form."""
    places = table["block"].str.slice(11) + ", " + table["tract"].str.slice(5) + ", " + table["county"].str.slice(2)
    rows = zip(places + ", " + table["state"], table["claim"], table["k"], table["effective_k"], strict=True)
    header = ["Block, tract, county, state (FIPS)", "Reconstructed information", "k", "effective k"]
    lead = (
        "Each line is true of exactly one household of its block, in every dataset that fits the published tables. The "
        "households are invented, and the numbers of blocks, tracts and counties name no real place."
    )
    return document("Table 1. Verified singleton claims (m = 1)", label, [lead, markdown_table(header, rows, left=2)])
