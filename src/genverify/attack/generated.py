"""Generated datasets: what is known of a block's, and how they are written as codes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.claims import Codes
from genverify.core.domain import Column, Domain
from genverify.core.frames import stack
from genverify.core.release import Release
from genverify.core.seeds import derive_seed
from genverify.core.timing import progress


@dataclass(frozen=True)
class Generated:
    """
    Distinct datasets that fit a release: records of shape (K, N, columns).

    `class_vectors` counts the distinct class counts among them. `complete`: no other dataset fits, so fewer than K exist.
    """

    records: Codes
    class_vectors: int
    complete: bool

    @property
    def unique(self) -> bool:
        """Whether the release has exactly one solution (Abowd et al.)."""
        return self.complete and len(self.records) == 1


def write_generated(
    releases: Sequence[Release], find: Callable[[Release, int], Generated], seed: int, datasets: Path, blocks: Path
) -> None:
    """Find the datasets of every block, each with a seed of its own; write them, and a row for each block."""
    frames, rows = [], []
    for release in progress(releases, "blocks generated"):
        generated = find(release, derive_seed(seed, "generate", release.block))
        frames.append(datasets_frame(release.block, generated, release.schema.domain))
        rows.append(pd.DataFrame([generated_row(release, generated)]))
    stack(frames).to_parquet(datasets, index=False)
    stack(rows).to_parquet(blocks, index=False)


def datasets_frame(block: str, generated: Generated, domain: Domain) -> pd.DataFrame:
    """The generated records of a block: dataset number and one code per column."""
    K, N, _ = generated.records.shape
    codes = generated.records.reshape(K * N, len(domain.names))
    frame = pd.DataFrame(codes, columns=list(domain.names)).astype({c.name: _width(c) for c in domain.columns})
    frame.insert(0, "dataset", np.repeat(np.arange(K, dtype=np.int32), N))
    frame.insert(0, "block", block)
    return frame


def _width(column: Column) -> str:
    """The type of a column in a file: eight bits where its codes fit."""
    return "int8" if max(column.codes) <= np.iinfo(np.int8).max else "int16"


def generated_row(release: Release, generated: Generated) -> dict[str, Any]:
    """What is known of the number of datasets that fit a block."""
    return {
        "block": release.block,
        "n_households": release.n,
        "datasets": len(generated.records),
        "class_vectors": generated.class_vectors,
        "complete": generated.complete,
        "unique": generated.unique,
        "two_solutions": len(generated.records) >= 2,
    }
