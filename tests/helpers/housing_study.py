"""A made-up housing study in the layout of results/housing: what detection and reconstruction leave behind, unsolved."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.run.config import parse_config, read_shipped, settings_of
from studies.housing.evaluate import in_violation
from studies.housing.households import read_household_file, write_states

ROOT = Path(__file__).parents[2]
FILE = read_household_file(ROOT / "data" / "housing" / "domain.yaml")
SETTINGS: dict[str, Any] = settings_of(parse_config(read_shipped(ROOT)), "housing", None)
HOUSEHOLD = ["BEDROOMS", "SIZE", "CHILDREN", "RACE"]
# how likely a block with a violation is flagged, one without, and how often a reconstructed violation is put elsewhere
WORLDS = {
    "none": (0.5, 0.0, 0.3),
    "swapping": (0.35, 0.02, 0.35),
    "dp": (0.8, 0.5, 0.8),
    "dp_uniform": (0.7, 0.3, 0.6),
    "dp_both": (0.8, 0.6, 0.9),
    "dp_uniform_001": (0.8, 0.5, 0.7),
    "dp_uniform_0001": (0.9, 0.7, 0.9),
    "none_exact": (0.6, 0.0, 0.25),
    "swapping_state": (0.4, 0.01, 0.3),
    "swapping_census": (0.3, 0.01, 0.4),
    "none_all": (0.5, 0.0, 0.3),
    "swapping_all": (0.35, 0.02, 0.35),
    "dp_all": (0.8, 0.5, 0.8),
}


def make_households(blocks: int, seed: int) -> pd.DataFrame:
    """Blocks of 20 to 80 households in four states, 11 or more of them subsidized; a last block has no property."""
    rng = np.random.default_rng(seed)
    frames = []
    for number in range(blocks + 1):
        n, main = int(rng.integers(20, 80)), int(rng.choice([1, 2, 8]))
        size = 1 + rng.poisson(1.4, n)
        race = np.where(rng.random(n) < 0.7, main, rng.integers(1, 15, n))
        bedrooms = np.zeros(n, dtype=np.int64)
        held = rng.choice(n, int(rng.integers(11, n * 0.8)), replace=False) if number < blocks else np.zeros(0, dtype=int)
        bedrooms[held] = np.where(size[held] <= 2, 1, np.where(size[held] <= 4, 2, 3))
        short = held[rng.random(len(held)) < rng.choice([0.0, 0.02, 0.06])]
        bedrooms[short] = np.minimum(np.maximum(bedrooms[short] - 1, 1), 2)
        name = f"{(1, 13, 36, 56)[number % 4]:02d}001020100{1000 + number}"
        frames.append(
            pd.DataFrame(
                {"block": name, "SIZE": size, "CHILDREN": rng.integers(0, size), "RACE": race, "BEDROOMS": bedrooms}
            )
        )
    return pd.concat(frames, ignore_index=True).sort_values("block", kind="stable").reset_index(drop=True)


def write_study(home: Path, blocks: int = 40, top: int = 10, batches: int = 2, seed: int = 1) -> Path:
    """households.parquet and manifest.json, and for every condition its verdicts, reconstructions and variability."""
    home.mkdir(parents=True, exist_ok=True)
    households = make_households(blocks, seed)
    write_states((own for _, own in households.groupby(households["block"].str[:2])), home / "households.parquet")
    (home / "manifest.json").write_text('{"label": "synthetic households (made up for a test)", "source": "synthetic"}')
    for condition in WORLDS:
        (home / condition).mkdir()
        shutil.copy(home / "manifest.json", home / condition)
    for place, (condition, world) in enumerate(WORLDS.items()):
        rng = np.random.default_rng([seed, place])
        _write_condition(home / condition, households, world, top, batches, rng)
    return home


def _write_condition(home: Path, households: pd.DataFrame, world: Any, top: int, batches: int, rng: Any) -> None:
    for folder in ("reconstructions", "variability"):
        (home / folder).mkdir(parents=True)
    own = {block: rows for block, rows in households.groupby("block") if rows["BEDROOMS"].any()}
    judged = pd.DataFrame([_verdict(block, rows, world, rng) for block, rows in own.items()])
    judged.to_parquet(home / "blocks.parquet", index=False)
    flagged = judged.loc[judged["verdict"].isin(["violation", "contradiction"]), "block"].tolist()
    for batch in range(batches):
        parts = [_reconstruct(block, own[block], world[2], top, rng) for block in flagged[batch::batches]]
        empty = pd.DataFrame(columns=["block", "rank", "cost", *HOUSEHOLD, "count"]).astype({"block": "str"})
        rows = pd.concat(parts, ignore_index=True) if parts else empty
        rows.to_parquet(home / "reconstructions" / f"{batch:03d}.parquet", index=False)
        found = pd.DataFrame(
            {"block": flagged[batch::batches], "found": top, "proved": True, "fits": True, "best_cost": 1.0, "error": 0.0}
        )
        found.to_parquet(home / "reconstructions" / f"{batch:03d}.blocks.parquet", index=False)
        _variability(judged.iloc[batch::batches], rng).to_parquet(home / "variability" / f"{batch:03d}.parquet", index=False)


def _verdict(block: str, rows: pd.DataFrame, world: Any, rng: Any) -> dict[str, Any]:
    true = int(in_violation(rows, FILE).sum())
    flagged = rng.random() < world[0 if true else 1]
    odd = "contradiction" if world[1] > 0.1 and rng.random() < 0.2 else "violation"
    verdict = odd if flagged else "undecided" if rng.random() < 0.02 else "possible"
    counts = {"n": len(rows), "n_s": int((rows["BEDROOMS"] > 0).sum())}
    return {"block": block, **counts, "verdict": verdict, "least_violations": int(flagged)}


def _reconstruct(block: str, rows: pd.DataFrame, misplaced: float, top: int, rng: Any) -> pd.DataFrame:
    """The private households, the violations put elsewhere now and then, with a race drawn from the block."""
    guess = rows.iloc[np.tile(np.arange(len(rows)), top)][HOUSEHOLD].assign(rank=np.repeat(np.arange(top), len(rows)))
    moved = in_violation(guess, FILE) & (rng.random(len(guess)) < misplaced)
    guess["RACE"] = np.where(moved, rng.choice(rows["RACE"], len(guess)), guess["RACE"])
    guess["CHILDREN"] = np.where(moved, 0, guess["CHILDREN"])
    counted = guess.groupby(["rank", *HOUSEHOLD]).size().rename("count").reset_index()
    return counted.assign(block=block, cost=counted["rank"].astype(float))[["block", "rank", "cost", *HOUSEHOLD, "count"]]


def _variability(judged: pd.DataFrame, rng: Any) -> pd.DataFrame:
    frames = []
    for attributes, certain in (("all", 0.02), ("simple", 0.3), ("violations", 0.1), ("violations_simple", 0.4)):
        n = judged["n"].to_numpy()
        moved = np.where(
            rng.random(len(n)) < certain, 0, np.rint(n * rng.beta(*((8, 1) if attributes == "all" else (1, 3)), len(n)))
        )
        frames.append(
            pd.DataFrame({"block": judged["block"], "attributes": attributes, "solvar": (2 * moved).astype(int)}).assign(
                share=moved / n, exact=True, records=n, n=n, n_s=judged["n_s"]
            )
        )
    return pd.concat(frames, ignore_index=True)
