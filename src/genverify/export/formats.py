"""
OPB and a VeriPB 2.0 proof: the counts in bits, the rows and the opposite of the goal, and a derivation of a contradiction.

Every leaf is one `pol` line. Of a fork, a new variable says on which side we are (two `red` lines); a leaf below forks then
gives a clause over these (`rup`), and the clauses of both sides of a fork give the one above it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from genverify.show.export.program import AT_LEAST, AT_MOST, CLAIM, Fork, Leaf, Node, Path, Program
from genverify.show.export.words import header, unique_names

HOW = (
    "Format: OPB, pseudo-Boolean constraints. z<k> is z<k>b0 + 2 z<k>b1 + 4 z<k>b2 ...: as many bits as N needs, because no",
    "kind counts more records than the block. The last row is the opposite of the goal: unsatisfiable means verified",
)
Terms = Sequence[tuple[int, str]]


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

    def terms(self, values: Sequence[int]) -> Terms:
        """A sum over the z as one over their bits."""
        return [(value << bit, f"z{z}b{bit}") for z, value in enumerate(values) if value for bit in range(self.bits)]


def at_least(terms: Terms, least: int) -> str:
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

    def node(self, node: Node, path: Path) -> int:
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
