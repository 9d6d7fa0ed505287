"""Whether two versions of the attack verify the same claims of the same blocks, and how much faster one is."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from genverify.core.domain import read_domain
from genverify.core.predicates import Predicate
from genverify.core.release import Release, read_releases, read_schema, read_study
from genverify.core.seeds import derive_seed
from genverify.core.settings import ReleaseSettings
from genverify.core.tabulate import releases_of
from genverify.microdata.store import read_microdata
from genverify.papers.gtv.benchmark.blockcost import COUNTS, STAGES, How, costs
from genverify.papers.gtv.benchmark.scaling import draw_tract, merge_blocks
from genverify.papers.gtv.benchmark.settings import SameBenchmark

log = logging.getLogger(__name__)
OPEN = COUNTS[1:3]  # undecided, uncertified


@dataclass(frozen=True)
class Cases:
    """The files that the compared blocks come from: microdata with the sizes of blocks, and the releases of the study."""

    microdata: Path
    sizes: Path
    domain: Path
    schema: Path
    counts: Sequence[Path]

    def releases(self, asked: SameBenchmark, settings: ReleaseSettings, seed: int) -> Iterator[tuple[str, list[Release]]]:
        """The blocks of the study, and blocks of so many households, put together from those of a tract."""
        if asked.study:
            schema = read_schema(self.schema)
            yield "study", [release for path in self.counts for release in read_releases(path, schema)]
        keeps = read_domain(self.domain).universe(settings.universe).keeps
        schema, sizes = read_study(self.domain, settings), pd.read_parquet(self.sizes)
        for case in asked.cases:
            made = [self._merged(sizes, keeps, case.households, number, seed) for number in range(case.blocks)]
            yield (
                f"{case.households} households",
                [release for block in made for release in releases_of(block, keeps, schema)],
            )

    def _merged(self, sizes: pd.DataFrame, keeps: Predicate, households: int, number: int, seed: int) -> pa.Table:
        rng = np.random.default_rng(derive_seed(seed, "same", str(households), str(number)))
        blocks = draw_tract(sizes, households, rng)
        records = read_microdata(self.microdata, blocks=blocks)
        return merge_blocks(records, blocks, keeps, households, f"{blocks[0][:11]}-{households}-{number}")


def compare_versions(cases: Iterable[tuple[str, Sequence[Release]]], how: How, before: Path) -> pd.DataFrame:
    """The table of what the version in the folder `before` and this one verify of the releases of every case."""
    rows = []
    for case, releases in cases:
        rows.append(same_row(case, costs(releases, how, before), costs(releases, how, None)))
        log.info("%s", rows[-1])
    return same_frame(rows)


def same_row(case: str, before: pd.DataFrame, now: pd.DataFrame) -> dict[str, Any]:
    """
    One row for the blocks of a case, measured by both versions (every proof was checked on the way). A block is `same` if
    the tables of verified claims (k, m, codes, effective k, number of the proof) have the same bytes. Where neither version
    left a claim open, the claims that both asked about then have the same verdicts.
    """
    both = before.merge(now, on="block", suffixes=("_before", "_now"), validate="one_to_one")
    row: dict[str, Any] = {"case": case, "blocks": len(both), "households": int(now["n_households"].sum())}
    row |= {"largest": int(now["n_households"].max()), "most_classes": int(now["classes"].max())}
    row |= {"verified": int(now["verified"].sum()), "same": int((both["claims_before"] == both["claims_now"]).sum())}
    row |= {f"{name}_{version}": int(frame[name].sum()) for version, frame in _versions(before, now) for name in OPEN}
    return row | {f"{version}_s": float(frame[list(STAGES)].to_numpy().sum()) for version, frame in _versions(before, now)}


def _versions(before: pd.DataFrame, now: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [("before", before), ("now", now)]


def same_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The table with a row for all cases together; `faster` is the ratio of core-seconds."""
    frame = pd.DataFrame(list(rows))
    most = ["largest", "most_classes"]
    total = frame.drop(columns=["case", *most]).sum().to_dict() | frame[most].max().to_dict() | {"case": "all"}
    frame = pd.concat([frame, pd.DataFrame([total])], ignore_index=True)
    frame = frame.astype({name: int for name in frame.columns if name != "case" and not name.endswith("_s")})
    return frame.assign(faster=frame["before_s"] / frame["now_s"]).round({"before_s": 2, "now_s": 2, "faster": 1})
