"""
VIPR 1.0, the certificate format of exact SCIP: viprchk and a formally verified checker read it.

Every leaf is one `lin` or `rnd` step over the rows and over z >= 0; a fork is two assumptions (`asm`) and one `uns`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from genverify.show.export.program import AT_LEAST, AT_MOST, NEVER, Leaf, Node, Path, Program
from genverify.show.export.words import header, unique_names

Terms = Sequence[tuple[int, Fraction | int]]
HOW = ("Format: VIPR 1.0, certificate of mixed-integer programs. Constraints at_least.z<k>: no kind counts below 0",)


def vipr_text(program: Program) -> str:
    """The certificate as one text."""
    return "\n".join([*(f"% {line}" for line in header(program, HOW)), *_problem(program), *_derivation(program), ""])


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

    def node(self, node: Node, path: Path, assumed: tuple[int, ...]) -> int:
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
