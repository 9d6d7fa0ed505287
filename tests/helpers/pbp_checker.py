"""
A small checker of OPB files with VeriPB 2.0 proofs, written from the description of the format and sharing nothing with the
exporter: the rules f, pol, rup, red (of a new variable), output and conclusion UNSAT.
"""

from dataclasses import dataclass

Literal = str


class PbpError(Exception):
    """A step that does not follow."""


@dataclass(frozen=True)
class Constraint:
    """In normal form: positive coefficients of literals, no variable twice, and the least that they sum to."""

    terms: tuple[tuple[Literal, int], ...]
    least: int

    @property
    def slack(self) -> int:
        return sum(value for _, value in self.terms) - self.least


def opposite(literal: Literal) -> Literal:
    return literal[1:] if literal.startswith("~") else f"~{literal}"


def normal(terms: list[tuple[Literal, int]], least: int) -> Constraint:
    """Negative coefficients turned around, a literal and its opposite cancelled."""
    found: dict[str, int] = {}  # coefficient of the variable itself
    for literal, value in terms:
        if literal.startswith("~"):
            least -= value
            literal, value = literal[1:], -value
        found[literal] = found.get(literal, 0) + value
    sides = []
    for name, value in found.items():
        if value < 0:
            least -= value
        if value:
            sides.append((name if value > 0 else f"~{name}", abs(value)))
    return Constraint(tuple(sorted(sides)), max(0, least))


def negated(constraint: Constraint) -> Constraint:
    return normal([(literal, -value) for literal, value in constraint.terms], 1 - constraint.least)


def parse(text: str) -> Constraint:
    """`+1 x -2 ~y >= 3`, without the semicolon."""
    words = text.split()
    at = words.index(">=")
    pairs = list(zip(words[1:at:2], map(int, words[:at:2]), strict=True))
    return normal(pairs, int(words[at + 1]))


def parse_opb(text: str) -> list[Constraint]:
    lines = [line for line in text.splitlines() if line and not line.startswith("*")]
    assert all(line.endswith(" ;") and " = " not in line for line in lines)
    return [parse(line.removesuffix(" ;")) for line in lines]


class Proof:
    """The constraints so far, by number from 1."""

    def __init__(self, formula: list[Constraint]) -> None:
        self.known = list(formula)
        self.variables = {literal.lstrip("~") for constraint in formula for literal, _ in constraint.terms}

    def pol(self, words: list[str]) -> Constraint:
        stack: list[Constraint] = []
        for place, word in enumerate(words):
            if word == "+":
                one, two = stack.pop(), stack.pop()
                stack.append(normal([*one.terms, *two.terms], one.least + two.least))
            elif word == "*":
                continue
            elif place + 1 < len(words) and words[place + 1] == "*":
                last = stack.pop()
                assert int(word) > 0
                stack.append(Constraint(tuple((x, v * int(word)) for x, v in last.terms), last.least * int(word)))
            else:
                stack.append(self.known[self.place(word)])
        if len(stack) != 1:
            raise PbpError("pol leaves more than one constraint")
        return stack[0]

    def place(self, word: str) -> int:
        number = int(word)
        if not 1 <= number <= len(self.known):
            raise PbpError(f"no constraint {number}")
        return number - 1

    def rup(self, wanted: Constraint) -> Constraint:
        """The opposite leads to a contradiction by propagation alone."""
        known, values = [*self.known, negated(wanted)], dict[Literal, bool]()
        changed = True
        while changed:
            changed = False
            for constraint in known:
                slack = constraint.slack - sum(v for x, v in constraint.terms if values.get(x) is False)
                if slack < 0:
                    return wanted
                for literal, value in constraint.terms:
                    if value > slack and literal not in values:
                        values[literal], values[opposite(literal)] = True, False
                        changed = True
        raise PbpError("rup: no contradiction by propagation")

    def red(self, wanted: Constraint, name: str, value: str) -> Constraint:
        """Every known constraint and the new one hold after name := value, given that the new one does not hold before."""
        for constraint in (*self.known, wanted):
            if constraint is not wanted and name not in {literal.lstrip("~") for literal, _ in constraint.terms}:
                continue
            after = substituted(constraint, name, value == "1")
            if after.least > 0 and not implies(negated(wanted), after):
                raise PbpError(f"red: {after} is not implied")
        return wanted


def substituted(constraint: Constraint, name: str, value: bool) -> Constraint:
    true = name if value else f"~{name}"
    got = sum(v for x, v in constraint.terms if x == true)
    return normal([(x, v) for x, v in constraint.terms if x.lstrip("~") != name], constraint.least - got)


def implies(one: Constraint, two: Constraint) -> bool:
    """By adding literal axioms only: what the second lacks of the first may be lost."""
    wanted = dict(two.terms)
    lost = sum(max(0, value - wanted.get(literal, 0)) for literal, value in one.terms)
    return one.least - lost >= two.least


def check(opb: str, pbp: str) -> int:
    """The number of steps; an error names the first that does not follow."""
    lines = [line for line in pbp.splitlines() if line and not line.startswith("*")]
    formula = parse_opb(opb)
    if lines[0] != "pseudo-Boolean proof version 2.0" or lines[1] != f"f {len(formula)}":
        raise PbpError("the head is wrong")
    if lines[-3] != "output NONE" or lines[-1] != "end pseudo-Boolean proof":
        raise PbpError("the end is wrong")
    proof = Proof(formula)
    for line in lines[2:-3]:
        rule, _, rest = line.partition(" ")
        if rule == "pol":
            proof.known.append(proof.pol(rest.split()))
        elif rule == "rup":
            proof.known.append(proof.rup(parse(rest.removesuffix(";"))))
        elif rule == "red":
            said, _, witness = rest.partition(" ; ")
            name, arrow, value = witness.split()
            if arrow != "->" or value not in ("0", "1"):
                raise PbpError(f"red: {witness} is no witness")
            if name in proof.variables:
                raise PbpError(f"red: {name} is not new")
            proof.known.append(proof.red(parse(said), name, value))
        else:
            raise PbpError(f"unknown rule {rule}")
    head, _, last = lines[-2].partition(" : ")
    if head != "conclusion UNSAT" or proof.known[proof.place(last)].slack >= 0:
        raise PbpError("no contradiction at the end")
    return len(lines) - 5
