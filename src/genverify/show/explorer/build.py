"""Build the explorer from the results of a study, some batches at a time, so that memory does not grow with its blocks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.checker.file import read_proofs
from genverify.checker.stored import checked_blocks
from genverify.core.frames import FEW_BLOCKS_AT_ONCE
from genverify.core.release import Schema
from genverify.show.explorer.blocks import block_entry, claims_by_block
from genverify.show.explorer.likely import likely_by_block, likely_entries
from genverify.show.explorer.pages import in_pieces, write_list, write_piece
from genverify.show.explorer.proofs import check_layout
from genverify.show.explorer.summary import block_rows, study_piece
from genverify.show.explorer.words import Words
from genverify.show.export.words import block_folder

Batch = tuple[Path, Path, Path]
"""A file of counts, one of proofs, and one of laid-out proofs."""


@dataclass(frozen=True)
class Weighed:
    """Files of claims with probabilities, which may be of some blocks only, and how many claims of a block are shown."""

    files: Sequence[Path] = ()
    most: int = 0

    def add(self, entry: dict[str, Any], weighed: pd.DataFrame | None, verified: pd.DataFrame, schema: Schema) -> None:
        """Put the likely claims of a block into its entry, where the block was weighed."""
        if weighed is not None:
            entry["likely"] = likely_entries(weighed, verified, schema.domain.names, self.most)


NOTHING = Weighed()


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
    weighed: Weighed = NOTHING,
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
            laid_out = {found["block"]: found["proofs"] for found in read_proofs(explained)}
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
