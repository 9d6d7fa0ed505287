"""
Exported proofs of a study, re-decided by other people's solvers, and refused once a count, a multiplier or m is changed:

    python tests/fuzz/export.py results/paper --claims 500 --changes 500

Claims are drawn at random from all stored proofs. Each is exported as SMT-LIB (z3 and cvc5 must say unsat for both halves),
as VIPR and as OPB with its proof (accepted by the checkers). Then one number is changed: the VIPR checker must refuse, and
the solvers must find a dataset (sat), unless the changed counts contradict each other or the claim stays true.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

import pbp_checker
import solvers
from genverify.checker.certificate import Leaf, read_certificate
from genverify.checker.stored import stored_blocks
from genverify.export.checker_formats import opb_text, pbp_text, smt_text, vipr_text
from genverify.export.proof_programs import Exporter, Program, claim_questions
from genverify.model.proof_form import AT_LEAST
from genverify.model.release import read_schema
from vipr_checker import ViprError, check_vipr


def programs(study: Path, claims: int, random: Random) -> Iterator[Program]:
    """Both halves of claims drawn at random from the stored proofs of a study."""
    schema = read_schema(study / "release" / "schema.json")
    blocks = [block for path in sorted((study / "proofs").glob("*.jsonl.gz")) for block in
              stored_blocks(study / "release" / path.name.replace(".jsonl.gz", ".parquet"), path, schema)]  # fmt: skip
    every = [(place, claim) for place, (_, proofs) in enumerate(blocks) for claim in range(len(proofs["statements"]))]
    for place, claim in sorted(random.sample(every, min(claims, len(every)))):
        certificate = read_certificate(*blocks[place])
        exporter = Exporter(blocks[place][0], certificate.lemmas)
        for asked in claim_questions(schema.domain, [certificate.claims[claim]], f"claim_{claim}"):
            yield exporter.program(asked)


def changed(program: Program, random: Random) -> tuple[str, Program]:
    """The program with another m, another multiplier, or another published count, so that its derivation must fail."""
    assert isinstance(program.tree, Leaf)
    kinds = ["m", "multiplier", "count"] if program.tree.y else ["m"]
    kind, tree = random.choice(kinds), program.tree
    up = 1 if program.question.goal == AT_LEAST else -1
    if kind == "m":
        return kind, replace(program, question=replace(program.question, m=program.question.m + up))
    key = random.choice(list(tree.y))
    if kind == "multiplier":
        return kind, replace(program, tree=replace(tree, y={**tree.y, key: tree.y[key] + random.choice((-1, 1))}))
    row, step = program.known[key], tree.d if tree.y[key] > 0 else -tree.d
    moved = replace(row, lo=(row.lo or 0) + step, hi=(row.hi or 0) + step)
    return kind, replace(program, rows={**program.rows, key: moved})


def says(program: Program, original: Program, kind: str) -> str:
    """What the VIPR checker says of a changed program; the steps of a changed multiplier stay as they were written."""
    text = vipr_text(program)
    if kind == "multiplier":  # the slack of each kind is recomputed by the writer: keep the old one
        text = _with_old_slack(text, vipr_text(original), len(program.names))
    try:
        check_vipr(text)
    except ViprError:
        return "refused"
    return "accepted"


def _with_old_slack(text: str, old: str, kinds: int) -> str:
    head, new_step = text.split("{ ", 1)[0], text.split("{ ", 1)[1].split()
    step = old.split("{ ", 1)[1].split()
    old_pairs, new_pairs = (dict(zip(s[2:-2:2], s[3:-2:2], strict=True)) for s in (step, new_step))
    pairs = {i: v for i, v in old_pairs.items() if int(i) < kinds} | {i: v for i, v in new_pairs.items() if int(i) >= kinds}
    listed = " ".join(f"{index} {value}" for index, value in pairs.items())
    return f"{head}{{ {step[0]} {len(pairs)} {listed} }} -1\n"


def decision(program: Program) -> Callable[[str], str]:
    """What a solver says of a program; where it finds no dataset, whether the counts alone contradict each other."""

    def decide(name: str) -> str:
        text = smt_text(program)
        said = solvers.solver(name)(text)
        if said != "unsat":
            return said
        bare = "\n".join(line for line in text.split("\n") if "not_the_goal" not in line)
        return "counts contradict" if solvers.solver(name)(bare) == "unsat" else "still true"

    return decide


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("--claims", type=int, default=500)
    parser.add_argument("--changes", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random, found, spent = Random(options.seed), Counter[str](), Counter[str]()
    halves = list(programs(options.study, options.claims, random))
    for program in halves:
        check_vipr(vipr_text(program))
        pbp_checker.check(opb_text(program), pbp_text(program))
        for name in solvers.INSTALLED:
            started = time.process_time()
            found[f"{name} {solvers.solver(name)(smt_text(program))}"] += 1
            spent[name] += time.process_time() - started
    print(f"{len(halves)} halves of {options.claims} claims: VIPR and OPB accepted, {dict(found)}, CPU s {dict(spent)}")
    found.clear()
    for _ in range(options.changes):
        original = random.choice(halves)
        kind, program = changed(original, random)
        said = says(program, original, kind)
        decided = "" if kind == "multiplier" else "/".join(map(decision(program), solvers.INSTALLED))
        found[f"{kind}: {said} {decided}".strip()] += 1
    print(f"{options.changes} changes: {dict(sorted(found.items()))}")


if __name__ == "__main__":
    main()
