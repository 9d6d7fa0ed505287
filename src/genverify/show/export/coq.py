"""Coq: the claim as a theorem about every dataset, proved by computing the checker of proofs/Checker.v inside the prover."""

from collections.abc import Iterator, Sequence

from genverify.show.export.program import AT_LEAST, AT_MOST, CLAIM, NEVER, Leaf, Node, Program
from genverify.show.export.words import header, unique_names

HOW = (
    "Format: Coq. Compile proofs/Checker.v first, then: coqc -Q proofs Genverify FILE",
    "A dataset D lists the kinds of its records",
)
GOALS = {AT_MOST: "CountAtMost", AT_LEAST: "CountAtLeast", NEVER: "CountNever"}


def coq_text(program: Program) -> str:
    """The theorem as one text."""
    said = [line.replace("*)", "* )").replace("(*", "( *").replace('"', "'") for line in header(program, HOW)]
    return "\n".join([*(f"(* {line} *)" for line in said), *_theorem(program), ""])


def _theorem(program: Program) -> Iterator[str]:
    yield "From Coq Require Import ZArith List."
    yield "From Genverify Require Import Checker."
    yield "Import ListNotations Tables."
    yield "Open Scope Z_scope."
    names, place = unique_names(program.rows.items()), {key: at for at, key in enumerate(program.rows)}
    yield "Definition rows : list Row := ["
    rows = [
        f"  (* {names[key]} *) mkRow {_listed(program.added[key])} ({row.lo}) ({row.hi})"
        for key, row in program.rows.items()
    ]
    yield ";\n".join(rows)
    yield "]."
    question = program.question
    if question.where:
        yield f"Definition goal := {GOALS[question.goal]} {_listed(program.added[CLAIM])} {question.m}."
    else:
        yield "Definition goal := Contradiction."
    yield f"Definition tree : Tree := {_tree(program, program.tree, place)}."
    kinds = len(program.kinds)
    yield "Theorem shown : forall D : list nat,"
    yield f"  (forall k, In k D -> (k < {kinds})%nat) -> fits nat (map cell_of rows) D -> true_of nat (goal_of goal) D."
    yield f"Proof. apply (table_sound {kinds} rows goal tree). vm_compute. reflexivity. Qed."
    yield "Print Assumptions shown."


def _tree(program: Program, node: Node, place: dict[str, int]) -> str:
    if isinstance(node, Leaf):
        y = "; ".join(f"({place[key]}%nat, {times})" for key, times in node.rows.items() if key != CLAIM)
        empty = "true" if node.empty else "false"
        return f"TLeaf (mkLeaf {empty} [{y}] {node.d} {_listed(node.sides)} ({node.rows.get(CLAIM, 0)}))"
    below, above = (_tree(program, side, place) for side in (node.below, node.above))
    return f"TFork {_listed(program.added[node.part])} ({node.at}) ({below}) ({above})"


def _listed(values: Sequence[int]) -> str:
    return f"[{'; '.join(map(str, values))}]"
