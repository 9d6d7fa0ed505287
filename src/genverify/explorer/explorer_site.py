"""
The explorer: figures by state, the list of blocks, its pages, built from the results of a study some batches at a time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.attack.explain import CONCLUSIONS, Phrases, Sentence
from genverify.checker.certificate import read_lines
from genverify.checker.stored import checked_blocks
from genverify.explorer.explored_block import (
    ALPHABET,
    BLOCK_PRIORS,
    NEVER,
    STEPS,
    Words,
    block_entry,
    check_layout,
    claims_by_block,
    form_widths,
    in_pieces,
    likely_by_block,
    likely_entries,
    write_list,
    write_piece,
)
from genverify.explorer.explored_block import PRIORS as WEIGHED
from genverify.export.checker_formats import block_folder
from genverify.model.release import Schema
from genverify.model.tablefiles import BLOCKS_AT_ONCE, FEW_BLOCKS_AT_ONCE, read_blocks, split_rows

# What the page says of a study before a block is chosen: figures by state, and the list of blocks.


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
        "priors": list(BLOCK_PRIORS),
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


# Build the explorer from the results of a study, some batches at a time, so that memory does not grow with its blocks.

Batch = tuple[Path, Path, Path]
"""A file of counts, one of proofs, and one of laid-out proofs."""


@dataclass(frozen=True)
class WeighedFiles:
    """Files of claims with probabilities, which may be of some blocks only, and how many claims of a block are shown."""

    files: Sequence[Path] = ()
    most: int = 0

    def add(self, entry: dict[str, Any], weighed: pd.DataFrame | None, verified: pd.DataFrame, schema: Schema) -> None:
        """Put the likely claims of a block into its entry, where the block was weighed."""
        if weighed is not None:
            entry["likely"] = likely_entries(weighed, verified, schema.domain.names, self.most)


NOTHING = WeighedFiles()


def write_study(
    folder: Path, schema: Schema, states: Mapping[str, Any], words: Words, least: int, designs: Sequence[str] | None
) -> None:
    """
    The piece that the page loads first: aggregates only, whatever the data. Pieces of an earlier explorer go.

    Designs are told if blocks are to be listed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.js"):
        old.unlink()
    piece = study_piece(schema, states, words.places, words.titles, words.phrases)
    piece |= {"data": words.data, "synthetic": words.synthetic, "variant": words.variant}
    piece |= {"least": least, "listed": designs is not None, "designs": list(designs or [])}
    write_piece(folder, "study", piece)


def write_blocks(folder: Path, entries: Iterable[tuple[str, dict[str, Any]]], size: int) -> dict[str, int]:
    """The blocks themselves, a number of them to a piece; the piece of each block."""
    piece: dict[str, int] = {}
    for number, blocks in enumerate(in_pieces(entries, size)):
        write_piece(folder, f"blocks-{number}", blocks)
        piece |= dict.fromkeys(blocks, number)
    return piece


def write_lists(folder: Path, figures: Iterable[pd.DataFrame], designs: Sequence[str], piece: Mapping[str, int]) -> None:
    """The list of the blocks of every state; figures come by state."""
    rows = (row for part in figures for row in block_rows(part, designs, piece))
    for state, own in groupby(rows, itemgetter(0)):
        write_list(folder, f"state-{state}", (row for _, row in own))


def block_entries(
    schema: Schema,
    batches: Sequence[Batch],
    claims: Path,
    baselines: Path,
    at_once: int = FEW_BLOCKS_AT_ONCE,
    certificates: Mapping[str, int] | None = None,
    weighed: WeighedFiles = NOTHING,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """
    Every block with what the page shows of it; claims are read for as many batches as hold about `at_once` blocks. The
    proofs of a block are checked first, and every claim that names a proof is looked up among the proved ones.
    `certificates` are the numbers of the pieces with the files of a block; `weighed` says what is likely beside.
    """
    for group, blocks in _groups(batches, at_once):
        of_block, nothing = claims_by_block(claims, baselines, blocks)
        likely = likely_by_block(weighed.files, blocks)
        for counts, proofs, explained in group:
            laid_out = {found["block"]: found["proofs"] for found in read_lines(explained)}
            for block in checked_blocks(counts, proofs, schema):
                rows, shown = of_block.get(block.release.block, nothing), laid_out.get(block.release.block, [])
                block.require(rows[rows["proof"].notna()], claims)
                check_layout(block, shown, explained)
                entry = block_entry(block.release, rows, shown)
                weighed.add(entry, likely.get(block.release.block), rows, schema)
                if certificates and block_folder(block.release.block) in certificates:
                    entry["vipr"] = certificates[block_folder(block.release.block)]
                yield block.release.block, entry


def _groups(batches: Iterable[Batch], at_once: int) -> Iterator[tuple[list[Batch], set[str]]]:
    """Batches with the names of their blocks, as many together as hold no more than `at_once`."""
    group: list[Batch] = []
    blocks: set[str] = set()
    for batch in batches:
        own = set(pd.read_parquet(batch[0], columns=["block"])["block"].unique())
        if group and len(blocks) + len(own) > at_once:
            yield group, blocks
            group, blocks = [], set()
        group, blocks = [*group, batch], blocks | own
    if group:
        yield group, blocks


def weight(folder: Path) -> tuple[int, float]:
    """How many files a folder holds, and their size in megabytes."""
    sizes = [path.stat().st_size for path in folder.glob("*.js")]
    return len(sizes), sum(sizes) / 1e6
