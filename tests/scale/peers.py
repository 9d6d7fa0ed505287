"""
Other programs on the same claims of the same blocks: the compact program as one integer program for each side of a claim
(HiGHS), and CP-SAT in a process of its own, by an interpreter that has the package ortools.

    snakemake figures/fig3.pdf
    python tests/scale/peers.py --blocks 20 --claims 10 --cpsat ../with-ortools/bin/python

Half of the claims hold in all datasets that were generated, and mostly in all that there are; half in one. Every verdict
must be the same. CPU seconds: ours with the program built, every proof found and checked; theirs with the program given,
without proofs.
"""

import argparse
import json
import subprocess
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from genverify.attack.verify import Verdict, Verifier, certificate_for, verified_of
from genverify.checker.record_proofs import check_block
from genverify.model.claims import as_claims, candidate_claims, claim_arrays
from genverify.model.release import Release, read_releases, read_schema
from genverify.model.tabulate import read_datasets
from genverify.solve.program import Program, matched_classes
from genverify.solve.program_settings import DEFAULT

OPTIMAL = 0


def ours(release: Release, claims: list[Any]) -> list[bool]:
    """The verdicts of the attack, every proof checked."""
    bounder = DEFAULT.bounder(release)
    decisions = Verifier(bounder).decide(claims)
    check_block(release, certificate_for(release, bounder.program.lemmas, verified_of(decisions)))
    return [decision.verdict is Verdict.VERIFIED for decision in decisions]


def by_milp(program: Program, sides: list[csr_array], m: list[int]) -> list[bool]:
    """Whether the least and the most are m, an integer program over all classes for each; at its default tolerances."""
    rows = LinearConstraint(csr_array(program.A), program.lo, program.hi)

    def most(c: np.ndarray) -> int:
        solved = milp(-c, integrality=np.ones(len(c)), bounds=Bounds(0, program.n), constraints=rows)
        assert solved.status == OPTIMAL, solved.message
        return round(-solved.fun)

    F, T = (side.toarray() for side in sides)
    return [most(upper) == count and most(-lower) == -count for lower, upper, count in zip(F, T, m, strict=True)]


def task_of(program: Program, sides: list[csr_array], m: list[int]) -> dict[str, Any]:
    rows = [(np.flatnonzero(row).tolist(), row[row != 0].tolist()) for row in program.A.astype(int)]
    parts = [[list(map(int, part)) for part in np.split(side.indices, side.indptr[1:-1])] for side in sides]
    about = {"n": program.n, "classes": program.classes, "lo": program.lo.tolist(), "hi": program.hi.tolist()}
    return {**about, "rows": rows, "claims": list(zip(*parts, m, strict=True))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=20)
    parser.add_argument("--claims", type=int, default=10, help="of each block")
    parser.add_argument("--study", type=Path, default=Path("results/paper"))
    parser.add_argument("--cpsat", help="a Python that has the package ortools")
    parser.add_argument("--out", type=Path, default=Path("results/benchmark/peers.csv"))
    options = parser.parse_args()
    worker = None
    if options.cpsat:
        words = [options.cpsat, str(Path(__file__).with_name("cpsat_worker.py"))]
        worker = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    counts = sorted((options.study / "release").glob("*.parquet"))[0]
    releases = list(read_releases(counts, read_schema(options.study / "release" / "schema.json")))
    datasets = read_datasets(options.study / "generated" / counts.name, releases)
    rng, table = np.random.default_rng(1), []
    ours(releases[0], [])  # what blocks share is found before
    for release in [releases[at] for at in np.sort(rng.choice(len(releases), options.blocks, replace=False))]:
        made = datasets[release.block]
        held = [as_claims(*candidate_claims(some, 6)) for some in (made, made[:1])]
        claims = [of[at] for of in held for at in rng.permutation(len(of))[: options.claims // 2]]
        started = process_time()
        verdicts = ours(release, claims)
        row = {"block": release.block, "n_households": release.n, "claims": len(claims), "verified": sum(verdicts)}
        row["ours_s"] = process_time() - started
        program, (codes, m) = DEFAULT.bounder(release).program, claim_arrays(claims)
        sides = list(matched_classes(program, codes))
        started = process_time()
        theirs = {"milp": by_milp(program, sides, m.tolist())}
        row["milp_s"] = process_time() - started
        if worker:
            assert worker.stdin
            assert worker.stdout
            worker.stdin.write(json.dumps(task_of(program, sides, m.tolist())) + "\n")
            worker.stdin.flush()
            answer = json.loads(worker.stdout.readline())
            theirs["cpsat"], row["cpsat_s"] = answer["verdicts"], answer["cpu_s"]
        for name, said in theirs.items():
            if said != verdicts:
                raise SystemExit(
                    f"block {release.block}: {name} has other verdicts. One of them is wrong: no speed is reported."
                )
        table.append(row)
    frame = pd.DataFrame(table)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    frame.round(4).to_csv(options.out, index=False)
    total = frame.drop(columns=["block"]).sum()
    print(total.to_string())
    for name in [name for name in ("milp_s", "cpsat_s") if name in frame]:
        print(f"{name.removesuffix('_s')}: {total[name] / total['ours_s']:.1f} times our CPU seconds")


if __name__ == "__main__":
    main()
