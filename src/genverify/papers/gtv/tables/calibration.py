"""How microdata compare with the national figures, and with the answers that the paper saw on blocks of ten households."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median_low
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.core.predicates import Predicate
from genverify.core.release import Schema
from genverify.core.tabulate import tabulate_counts
from genverify.microdata.store import read_microdata

PAPER_BLOCK = 10
PAPER_ANSWERS = {0: 90.88, 1: 3.40}


def calibration(
    microdata: Path, sizes: pd.DataFrame, schema: Schema, keeps: Predicate, targets: Mapping[str, Any]
) -> pd.DataFrame:
    """One row per figure: what it is, in these data, and the national figure or the paper's."""
    rows = [*_answers(microdata, sizes, schema, keeps), *_sizes(sizes), *_marginals(microdata, schema, keeps, targets)]
    frame = pd.DataFrame(rows, columns=["figure", "here", "reference", "source"])
    return frame.assign(difference=(frame["here"] - frame["reference"]).round(2))


def _answers(microdata: Path, sizes: pd.DataFrame, schema: Schema, keeps: Predicate) -> Iterator[tuple[Any, ...]]:
    blocks = set(sizes.loc[sizes["n"] == PAPER_BLOCK, "block"])
    if not blocks:
        return
    _, _, counts = tabulate_counts(read_microdata(microdata, blocks=blocks), keeps, schema)
    for answer, percent in PAPER_ANSWERS.items():
        here = round(100 * float((counts == answer).mean()), 2)
        yield f"% of answers that are {answer}, blocks of {PAPER_BLOCK} ({len(blocks)})", here, percent, "paper, Table 5"


def _sizes(sizes: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    medians = sizes.groupby("state")["n"].apply(median_low)
    yield "smallest state median block size", float(medians.min()), 2.0, "paper, Figure 2"
    yield "largest state median block size", float(medians.max()), 20.0, "paper, Figure 2"
    yield "national median block size", float(median_low(sizes["n"])), 10.0, "paper, section 3.1.1"
    yield "households", float(sizes["n"].sum()), float("nan"), ""
    yield "inhabited blocks", float(len(sizes)), float("nan"), ""


def _marginals(microdata: Path, schema: Schema, keeps: Predicate, targets: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Percentages of households by each national figure, summed one state at a time."""
    wanted = [(name, Predicate.of({c: v for c, v in line.items() if c != "percent"}), float(line["percent"]))
              for name, lines in targets.items() for line in lines]  # fmt: skip
    found: npt.NDArray[np.int64] = np.zeros(len(wanted) + 1, dtype=np.int64)
    for path in sorted(microdata.glob("*.parquet")):
        records = read_microdata(microdata, columns=list(schema.domain.names), states=[path.stem]).to_pandas()
        kept = records[keeps.matches(dict(records.items()))]
        columns = dict(kept.items())
        found += [len(kept), *(int(predicate.matches(columns).sum()) for _, predicate, _ in wanted)]
    for (name, predicate, percent), count in zip(wanted, found[1:], strict=True):
        yield f"{name}: % with {predicate}", round(100 * float(count / found[0]), 2), percent, "2010 Census, approximate"
