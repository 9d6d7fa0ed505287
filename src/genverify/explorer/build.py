"""Build the explorer from the results of a study, batch by batch, so that memory does not grow with the number of blocks."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.explorer.blocks import block_entry, claims_by_block
from genverify.explorer.page import in_pieces, render_page, write_piece
from genverify.explorer.summary import block_rows, study_piece
from genverify.explorer.words import Words
from genverify.prooffile import read_proofs
from genverify.release import Schema, read_releases


def write_study(folder: Path, schema: Schema, figures: pd.DataFrame, words: Words, least: int) -> dict[str, Any]:
    """The piece that the page loads first: aggregates only, whatever the data. Pieces of an earlier explorer go."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.js"):
        old.unlink()
    piece = study_piece(schema, figures, words.places, words.titles, words.phrases)
    piece |= {"data": words.data, "synthetic": words.synthetic, "variant": words.variant}
    piece |= {"least": least, "listed": False, "designs": []}
    write_piece(folder, "study", piece)
    return piece


def write_blocks(
    folder: Path,
    study: dict[str, Any],
    figures: pd.DataFrame,
    entries: Iterator[tuple[str, dict[str, Any]]],
    size: int,
) -> None:
    """The pieces about blocks: the list of every state, and the blocks themselves, so many to a piece."""
    piece: dict[str, int] = {}
    for number, blocks in enumerate(in_pieces(entries, size)):
        write_piece(folder, f"blocks-{number}", blocks)
        piece |= dict.fromkeys(blocks, number)
    designs = sorted({design for own in figures["designs"] for design in own})
    for state, rows in block_rows(figures, designs, piece).items():
        write_piece(folder, f"state-{state}", rows)
    write_piece(folder, "study", study | {"listed": True, "designs": designs})


def block_entries(
    schema: Schema, batches: Sequence[tuple[Path, Path]], claims: pd.DataFrame, baselines: pd.DataFrame
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every block with what the page shows of it; a batch is a file of counts and one of laid-out proofs."""
    of_block = claims_by_block(claims, baselines)
    nothing = claims.assign(**{name: 0.0 for name in baselines.columns if name not in claims}).iloc[:0]
    for path, proofs in batches:
        laid_out = {found["block"]: found["proofs"] for found in read_proofs(proofs)}
        for release in read_releases(path, schema):
            own = of_block.get(release.block, nothing)
            yield release.block, block_entry(release, own, laid_out.get(release.block, []))


def page_text(assets: Sequence[Path], title: str) -> str:
    """The page from its parts: index.html, the style sheet and the scripts in the order of their names."""
    text = {path.name: path.read_text() for path in assets}
    style = "\n".join(text[name] for name in sorted(text) if name.endswith(".css"))
    return render_page(text["index.html"], style, [text[name] for name in sorted(text) if name.endswith(".js")], title)


def weight(folder: Path) -> tuple[int, float]:
    """How many files a folder holds, and their size in megabytes."""
    sizes = [path.stat().st_size for path in folder.glob("*.js")]
    return len(sizes), sum(sizes) / 1e6
