"""The formats: VIPR 1.0, OPB with VeriPB 2.0, SMT-LIB 2 and Coq."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from genverify.checker.certificate import EMPTY, Cases, Leaf, Node, leaves_of
from genverify.export.proof_programs import SIGN, Program, Row, TooLarge, Vector
from genverify.model.linear import OPEN
from genverify.model.proof_form import AT_LEAST, AT_MOST, NEVER


def header(program: Program, how: Iterable[str]) -> Iterator[str]:
    """What the file shows, of what, and how to read it; a line each."""
    yield one_line(program.title)
    yield from map(one_line, program.question.words)
    question = program.question
    if question.goal == NEVER:
        yield "Goal: no whole numbers fit the rows" + (f" with COUNT = {question.m}" if program.count else "")
    else:
        relation = {AT_MOST: "<=", AT_LEAST: ">="}[question.goal]
        yield f"Goal: COUNT {relation} {question.m} for all whole numbers that fit the rows"
    yield from how
    yield "Rows: what is published and the proof names, each a sum over the columns"
    for row in program.rows.values():
        yield f"  {row.name}: {_range(row)} ({one_line(row.words)})"
    for row, _ in program.steps:
        yield f"  {row.name}: at most {row.hi}, shown on the way ({one_line(row.words)})"
    for key, row in program.parts.items():
        yield f"  {key}: a split into cases by the number of {one_line(row.words)}"
    head, *columns = program.columns
    yield head
    for name, words in zip(program.names, columns, strict=True):
        yield f"  {name}: {one_line(words)}"


def _range(row: Row) -> str:
    if row.lo is None or row.hi is None:
        return f"{row.hi} or less" if row.lo is None else f"{row.lo} or more"
    return f"= {row.lo}" if row.lo == row.hi else f"{row.lo} to {row.hi}"


def in_words(program: Program) -> Iterator[str]:
    """The derivation line by line: what is shown on the way, then what is asked; each leaf with the rows that it adds up."""
    for of, tree in (*program.steps, (None, program.tree)):
        yield f"First, {of.words}:" if of else f"{program.question.words[0]} (proof checked):"
        for leaf, path in leaves_of(tree):
            sides = [f"{program.parts[part].words} is {f'at most {at}' if below else f'at least {at + 1}'}, "
                     for part, at, below in path]  # fmt: skip
            yield f"  {'if ' if sides else ''}{''.join(sides)}add up{f', over {leaf.d}' if leaf.d > 1 else ''}:"
            for name, y in leaf.y.items():
                yield f"    {y:+d} x {program.known[name].words}: {_range(program.known[name])}"
            for column, entry in sorted(program.left(leaf, path, of).items()):
                yield f"    {entry:+d} x {program.columns[1 + column]}"


def one_line(text: str) -> str:
    """Text of anybody on one line, so that no part of it can be read as anything but a comment."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def _ends_of(program: Program) -> Iterator[tuple[int, int, str]]:
    """The ends of columns that are told: column, end, and its sense (G: at least, L: at most)."""
    for column, (lo, hi) in enumerate(program.ends):
        yield column, lo, "G"
        if hi != OPEN:
            yield column, hi, "L"


# VIPR 1.0, the certificate format of exact SCIP: viprchk and a formally verified checker read it.
#
# Every leaf is one `lin` or `rnd` step over the rows and over ends of columns; a fork is two assumptions (`asm`) and one
# `uns`. A row that is shown on the way is a derived constraint, which later steps use.

VIPR_HOW = ["Format: VIPR 1.0, certificate of mixed-integer programs. Constraints at_least.*, at_most.*: ends of columns"]


def vipr_text(program: Program) -> str:
    """The certificate as one text."""
    names, question, derived = program.names, program.question, _Derived(program)
    whole, given = " ".join(map(str, range(len(names)))), list(derived.lines)
    goals = {AT_MOST: f"range -inf {question.m}", AT_LEAST: f"range {question.m} inf", NEVER: "infeas"}
    for row, tree in program.steps:
        derived.number[row.name, "L"] = derived.node(tree, (), (), row)
    derived.node(program.tree, (), (), None)
    lines = [f"% {line}" for line in header(program, VIPR_HOW)]
    lines += ["VER 1.0", f"VAR {len(names)}", " ".join(names), f"INT {len(names)}", whole]
    lines += [f"OBJ {'max' if question.goal == AT_MOST else 'min'}", _terms(program.count if question.goal != NEVER else {})]
    lines += [f"CON {len(given)} {derived.ends}", *given, f"RTP {goals[question.goal]}", "SOL 0"]
    return "\n".join([*lines, f"DER {len(derived.lines) - len(given)}", *derived.lines[len(given) :], ""])


class _Derived:
    """The constraints: ends of columns, rows (an exact count is one, a range two), what is derived; by name and side."""

    def __init__(self, program: Program) -> None:
        self.program, self.lines, self.leaves = program, list[str](), 0
        self.number: dict[tuple[str, str], int] = {}
        for column, end, sense in _ends_of(program):
            name, side = program.names[column], "at_least" if sense == "G" else "at_most"
            self.number[name, sense] = self.add(f"{side}.{name} {sense} {end} 1 {column} 1")
        self.ends = len(self.lines)
        for name, row in program.rows.items():
            sides = [("E", row.lo, "")] if row.lo == row.hi else [("G", row.lo, ".at_least"), ("L", row.hi, ".at_most")]
            for sense, bound, ending in sides:
                if bound is not None:
                    number = self.add(f"{name}{ending} {sense} {bound} {_terms(row.vector)}")
                    self.number |= {(name, side): number for side in ("GL" if sense == "E" else sense)}

    def add(self, line: str) -> int:
        self.lines.append(line)
        return len(self.lines) - 1

    def node(self, node: Node, path: Cases, assumed: tuple[int, ...], of: Row | None) -> int:
        """The lines that show a node, below the assumptions with these numbers; the number of the last line."""
        if isinstance(node, Leaf):
            return self.leaf(node, path, assumed, of)
        part = str(node.part)
        terms, name = _terms(self.program.parts[part].vector), f"{of.name}.{part}" if of else part
        below = self.add(f"{name}.at_most L {node.at} {terms} {{ asm }} -1")
        above = self.add(f"{name}.at_least G {node.at + 1} {terms} {{ asm }} -1")
        one = self.node(node.below, (*path, (part, node.at, True)), (*assumed, below), of)
        two = self.node(node.above, (*path, (part, node.at, False)), (*assumed, above), of)
        return self.add(f"{name}.both {self.goal(of)} {{ uns {one} {below} {two} {above} }} -1")

    def goal(self, of: Row | None) -> str:
        question = self.program.question
        if of:
            return f"L {of.hi} {_terms(of.vector)}"
        return "L -1 0" if question.goal == NEVER else f"{'L' if question.goal == AT_MOST else 'G'} {question.m} OBJ"

    def leaf(self, leaf: Leaf, path: Cases, assumed: tuple[int, ...], of: Row | None) -> int:
        program, opposes = self.program, self.program.opposes(leaf, of)
        sign = 1 if opposes or of else SIGN[program.question.goal]
        scale = sign if opposes or leaf.d == 1 else Fraction(sign, leaf.d)
        names = program.names
        used = [(self.number[names[column], "L" if part > 0 else "G"], scale * part)
                for column, part in sorted(program.left(leaf, path, of).items())]  # fmt: skip
        used += [(self.number[name, "L" if y > 0 else "G"], scale * y) for name, y in leaf.y.items()]
        used += [(number, scale * w) for number, w in zip(assumed, leaf.w, strict=True) if w]
        total = program.total(leaf, path, of)
        said = f"L {total} 0" if opposes else self.goal(of)
        self.leaves += 1
        how = "lin" if opposes or total % leaf.d == 0 else "rnd"
        return self.add(f"leaf{self.leaves} {said} {{ {how} {_listed(used)} }} -1")


def _terms(vector: Vector) -> str:
    return _listed(sorted(vector.items()))


def _listed(terms: Sequence[tuple[int, Fraction | int]]) -> str:
    return " ".join([str(len(terms)), *(f"{index} {value}" for index, value in terms)])


# OPB and a VeriPB 2.0 proof: the columns in bits, the rows and the opposite of the goal, and a derivation of a
# contradiction.
#
# Every leaf is one `pol` line. Of a fork, a new variable says on which side we are (two `red` lines); a leaf below forks
# then gives a clause over these (`rup`), and the clauses of both sides of a fork give the one above it. A row that is shown
# on the way is a fork, one side of which cannot be.

HOW = (
    "Format: OPB, pseudo-Boolean constraints. z0 is z0b0 + 2 z0b1 + 4 z0b2 ...: as many bits as the largest count needs.",
    "The last row is the opposite of the goal: unsatisfiable means verified",
)
OpbTerms = Sequence[tuple[int, str]]


def opb_text(program: Program) -> str:
    """The constraints as one text."""
    rows = _Rows(program)
    said = [*(f"* {line}" for line in header(program, HOW)), *rows.lines, ""]
    return "\n".join([f"* #variable= {sum(rows.bits)} #constraint= {rows.count}", *said])


def pbp_text(program: Program) -> str:
    """The proof of the constraints as one text."""
    proof = _Proof(program)
    for row, tree in program.steps:
        proof.step(row, tree)
    last = proof.node(program.tree, (), None)
    head = ["pseudo-Boolean proof version 2.0", f"f {proof.given}"]
    return "\n".join([*head, *proof.lines, "output NONE", f"conclusion UNSAT : {last}", "end pseudo-Boolean proof", ""])


class _Rows:
    """The constraints, each a sum that is at least a number; their numbers by name and side, from 1."""

    def __init__(self, program: Program) -> None:
        self.program, self.names = program, program.names
        largest = _largest(program)
        if OPEN in largest or min((lo for lo, _ in program.ends), default=0) < 0:
            raise TooLarge("a cell has no upper end by any row, or a lower one below 0: no bits hold it; use vipr, "
                           "smt2 or coq")  # fmt: skip
        self.bits = [max(1, end.bit_length()) for end in largest]
        self.lines, self.count = list[str](), 0
        self.number: dict[tuple[str, str], int] = {}
        for column, end, sense in _ends_of(program):
            if end != (0 if sense == "G" else (1 << self.bits[column]) - 1):  # else the bits say so
                self._add(self.names[column], sense, {column: 1}, end)
        for name, row in program.rows.items():
            self.lines.append(f"* {name}")
            for sense, bound in (("G", row.lo), ("L", row.hi)):
                if bound is not None:
                    self._add(name, sense, row.vector, bound)
        m, goal = program.question.m, program.question.goal
        if goal != NEVER:
            self.lines.append("* the opposite of the goal")
            sense, bound = ("G", m + 1) if goal == AT_MOST else ("L", m - 1)
            self._add("", sense, program.count, bound)
            self.number["", "G"] = self.count

    def _add(self, name: str, sense: str, vector: Vector, bound: int) -> None:
        sign = 1 if sense == "G" else -1
        self.count += 1
        self.number[name, sense] = self.count
        terms = self.terms({column: sign * part for column, part in vector.items()})
        self.lines.append(at_least(terms or [(0, f"{self.names[0]}b0")], sign * bound))

    def terms(self, vector: Vector) -> OpbTerms:
        """A sum over the columns as one over their bits."""
        return [(part << bit, f"{self.names[column]}b{bit}") for column, part in sorted(vector.items())
                for bit in range(self.bits[column])]  # fmt: skip


def _largest(program: Program) -> list[int]:
    """The most that each column can be by its end, or by one row and the ends of the others."""
    lo, hi = ([ends[side] for ends in program.ends] for side in (0, 1))
    if program.largest is not None:
        return [program.largest] * len(hi)
    for row in (*program.rows.values(), *program.rows.values()):  # twice: what one row says of a total, another may use
        for sign, end in ((1, row.hi), (-1, row.lo)):
            fewest = [(column, sign * part, (lo if sign * part > 0 else hi)[column]) for column, part in row.vector.items()]
            for column, part, _ in fewest if end is not None else ():
                others = [one for one in fewest if one[0] != column]
                if part > 0 and all(least != OPEN for _, _, least in others):
                    room = sign * (end or 0) - sum(weight * least for _, weight, least in others)
                    hi[column] = min(hi[column], max(room // part, 0))
    return hi


def at_least(terms: OpbTerms, least: int) -> str:
    """A constraint in the form of the format."""
    return " ".join([*(f"{value:+d} {literal}" for value, literal in terms), ">=", str(least), ";"])


class _Proof(_Rows):
    """The lines of the proof; every line of a rule makes one constraint, numbered on from those of the formula."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.given, self.lines, self.sides = self.count, list[str](), dict[str, tuple[int, int]]()

    def add(self, line: str) -> int:
        self.lines.append(line)
        self.count += 1
        return self.count

    def step(self, row: Row, tree: Node) -> None:
        """A row that is shown on the way: that its sum is more than it says cannot be; then it holds by itself."""
        most, weight = row.hi or 0, self.split(row.name, row.vector, row.hi or 0)
        clause = self.node(tree, ((row.name, most, False),), row)
        self.number[row.name, "L"] = self.add(f"pol {self.sides[row.name][0]} {clause} {weight} * +")

    def node(self, node: Node, path: Cases, of: Row | None) -> int:
        """The lines that show that not all literals of a path are true; the number of the last one."""
        if isinstance(node, Leaf):
            number = self.add(f"pol {self.combination(node, path, of)}")
            return self.clause(path, of) if path else number
        part = str(node.part)
        if (name := _named(part, of)) not in self.sides:
            self.split(name, self.program.parts[part].vector, node.at)
        self.node(node.below, (*path, (part, node.at, True)), of)
        self.node(node.above, (*path, (part, node.at, False)), of)
        return self.clause(path, of)

    def split(self, name: str, vector: Vector, at: int) -> int:
        """A variable that is true only if a sum is at most t, and false only if it is more; its weight in the first."""
        inside = self.terms(vector)
        least = max(1, sum(value for value, _ in inside if value > 0) - at)
        fewer = [*((-value, literal) for value, literal in inside), (least, f"~{name}")]
        below = self.add(f"red {at_least(fewer, -at)} {name} -> 0")
        more = [*inside, (max(1, at + 1 - sum(value for value, _ in inside if value < 0)), name)]
        above = self.add(f"red {at_least(more, at + 1)} {name} -> 1")
        self.sides[name] = below, above
        return least

    def clause(self, path: Cases, of: Row | None) -> int:
        """One of the sides on which we are is not so."""
        literals = [f"~{_named(part, of)}" if below else _named(part, of) for part, _, below in path]
        return self.add(f"rup {at_least([(1, literal) for literal in literals], 1)}")

    def combination(self, leaf: Leaf, path: Cases, of: Row | None) -> str:
        """The rows of a leaf in reverse Polish notation, all of them as sums that are at least a number."""
        program, chosen = self.program, path[1:] if of else path
        used = [(self.number[name, "L" if y > 0 else "G"], abs(y)) for name, y in leaf.y.items()]
        used += [(self.sides[_named(part, of)][not below], abs(w))
                 for w, (part, _, below) in zip(leaf.w, chosen, strict=True) if w]  # fmt: skip
        for column, left in program.left(leaf, chosen, of).items():
            key = program.names[column], "L" if left > 0 else "G"
            used += [(self.number[key], abs(left))] if key in self.number else []
        if not program.opposes(leaf, of):
            used.append((self.sides[of.name][1] if of else self.number["", "G"], leaf.d))
        terms = [f"{number}" if times == 1 else f"{number} {times} *" for number, times in used]
        return " ".join([*terms[:1], *(f"{term} +" for term in terms[1:])])


def _named(part: str, of: Row | None) -> str:
    """The variable of a fork: the parts of two steps may have one name."""
    return part if of is None or part == of.name else f"{of.name}_{part}"


# SMT-LIB 2: the rows and the opposite of the goal, over whole numbers; `unsat` means verified. For cvc5, z3 and others.

SMT_HOW = ["Format: SMT-LIB 2, linear arithmetic of whole numbers. unsat: the goal is true of every dataset; sat: not"]


def smt_text(program: Program) -> str:
    """The script as one text."""
    names, question = program.names, program.question
    lines = [*(f"; {line}" for line in header(program, SMT_HOW)), "(set-logic QF_LIA)"]
    lines += [f"(declare-const {name} Int)" for name in names]
    for column, end, sense in _ends_of(program):
        lines.append(f"(assert ({'>=' if sense == 'G' else '<='} {names[column]} {_number(end)}))")
    for name, row in program.rows.items():
        lines.append(f"(assert (! {_between(_sum(names, row.vector), row)} :named |{name}|))")
    if question.goal != NEVER:
        opposite = f"({'>' if question.goal == AT_MOST else '<'} {_sum(names, program.count)} {_number(question.m)})"
        lines.append(f"(assert (! {opposite} :named |not_the_goal|))")
    return "\n".join([*lines, "(check-sat)", ""])


def _between(total: str, row: Row) -> str:
    if row.lo == row.hi:
        return f"(= {total} {_number(row.lo or 0)})"
    sides = [f"(<= {_number(row.lo)} {total})"] if row.lo is not None else []
    sides += [f"(<= {total} {_number(row.hi)})"] if row.hi is not None else []
    return f"(and {' '.join(sides)})"


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def _sum(names: Sequence[str], vector: Vector) -> str:
    parts = ((names[column], part) for column, part in sorted(vector.items()))
    terms = [name if part == 1 else f"(* {_number(part)} {name})" for name, part in parts]
    return f"(+ {' '.join(terms)})" if len(terms) > 1 else terms[0] if terms else "0"


# Coq: the claim as a theorem about every dataset, proved by computing the checker of proofs/Checker.v inside the prover.

COQ_HOW = (
    "Format: Coq. Compile proofs/Checker.v first, then: coqc -Q proofs Genverify FILE",
    "x lists what each column counts",
)
GOALS = {AT_MOST: "SumAtMost", AT_LEAST: "SumAtLeast", NEVER: "NothingFits"}


def coq_text(program: Program) -> str:
    """The theorem as one text."""
    said = [line.replace("*)", "* )").replace("(*", "( *").replace('"', "'") for line in header(program, COQ_HOW)]
    return "\n".join([*(f"(* {line} *)" for line in said), *_theorem(program), ""])


def _theorem(program: Program) -> Iterator[str]:
    yield "From Coq Require Import ZArith List."
    yield "From Genverify Require Import Checker."
    yield "Import ListNotations Linear."
    yield "Open Scope Z_scope."
    size = len(program.names)
    yield f"Definition ends : list Ends := [{'; '.join(f'({_some(lo)}, {_some(hi)})' for lo, hi in program.ends)}]."
    yield "Definition rows : list Row := ["
    rows = program.rows.items()
    yield ";\n".join(f"  (* {name} *) mkRow {_dense(r.vector, size)} ({_some(r.lo)}) ({_some(r.hi)})" for name, r in rows)
    yield "]."
    index = {name: at for at, name in enumerate(program.known)}
    yield "Definition steps : list Step := ["
    steps = ((_dense(row.vector, size), row.hi or 0, _tree(program, tree, index)) for row, tree in program.steps)
    yield ";\n".join(f"  ({vector}, ({most}), {tree})" for vector, most, tree in steps)
    yield "]."
    question = program.question
    counted = "" if question.goal == NEVER else f" {_dense(program.count, size)} ({question.m})"
    yield f"Definition goal := {GOALS[question.goal]}{counted}."
    yield f"Definition tree : Tree := {_tree(program, program.tree, index)}."
    yield "Theorem shown : forall x : list Z, fits_system ends rows x -> true_of_sums goal x."
    yield "Proof. apply (system_sound ends rows steps goal tree). vm_compute. reflexivity. Qed."
    yield "Print Assumptions shown."


def _tree(program: Program, node: Node, index: Mapping[str, int]) -> str:
    if isinstance(node, Leaf):
        y = "; ".join(f"({index[name]}%nat, {times})" for name, times in node.y.items())
        return f"Leaf_ {'true' if node.kind == EMPTY else 'false'} [{y}] ({node.d}) {_coq_listed(node.w)}"
    below, above = (_tree(program, side, index) for side in (node.below, node.above))
    return f"Fork_ {_dense(program.parts[str(node.part)].vector, len(program.names))} ({node.at}) ({below}) ({above})"


def _some(end: int | None) -> str:
    return "None" if end is None or abs(end) == OPEN else f"Some ({end})"


def _dense(vector: Vector, size: int) -> str:
    return _coq_listed([vector.get(column, 0) for column in range(size)])


def _coq_listed(values: Sequence[int]) -> str:
    return f"[{'; '.join(map(str, values))}]"
