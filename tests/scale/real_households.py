"""
The attack on blocks of real households, drawn one by one from a file of household categories with their numbers: seconds
of one core for each size, beside an earlier version's, and whether both verify the same claims. Only numbers are printed.

    python tests/scale/real_households.py acs-2011-households.csv --before ../earlier/src
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.release import Release, Schema, read_study
from genverify.model.tabulate import releases_of
from genverify.model.work import derive_seed
from genverify.run.config import parse_config, read_shipped
from studies.gtv.benchmarks import costs

ROOT = Path(__file__).parents[2]
DOMAIN = ROOT / "data/census/domain.yaml"
STAGES = ["build_s", "generate_s", "verify_s", "check_s"]
OCCUPIED = {"VACS": 0}  # a column that a file of households has no need of


def draw(path: Path, schema: Schema, size: int, blocks: int, seed: int) -> list[Release]:
    """Blocks of this size; each household is drawn from the whole file, so that neighbours differ more than real ones do."""
    categories = pd.read_csv(path).assign(**OCCUPIED)
    rng = np.random.default_rng(derive_seed(seed, "real households", str(size)))
    chances = categories["households"] / categories["households"].sum()
    rows = categories.iloc[rng.choice(len(categories), size * blocks, p=chances)][list(schema.domain.names)].astype(np.int8)
    names = np.repeat([f"01001020100{1000 + number}" for number in range(blocks)], size)
    keeps = read_domain(DOMAIN).universe("occupied").keeps
    return list(releases_of(rows.assign(block=names).reset_index(drop=True), keeps, schema))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("households", type=Path, help="CSV of categories: the columns of the domain, and `households`")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 20, 50, 100, 200, 400])
    parser.add_argument("--blocks", type=int, default=4, help="of each size")
    parser.add_argument("--before", type=Path, help="the folder src of an earlier version")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    study = parse_config(read_shipped(ROOT))
    schema = read_study(DOMAIN, study.release)
    how = study.program, study.generate.datasets, study.verify.min_k, args.seed
    for size in args.sizes:
        releases = draw(args.households, schema, size, args.blocks, args.seed)
        found = {"now": costs(releases, how, None)}
        if args.before:
            found["before"] = costs(releases, how, args.before)
            assert found["before"]["claims"].tolist() == found["now"]["claims"].tolist(), "other claims are verified"
        now = found["now"]
        line = {"households": size, "blocks": len(now), "classes": round(now["classes"].mean())}
        line |= {name: int(now[name].sum()) for name in ("verified", "undecided", "linear_programs")}
        for version, frame in found.items():
            seconds = frame[STAGES].sum(axis=1)
            line |= {f"{version}_s": f"{seconds.mean():.3f}", f"{version}_most_s": f"{seconds.max():.3f}"}
            line |= {f"{version}_mb": round(frame["peak_memory_mb"].max())}
        print(*([",".join(line)] if size == args.sizes[0] else []), ",".join(map(str, line.values())), sep="\n", flush=True)


if __name__ == "__main__":
    main()
