"""What the page says of a study before a block is chosen: figures by state, and the list of blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from genverify.explain import CONCLUSIONS
from genverify.explorer.blocks import PRIORS, form_widths
from genverify.explorer.packing import ALPHABET, NEVER, STEPS
from genverify.release import Schema
from genverify.sentences import Phrases, Sentence


def block_figures(sample: pd.DataFrame, blocks: pd.DataFrame, households: pd.DataFrame, least: int) -> pd.DataFrame:
    """
    One row per distinct block: state, designs, households, verified claims, whether it is reconstructed uniquely, and how
    many of its households a singleton claim of at least k columns is about, for each k from `least`.
    """
    frame = sample.groupby("block").agg(state=("state", "first"), n=("n_households", "first")).sort_index()
    frame["designs"] = sample.groupby("block")["design"].agg(list)
    own = blocks.drop_duplicates("block").set_index("block")
    verified = [name for name in own.columns if name.startswith("verified_k")]
    frame["claims"] = own[verified].sum(axis=1).astype(int)
    frame["unique"] = own["unique"].fillna(False).astype(bool)
    single = households[(households["claims"] == "singleton") & (households["grouping"] == "k")]
    single = single[single["columns"] >= least].drop_duplicates(["block", "columns"])
    counted = single.pivot(index="block", columns="columns", values="households")
    frame["single"] = counted.reindex(frame.index).fillna(0).astype(int).to_numpy().tolist()
    return frame


def state_figures(figures: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """The same added up by state."""
    return {str(state): _added(rows) for state, rows in figures.groupby("state")}


def _added(rows: pd.DataFrame) -> dict[str, Any]:
    single = pd.DataFrame(rows["single"].tolist())
    return {
        "blocks": len(rows),
        "households": int(rows["n"].sum()),
        "claims": int(rows["claims"].sum()),
        "unique": int(rows["unique"].sum()),
        "single": single.sum().tolist(),
        "exposed": (single > 0).sum().tolist(),
    }


def study_piece(
    schema: Schema, figures: pd.DataFrame, places: Mapping[str, Any], titles: Mapping[str, str], phrases: Phrases | None
) -> dict[str, Any]:
    """All that the page needs to know of the study as a whole."""
    tables = list(dict.fromkeys(query.table for query in schema.queries))
    columns = [{"name": c.name, "label": c.label, "codes": c.meaning} for c in schema.domain.columns]
    return {
        "columns": columns,
        "tables": [[name, titles.get(name, name)] for name in tables],
        "cells": [[query.id, tables.index(query.table), query.label] for query in schema.queries],
        "sentences": [plain_sentence(sentence) for sentence in phrases.sentences] if phrases else [],
        "conclusions": list(CONCLUSIONS.values()),
        "priors": list(PRIORS),
        "packing": {"alphabet": ALPHABET, "widths": form_widths(len(columns)), "steps": STEPS, "never": NEVER},
        "states": state_figures(figures),
        "places": {state: places[state] for state in sorted(set(figures["state"]) & set(places))},
        "all": _added(figures),
    }


def plain_sentence(sentence: Sentence) -> dict[str, Any]:
    """A sentence of the phrase file as plain values: conditions are {column: codes}."""
    plain = asdict(sentence)
    plain["slots"] = [[[case.when.where, case.say] for case in slot] for slot in sentence.slots]
    plain |= {key: [when.where for when in getattr(sentence, key)] for key in ("only", "unless")}
    return plain


def block_rows(figures: pd.DataFrame, designs: Sequence[str], piece: Mapping[str, int]) -> dict[str, list[list[Any]]]:
    """The blocks of each state: id, households, places of its designs, claims, unique, singled out by k, its piece."""
    rows: dict[str, list[list[Any]]] = {}
    for block, row in figures.iterrows():
        own = [designs.index(design) for design in row["designs"]]
        entry = [str(block), int(row["n"]), own, int(row["claims"]), int(row["unique"]), row["single"], piece[str(block)]]
        rows.setdefault(str(row["state"]), []).append(entry)
    return rows
