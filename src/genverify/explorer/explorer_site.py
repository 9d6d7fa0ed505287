"""What the page says of a study before a block is chosen: figures by state, and the list of blocks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.attack.words.layout import CONCLUSIONS
from genverify.attack.words.sentences import Phrases, Sentence
from genverify.core.frames import BLOCKS_AT_ONCE, read_blocks, split_rows
from genverify.core.release import Schema
from genverify.show.explorer.blocks import PRIORS, form_widths
from genverify.show.explorer.likely import PRIORS as WEIGHED
from genverify.show.explorer.packing import ALPHABET, NEVER, STEPS


def figures_by_state(
    sample: pd.DataFrame, blocks: Path, households: Path, least: int, at_once: int = BLOCKS_AT_ONCE
) -> Iterator[pd.DataFrame]:
    """The figures of all blocks by state and block, some blocks at a time."""
    order = sample[["state", "block"]].drop_duplicates().sort_values(["state", "block"])
    for own in split_rows(order, at_once):
        wanted = set(own["block"])
        chosen = sample[sample["block"].isin(wanted)]
        yield block_figures(chosen, read_blocks(blocks, wanted), read_blocks(households, wanted), least)


def block_figures(sample: pd.DataFrame, blocks: pd.DataFrame, households: pd.DataFrame, least: int) -> pd.DataFrame:
    """
    One row per distinct block: state, designs, households, verified claims, whether it is reconstructed uniquely, and how
    many of its households a singleton claim of at least k columns is about, for each k from `least`.
    """
    frame = sample.groupby("block").agg(state=("state", "first"), n=("n_households", "first"))
    frame["designs"] = sample.groupby("block")["design"].agg(list)
    own = blocks.drop_duplicates("block").set_index("block")
    verified = [name for name in own.columns if name.startswith("verified_k")]
    frame["claims"] = own[verified].sum(axis=1).astype(int)
    frame["unique"] = own["unique"].fillna(False).astype(bool)
    single = households[(households["claims"] == "singleton") & (households["grouping"] == "k")]
    single = single[single["columns"] >= least].drop_duplicates(["block", "columns"])
    counted = single.pivot(index="block", columns="columns", values="households")
    frame["single"] = counted.reindex(frame.index).fillna(0).astype(int).to_numpy().tolist()
    return frame.sort_values(["state", "block"])


def add_up(figures: Iterable[pd.DataFrame]) -> dict[str, dict[str, Any]]:
    """The same figures added up by state."""
    states: dict[str, list[dict[str, Any]]] = {}
    for part in figures:
        for state, rows in part.groupby("state"):
            states.setdefault(str(state), []).append(_added(rows))
    return {state: _sum(parts) for state, parts in states.items()}


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


def _sum(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """
    Figures added up, lists place by place.

    >>> _sum([{"blocks": 1, "single": [2, 0]}, {"blocks": 3, "single": [1, 1]}])
    {'blocks': 4, 'single': [3, 1]}
    """
    columns = {name: [part[name] for part in parts] for name in parts[0]}
    return {
        name: list(map(sum, zip(*found, strict=True))) if isinstance(found[0], list) else sum(found)
        for name, found in columns.items()
    }


def study_piece(
    schema: Schema, states: Mapping[str, Any], places: Mapping[str, Any], titles: Mapping[str, str], phrases: Phrases | None
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
        "weighed": list(WEIGHED),
        "packing": {"alphabet": ALPHABET, "widths": form_widths(len(columns)), "steps": STEPS, "never": NEVER},
        "states": states,
        "places": {state: places[state] for state in sorted(set(states) & set(places))},
        "all": _sum(list(states.values())),
    }


def plain_sentence(sentence: Sentence) -> dict[str, Any]:
    """A sentence of the phrase file as plain values: conditions are {column: codes}."""
    plain = asdict(sentence)
    plain["slots"] = [[[case.when.where, case.say] for case in slot] for slot in sentence.slots]
    plain |= {key: [when.where for when in getattr(sentence, key)] for key in ("only", "unless")}
    return plain


def block_rows(figures: pd.DataFrame, designs: Sequence[str], piece: Mapping[str, int]) -> Iterator[tuple[str, list[Any]]]:
    """State and entry of each block: id, households, places of its designs, claims, unique, singled out by k, its piece."""
    for block, row in figures.iterrows():
        own = [designs.index(design) for design in row["designs"]]
        entry = [str(block), int(row["n"]), own, int(row["claims"]), int(row["unique"]), row["single"], piece[str(block)]]
        yield str(row["state"]), entry
