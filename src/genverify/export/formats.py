"""The formats: VIPR 1.0, OPB with VeriPB 2.0, SMT-LIB 2 and Coq."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from genverify.export.rows import AT_LEAST, AT_MOST, CLAIM, NEVER, Fork, Leaf, Path, Program, Row, RowNode
from genverify.model.files import ONE_WORD, file_name

# The header of an exported file, in words, and names that every format can hold.

FORBIDDEN = re.compile(r"[^\w.:/+<>=-]+", re.ASCII)


def header(program: Program, how: Iterable[str]) -> Iterator[str]:
    """What the file shows, of what, and how to read it; a line each."""
    release, question = program.release, program.question
    yield f"Block {one_line(release.block)}, {release.n} records; release {release.digest}"
    yield from map(one_line, question.words)
    yield f"Goal: {_goal(program)}"
    yield from how
    yield "Rows: published cells that the proof names, each the sum over z of what a record of the kind adds"
    for row in program.rows.values():
        yield f"  {plain(row.name)}: {_range(row)} ({one_line(row.words)})"
    for key, row in program.parts.items():
        yield f"  {key}: a split into cases by the number of {one_line(row.words)}"
    yield "Kinds of records over the whole domain: z<k> counts the records of kind k, alike in every row"
    yield f"  one record of each, as codes of {' '.join(release.schema.domain.names)}, and how many different ones there are"
    for place, kind in enumerate(program.kinds):
        yield f"  z{place}: {' '.join(map(str, kind.example))} ({kind.size})"


def _goal(program: Program) -> str:
    """What is shown, as a relation between the z."""
    question = program.question
    if question.goal == NEVER:
        return "no numbers z fit the rows" + (f" with COUNT = {question.m}" if question.where else "")
    return f"COUNT {({AT_MOST: '<=', AT_LEAST: '>='})[question.goal]} {question.m} for all numbers z that fit the rows"


def _range(row: Row) -> str:
    return f"= {row.lo}" if row.lo == row.hi else f"{row.lo} to {row.hi}"


def one_line(text: str) -> str:
    """Text of anybody on one line, so that no part of it can be read as anything but a comment."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def plain(name: str) -> str:
    """
    A name without spaces and brackets.

    >>> plain("north area/by sex.f")
    'north_area/by_sex.f'
    """
    return FORBIDDEN.sub("_", name) or "_"


def block_folder(block: str) -> str:
    """The folder of a block's files: one word, since an index lists files with spaces between them."""
    return file_name(block, ONE_WORD)


def unique_names(rows: Iterable[tuple[str, Row]]) -> dict[str, str]:
    """A plain name for each row by its key, no two alike."""
    found: dict[str, str] = {}
    for key, row in rows:
        name, number = plain(row.name), 1
        while name in found.values():
            number += 1
            name = f"{plain(row.name)}_{number}"
        found[key] = name
    return found


# VIPR 1.0, the certificate format of exact SCIP: viprchk and a formally verified checker read it.
#
# Every leaf is one `lin` or `rnd` step over the rows and over z >= 0; a fork is two assumptions (`asm`) and one `uns`.

Terms = Sequence[tuple[int, Fraction | int]]
VIPR_HOW = ("Format: VIPR 1.0, certificate of mixed-integer programs. Constraints at_least.z<k>: no kind counts below 0",)


def vipr_text(program: Program) -> str:
    """The certificate as one text."""
    return "\n".join([*(f"% {line}" for line in header(program, VIPR_HOW)), *_problem(program), *_derivation(program), ""])


def _problem(program: Program) -> Iterator[str]:
    """The sections before the derivation."""
    size, question = len(program.kinds), program.question
    yield "VER 1.0"
    yield f"VAR {size}"
    yield " ".join(f"z{place}" for place in range(size))
    yield f"INT {size}"
    yield " ".join(map(str, range(size)))
    yield f"OBJ {'max' if question.goal == AT_MOST else 'min'}"
    yield _listed(_sparse(program.count) if question.goal != NEVER else [])
    rows = _Numbered(program).lines
    yield f"CON {size + len(rows)} {size}"
    yield from (f"at_least.z{place} G 0 1 {place} 1" for place in range(size))
    yield from rows
    goals = {AT_MOST: f"range -inf {question.m}", AT_LEAST: f"range {question.m} inf", NEVER: "infeas"}
    yield f"RTP {goals[question.goal]}"
    yield "SOL 0"


class _Numbered:
    """The rows as constraints: an exact count is one, a range two; the number of each, by key and side."""

    def __init__(self, program: Program) -> None:
        self.lines: list[str] = []
        self.number: dict[tuple[str, str], int] = {}
        names = unique_names(program.rows.items())
        for key, row in program.rows.items():
            sides = [("E", row.lo, "")] if row.lo == row.hi else [("G", row.lo, ".at_least"), ("L", row.hi, ".at_most")]
            for sense, bound, ending in sides:
                self.number |= {
                    (key, side): len(program.kinds) + len(self.lines) for side in ("GL" if sense == "E" else sense)
                }
                self.lines.append(f"{names[key]}{ending} {sense} {bound} {_listed(_sparse(program.added[key]))}")


@dataclass
class _Derived:
    """The lines of the derivation; `first` is the number of the first of them."""

    program: Program
    number: Mapping[tuple[str, str], int]
    first: int
    lines: list[str] = field(default_factory=list)
    leaves: int = 0

    def add(self, line: str) -> int:
        self.lines.append(f"{line} -1")
        return self.first + len(self.lines) - 1

    def node(self, node: RowNode, path: Path, assumed: tuple[int, ...]) -> int:
        """The lines that show a node, below the assumptions with these numbers; the number of the last line."""
        if isinstance(node, Leaf):
            return self.leaf(node, path, assumed)
        terms = _listed(_sparse(self.program.added[node.part]))
        below = self.add(f"{node.part}.at_most L {node.at} {terms} {{ asm }}")
        above = self.add(f"{node.part}.at_least G {node.at + 1} {terms} {{ asm }}")
        one = self.node(node.below, (*path, (node.part, node.at, True)), (*assumed, below))
        two = self.node(node.above, (*path, (node.part, node.at, False)), (*assumed, above))
        return self.add(f"{node.part}.both {self.goal()} {{ uns {one} {below} {two} {above} }}")

    def goal(self) -> str:
        """The relation to prove, as a constraint."""
        question = self.program.question
        if question.goal == NEVER:
            return "L -1 0"
        return f"{'L' if question.goal == AT_MOST else 'G'} {question.m} OBJ"

    def leaf(self, leaf: Leaf, path: Path, assumed: tuple[int, ...]) -> int:
        program, sign = self.program, self.program.sign(leaf)
        scale = Fraction(sign, leaf.d) if sign and leaf.d > 1 else sign or 1
        used = [(place, -scale * excess) for place, excess in enumerate(program.excess(leaf, path)) if excess]
        used += [(self.number[key, "L" if y > 0 else "G"], scale * y) for key, y in leaf.rows.items()]
        used += [(number, scale * w) for number, w in zip(assumed, leaf.sides, strict=True) if w]
        total = program.total(leaf, path)
        whole = sign == 0 or total % leaf.d == 0
        said = self.goal() if sign else f"L {total} 0"
        self.leaves += 1
        return self.add(f"leaf{self.leaves} {said} {{ {'lin' if whole else 'rnd'} {_listed(used)} }}")


def _derivation(program: Program) -> Iterator[str]:
    numbered = _Numbered(program)
    derived = _Derived(program, numbered.number, len(program.kinds) + len(numbered.lines))
    derived.node(program.tree, (), ())
    yield f"DER {len(derived.lines)}"
    yield from derived.lines


def _sparse(values: Sequence[int]) -> Terms:
    return [(place, value) for place, value in enumerate(values) if value]


def _listed(terms: Terms) -> str:
    return " ".join([str(len(terms)), *(f"{place} {value}" for place, value in terms)])


# OPB and a VeriPB 2.0 proof: the counts in bits, the rows and the opposite of the goal, and a derivation of a
# contradiction.
#
# Every leaf is one `pol` line. Of a fork, a new variable says on which side we are (two `red` lines); a leaf below forks
# then gives a clause over these (`rup`), and the clauses of both sides of a fork give the one above it.

HOW = (
    "Format: OPB, pseudo-Boolean constraints. z<k> is z<k>b0 + 2 z<k>b1 + 4 z<k>b2 ...: as many bits as N needs, because no",
    "kind counts more records than the block. The last row is the opposite of the goal: unsatisfiable means verified",
)
OpbTerms = Sequence[tuple[int, str]]


def opb_text(program: Program) -> str:
    """The constraints as one text."""
    rows = _Rows(program)
    said = [*(f"* {line}" for line in header(program, HOW)), *rows.lines, ""]
    return "\n".join([f"* #variable= {len(program.kinds) * rows.bits} #constraint= {rows.count}", *said])


def pbp_text(program: Program) -> str:
    """The proof of the constraints as one text."""
    rows = _Rows(program)
    proof = _Proof(program, rows, rows.count)
    last = proof.node(program.tree, ())
    head = ["pseudo-Boolean proof version 2.0", f"f {rows.count}"]
    return "\n".join([*head, *proof.lines, "output NONE", f"conclusion UNSAT : {last}", "end pseudo-Boolean proof", ""])


class _Rows:
    """The constraints, each a sum that is at least a number; their numbers by key and side, from 1."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.bits = max(1, program.release.n.bit_length())
        self.lines: list[str] = []
        self.number: dict[tuple[str, str], int] = {}
        self.count = 0
        names = unique_names(program.rows.items())
        for key, row in program.rows.items():
            self.lines.append(f"* {names[key]}")
            self._add(key, "G", program.added[key], row.lo or 0)
            self._add(key, "L", [-value for value in program.added[key]], -(row.hi or 0))
        m, goal = program.question.m, program.question.goal
        if goal in (AT_MOST, AT_LEAST):
            s = 1 if goal == AT_MOST else -1
            self.lines.append("* the opposite of the goal")
            self._add("", "G", [s * value for value in program.added[CLAIM]], s * m + 1)

    def _add(self, key: str, side: str, values: Sequence[int], least: int) -> None:
        self.count += 1
        self.number[key, side] = self.count
        self.lines.append(at_least(self.terms(values) or [(0, "z0b0")], least))

    def terms(self, values: Sequence[int]) -> OpbTerms:
        """A sum over the z as one over their bits."""
        return [(value << bit, f"z{z}b{bit}") for z, value in enumerate(values) if value for bit in range(self.bits)]


def at_least(terms: OpbTerms, least: int) -> str:
    """
    A constraint in the form of the format.

    >>> at_least([(1, "z0b0"), (-2, "~z1b0")], 3)
    '+1 z0b0 -2 ~z1b0 >= 3 ;'
    """
    return " ".join([*(f"{value:+d} {literal}" for value, literal in terms), ">=", str(least), ";"])


@dataclass
class _Proof:
    """The lines of the proof; every line of a rule makes one constraint, numbered on from those of the formula."""

    program: Program
    rows: _Rows
    last: int
    lines: list[str] = field(default_factory=list)
    sides: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, line: str) -> int:
        self.lines.append(line)
        self.last += 1
        return self.last

    def node(self, node: RowNode, path: Path) -> int:
        """The lines that show that not all literals of a path are true; the number of the last one."""
        if isinstance(node, Leaf):
            number = self.add(f"pol {self.combination(node, path)}")
            return self.clause(path) if path else number
        self.split(node)
        self.node(node.below, (*path, (node.part, node.at, True)))
        self.node(node.above, (*path, (node.part, node.at, False)))
        return self.clause(path)

    def split(self, fork: Fork) -> None:
        """A variable that is true only if at most t records lie in a part, and false only if more do."""
        values = self.program.added[fork.part]
        inside = self.rows.terms(values)
        least = max(1, sum(value for value, _ in inside) - fork.at)
        fewer = [*((-value, literal) for value, literal in inside), (least, f"~{fork.part}")]
        below = self.add(f"red {at_least(fewer, -fork.at)} {fork.part} -> 0")
        more = [*inside, (max(1, fork.at + 1), fork.part)]
        above = self.add(f"red {at_least(more, fork.at + 1)} {fork.part} -> 1")
        self.sides[fork.part] = below, above

    def clause(self, path: Path) -> int:
        """One of the sides on which we are is not so."""
        return self.add(f"rup {at_least([(1, f'~{part}' if below else part) for part, _, below in path], 1)}")

    def combination(self, leaf: Leaf, path: Path) -> str:
        """The rows of a leaf in reverse Polish notation, all of them as sums that are at least a number."""
        used = [(self.rows.number[key, "L" if y > 0 else "G"], abs(y)) for key, y in leaf.rows.items()]
        used += [(self.sides[part][not below], abs(w)) for w, (part, _, below) in zip(leaf.sides, path, strict=True) if w]
        if self.program.sign(leaf):
            used.append((self.rows.number["", "G"], leaf.d))
        return " ".join(_polish(used))


def _polish(used: Sequence[tuple[int, int]]) -> Iterator[str]:
    for place, (number, times) in enumerate(used):
        yield f"{number}" if times == 1 else f"{number} {times} *"
        if place:
            yield "+"


# SMT-LIB 2: the rows and the opposite of the goal, over whole numbers; `unsat` means verified. For cvc5, z3 and others.

SMT_HOW = (
    "Format: SMT-LIB 2, linear arithmetic of whole numbers. unsat: the goal is true of every dataset; sat: it is not",
)


def smt_text(program: Program) -> str:
    """The script as one text."""
    return "\n".join([*(f"; {line}" for line in header(program, SMT_HOW)), *_script(program), ""])


def _script(program: Program) -> Iterator[str]:
    yield "(set-logic QF_LIA)"
    for place in range(len(program.kinds)):
        yield f"(declare-const z{place} Int)"
        yield f"(assert (>= z{place} 0))"
    names = unique_names(program.rows.items())
    for key, row in program.rows.items():
        total = _sum(program.added[key])
        said = f"(= {total} {row.lo})" if row.lo == row.hi else f"(<= {row.lo} {total} {row.hi})"
        yield f"(assert (! {said} :named |{names[key]}|))"
    if program.question.goal != NEVER:
        yield f"(assert (! {_opposite(program)} :named |not_the_goal|))"
    yield "(check-sat)"


def _opposite(program: Program) -> str:
    """The goal is false: more than m records, or fewer."""
    m, count = program.question.m, _sum(program.added[CLAIM])
    return f"(> {count} {m})" if program.question.goal == AT_MOST else f"(< {count} {m})"


def _sum(values: Sequence[int]) -> str:
    terms = [f"z{place}" if value == 1 else f"(* {value} z{place})" for place, value in enumerate(values) if value]
    return f"(+ {' '.join(terms)})" if len(terms) > 1 else terms[0] if terms else "0"


# Coq: the claim as a theorem about every dataset, proved by computing the checker of proofs/Checker.v inside the prover.

COQ_HOW = (
    "Format: Coq. Compile proofs/Checker.v first, then: coqc -Q proofs Genverify FILE",
    "A dataset D lists the kinds of its records",
)
GOALS = {AT_MOST: "CountAtMost", AT_LEAST: "CountAtLeast", NEVER: "CountNever"}


def coq_text(program: Program) -> str:
    """The theorem as one text."""
    said = [line.replace("*)", "* )").replace("(*", "( *").replace('"', "'") for line in header(program, COQ_HOW)]
    return "\n".join([*(f"(* {line} *)" for line in said), *_theorem(program), ""])


def _theorem(program: Program) -> Iterator[str]:
    yield "From Coq Require Import ZArith List."
    yield "From Genverify Require Import Checker."
    yield "Import ListNotations Tables."
    yield "Open Scope Z_scope."
    names, place = unique_names(program.rows.items()), {key: at for at, key in enumerate(program.rows)}
    yield "Definition rows : list Row := ["
    rows = [
        f"  (* {names[key]} *) mkRow {_coq_listed(program.added[key])} ({row.lo}) ({row.hi})"
        for key, row in program.rows.items()
    ]
    yield ";\n".join(rows)
    yield "]."
    question = program.question
    if question.where:
        yield f"Definition goal := {GOALS[question.goal]} {_coq_listed(program.added[CLAIM])} {question.m}."
    else:
        yield "Definition goal := Contradiction."
    yield f"Definition tree : Tree := {_tree(program, program.tree, place)}."
    kinds = len(program.kinds)
    yield "Theorem shown : forall D : list nat,"
    yield f"  (forall k, In k D -> (k < {kinds})%nat) -> fits nat (map cell_of rows) D -> true_of nat (goal_of goal) D."
    yield f"Proof. apply (table_sound {kinds} rows goal tree). vm_compute. reflexivity. Qed."
    yield "Print Assumptions shown."


def _tree(program: Program, node: RowNode, place: dict[str, int]) -> str:
    if isinstance(node, Leaf):
        y = "; ".join(f"({place[key]}%nat, {times})" for key, times in node.rows.items() if key != CLAIM)
        empty = "true" if node.empty else "false"
        return f"TLeaf (mkLeaf {empty} [{y}] {node.d} {_coq_listed(node.sides)} ({node.rows.get(CLAIM, 0)}))"
    below, above = (_tree(program, side, place) for side in (node.below, node.above))
    return f"TFork {_coq_listed(program.added[node.part])} ({node.at}) ({below}) ({above})"


def _coq_listed(values: Sequence[int]) -> str:
    return f"[{'; '.join(map(str, values))}]"
