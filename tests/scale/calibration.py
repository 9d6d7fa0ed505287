"""
How often likely statements are false: real records as blocks, by cross-validation, under each kind of prior.

    python tests/scale/calibration.py households.csv --tables TEN,HHSIZE TEN,HHT --size 10 --blocks 10
    python tests/scale/calibration.py persons.csv.gz --block block --tables sex,age race,hispanic

A file has a row per record, or with a column `households` a row per kind and how many there are. Blocks are drawn from the
fold that is left out of the sample: at random, around a record that others are like (--likeness), or as the file has them
(--block; a fold is then made of whole tracts, the first 11 digits). Printed are counts only, never a record.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import genverify as gv
from genverify.attack.probability import count_release, likely_claims, published_alike
from genverify.model.claims import Codes, matches
from genverify.model.errors import GenverifyError
from genverify.solve.counting.diagram import Budget, TooManyStates
from genverify.solve.counting.prior import Prior, sample_prior, uniform
from genverify.solve.program import build_program

BUDGET = Budget(states=100_000, moves=1_500_000, seconds=10.0)
LEVELS = (0.99, 0.9)
LEAST = 0.5  # statements from here on are scored
STATEMENTS = 400  # of one block: those about one record hang together
RESAMPLES = 1000  # of blocks
CLOSEST = 1e-4  # a probability of 1 that is wrong would cost an endless log score
# how much of a pull each column has in blocks of households that are alike; columns that are not named have none
PULL = {"THHRACE": 4.0, "THHSPAN": 4.0, "TEN": 2.0, "HHT": 1.0, "THHLDRAGE": 0.7, "HHSIZE": 0.5}


def blocks_of(
    records: Codes, names: tuple[str, ...], size: int, likeness: float, rng: np.random.Generator
) -> Iterator[Codes]:
    """Disjoint blocks: each record drawn by how like it is to a first one, or at random."""
    left = rng.permutation(len(records))
    pull = np.array([PULL.get(name, 0.0) for name in names])
    while len(left) >= size:
        away = (records[left] != records[left[0]]) @ pull
        order = np.argsort(likeness * away - rng.gumbel(size=len(left)), kind="stable")
        yield records[left[order[:size]]]
        left = left[np.sort(order[size:])]


def priors_of(domain: gv.Domain, sample: Codes, groups: np.ndarray | None) -> dict[str, Prior]:
    kinds, counts = np.unique(sample, axis=0, return_counts=True)
    weights = counts.astype(np.float64)
    floors = {"raw": 0.0, "floor 0.01": 0.01, "floor 0.1": 0.1}
    listed = {name: Prior(name, domain, kinds, weights, floor) for name, floor in floors.items()}
    smoothed = {"back-off": sample_prior("back-off", domain, kinds, weights)}
    if groups is not None:
        smoothed["groups"] = sample_prior("groups", domain, sample, np.ones(len(sample)), groups)
        print(f"{groups.max() + 1} groups: {smoothed['groups'].title}")
    return {"uniform": uniform(domain), **listed, **smoothed}


def judged(
    release: gv.Release, records: Codes, priors: dict[str, Prior], block: int
) -> Iterator[tuple[int, str, float, bool]]:
    """Every likely statement that is not certain: the block, the prior, its probability, and whether it is true."""
    program = build_program(published_alike(release, records), 2_000_000)
    counted = count_release(program, BUDGET)
    for name, prior in priors.items():
        try:
            codes, chances = likely_claims(counted.mixture(prior), 1, LEAST, block, STATEMENTS)
        except GenverifyError:  # the prior rules the release out: nothing is said
            yield block, name, np.nan, False
            continue
        true = matches(codes, records).sum(axis=1) == 1
        yield from ((block, name, float(p), bool(t)) for p, t in zip(chances, true, strict=True) if LEAST <= p < 1)


def summary(said: pd.DataFrame) -> pd.DataFrame:
    """By prior: blocks that it rules out, false statements of each level with an interval by blocks, and two scores."""
    rows = []
    for name, of_prior in said.groupby("prior", sort=False):
        row: dict[str, object] = {"prior": name, "ruled out": int(of_prior["p"].isna().sum())}
        scored = of_prior.dropna()
        for level in LEVELS:
            part = scored[scored["p"] >= level]
            sums = part.groupby("block")["true"].agg(["size", "sum"]).to_numpy(dtype=np.float64)
            text = "none said"
            if len(sums):
                drawn = np.random.default_rng(1).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=RESAMPLES)
                shares = 100 - 100 * (drawn @ sums[:, 1]) / np.maximum(drawn @ sums[:, 0], 1)
                low, high = np.percentile(shares, [2.5, 97.5])
                text = f"{100 * (1 - part['true'].mean()):.1f} % ({low:.1f} to {high:.1f}) of {len(part)}"
            row[f"false at {100 * level:.0f} %"] = text
        near = scored["p"].clip(CLOSEST, 1 - CLOSEST)
        row["Brier"] = round(float(((scored["p"] - scored["true"]) ** 2).mean()), 3)
        row["log"] = round(float(-np.log(near.where(scored["true"], 1 - near)).mean()), 3)
        rows.append(row)
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--tables", nargs="+", required=True, help="columns of each table, with commas between them")
    parser.add_argument("--size", type=int, default=10)
    parser.add_argument("--blocks", type=int, default=10, help="of each fold")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--sample", type=int, help="records of the sample (all that are not in the fold)")
    parser.add_argument("--likeness", type=float, default=0.0)
    parser.add_argument("--groups", action="store_true", help="the blocks of the sample are known as well")
    parser.add_argument("--block", help="the column of real blocks")
    parser.add_argument("--bands", type=int, nargs="*", default=[], help="edges of a column `age`")
    parser.add_argument("--figure", type=Path, help="reliability by tenths")
    options = parser.parse_args()
    frame = pd.read_csv(options.file, dtype={options.block: str} if options.block else None)
    if "households" in frame:
        frame = frame.loc[frame.index.repeat(frame.pop("households"))].reset_index(drop=True)
    if options.bands:
        frame["age"] = pd.cut(frame["age"], [-1, *options.bands, 200]).astype(str)
    tables = [tuple(table.split(",")) for table in options.tables]
    release = gv.Release.from_frame(frame, tables=tables)
    domain, rng = release.schema.domain, np.random.default_rng(1)
    columns = (frame[c.name].astype(str).map(dict(zip(c.meanings, c.codes, strict=True))) for c in domain.columns)
    records = np.stack([np.array(column, dtype=np.int16) for column in columns], axis=1)
    areas = frame[options.block].str[:11] if options.block else pd.Series(np.arange(len(frame)))
    kinds = areas.unique()
    fold_of = areas.map(dict(zip(kinds, rng.permutation(len(kinds)) % options.folds, strict=True))).to_numpy()
    said, number, left = [], 0, 0
    for fold in range(options.folds):
        inside = np.flatnonzero(fold_of == fold)
        outside = rng.permutation(np.flatnonzero(fold_of != fold))[: options.sample]
        sample, groups = records[outside], None
        if options.groups and options.block:
            groups = pd.factorize(frame.loc[outside, options.block])[0]
        elif options.groups:
            parts = list(blocks_of(sample, domain.names, options.size, options.likeness, rng))
            # of people of a kind the first blocks are the purest: their order must not say so
            sample, groups = np.concatenate(parts), rng.permutation(len(parts)).repeat(options.size)
        priors = priors_of(domain, sample, groups)
        blocks: Iterator[Codes]
        if options.block:
            sizes = frame.loc[inside, options.block].value_counts()
            chosen = rng.permutation(sizes.index[sizes.between(options.size // 2, 2 * options.size)].to_numpy(dtype=object))
            blocks = (records[inside][frame.loc[inside, options.block] == block] for block in chosen)
        else:
            blocks = blocks_of(records[inside], domain.names, options.size, options.likeness, rng)
        for _, block in zip(range(options.blocks), blocks, strict=False):
            number += 1
            try:
                said += list(judged(release, block, priors, number))
            except TooManyStates:
                left += 1
    table = pd.DataFrame(said, columns=["block", "prior", "p", "true"])
    print(f"{number} blocks, {left} of them not counted; sample of {len(outside)}; {len(tables)} tables")
    print(summary(table).to_string(index=False))
    if options.figure:
        draw(table.dropna(), options.figure)


def draw(said: pd.DataFrame, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(4, 4))
    for name, of_prior in said.groupby("prior", sort=False):
        means = of_prior.groupby((of_prior["p"] * 20).astype(int))[["p", "true"]].mean()
        axes.plot(means["p"], means["true"], marker="o", label=name)
    axes.plot([LEAST, 1], [LEAST, 1], color="grey", linewidth=0.5)
    axes.set(xlabel="probability", ylabel="share that is true")
    axes.legend()
    figure.savefig(path)


if __name__ == "__main__":
    main()
