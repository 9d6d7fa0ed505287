"""
A checker of VIPR 1.0 certificates, in rational numbers, written from the description of the format (Cheung, Gleixner and
Steffy 2017). It knows nothing of genverify: a certificate of any integer program can be checked.

Sections: VER VAR INT OBJ CON RTP SOL DER. A derived constraint follows by a suitable linear combination (lin), by one that
is rounded (rnd), by joining two cases (uns), from a solution (sol), or is assumed (asm) until a later uns takes it back.
"""

import argparse
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from genverify.model.errors import DataError

Number = Fraction | int
Vector = Mapping[int, Number]
SENSES = {"L": -1, "E": 0, "G": 1}
LONGEST = 400  # characters of a number
ENDING = ".vipr"


class ViprError(DataError):
    """A certificate that is malformed, or a step that does not follow."""


@dataclass(frozen=True)
class Constraint:
    """a x <= b (sense -1), a x = b (0) or a x >= b (1), and the assumptions that it rests on."""

    name: str
    sense: int
    b: Number
    a: Vector
    assumed: frozenset[int] = frozenset()

    @property
    def absurd(self) -> bool:
        return not self.a and ((self.sense <= 0 and self.b < 0) or (self.sense >= 0 and self.b > 0))

    def dominates(self, other: "Constraint") -> bool:
        """Whether the other follows in the restricted sense of the format: it says the same with a bound no stronger."""
        if self.absurd:
            return True
        if self.a != other.a or (self.sense and self.sense != other.sense):
            return False
        if other.sense == 0:
            return self.b == other.b
        return self.b <= other.b if other.sense < 0 else self.b >= other.b


def check_vipr(text: str) -> int:
    """Check a certificate; the number of steps of its derivation. An error names the first step that does not follow."""
    return _Checker(_Reader(_tokens(text))).check()


def certificates(path: Path) -> Iterator[tuple[str, str]]:
    """Every certificate of a file, a folder or a zip archive, with its name."""
    try:
        if path.is_dir():
            yield from ((str(file), file.read_text()) for file in sorted(path.rglob(f"*{ENDING}")))
        elif path.suffix == ".zip":
            with ZipFile(path) as archive:
                for name in archive.namelist():
                    if name.endswith(ENDING):
                        yield f"{path}: {name}", archive.read(name).decode()
        else:
            yield str(path), path.read_text()
    except (OSError, BadZipFile, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error})") from None


def check_archive(path: Path) -> int:
    """Check every certificate of a file, a folder or an archive; how many there are."""
    count = 0
    for name, text in certificates(path):
        try:
            check_vipr(text)
        except ViprError as error:
            raise ViprError(f"{name}: not accepted: {error}") from None
        count += 1
    return count


def check_files(options: argparse.Namespace) -> Iterator[str]:
    """The command `check-vipr`."""
    started = time.monotonic()
    count = sum(map(check_archive, options.files))
    if not count:
        raise DataError(f"{options.files[0]}: holds no certificate (*.vipr)")
    yield f"{count} VIPR certificates: all right ({time.monotonic() - started:.1f} s)"


def _tokens(text: str) -> Iterator[str]:
    """The words of a file; lines of comments come first."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.split()[:1] != ["%"]:
            yield from line.split()
            break
    for line in lines:
        yield from line.split()


class _Reader:
    def __init__(self, tokens: Iterator[str]) -> None:
        self.tokens = tokens
        self.variables = 0
        self.objective: Vector = {}

    def word(self, *expected: str) -> str:
        result = next(self.tokens, None)
        if result is None or (expected and result not in expected):
            raise ViprError(f"{' or '.join(expected) or 'more'} is expected, not {(result or 'the end of the file')[:40]!r}")
        return result

    def index(self, below: int | None = None, least: int = 0) -> int:
        result = self.word()
        digits = result.removeprefix("-") if least < 0 else result
        if not (digits.isascii() and digits.isdigit() and len(digits) <= LONGEST):
            raise ViprError(f"{result[:40]!r} is not an index")
        number = int(result)
        if number < least or (below is not None and number >= below):
            raise ViprError(f"the index {result[:40]} is out of range")
        return number

    def number(self) -> Number:
        result = self.word()
        try:
            if result.isascii() and result.removeprefix("-").isdigit() and len(result) <= LONGEST:
                return int(result)
            if len(result) > LONGEST or "e" in result.lower() or "_" in result:
                raise ValueError
            return Fraction(result)
        except (ValueError, ZeroDivisionError):
            raise ViprError(f"{result[:40]!r} is not a rational number") from None

    def vector(self, count: int, below: int) -> Vector:
        """This number of pairs of an index and a number, each index once; zeros are left out."""
        result: dict[int, Number] = {}
        for _ in range(count):
            index = self.index(below)
            if index in result:
                raise ViprError(f"the index {index} is listed twice")
            result[index] = self.number()
        return {index: value for index, value in result.items() if value}

    def constraint(self) -> Constraint:
        name, sense, b = self.word(), SENSES[self.word(*SENSES)], self.number()
        size = self.word()
        if size == "OBJ":
            return Constraint(name, sense, b, self.objective)
        if not (size.isascii() and size.isdigit() and len(size) <= LONGEST):
            raise ViprError(f"{name}: {size[:40]!r} is not a number of terms")
        return Constraint(name, sense, b, self.vector(int(size), self.variables))


class _Checker:
    def __init__(self, read: _Reader) -> None:
        self.read = read
        read.word("VER")
        read.word("1.0")
        read.word("VAR")
        read.variables = read.index()
        names = [read.word() for _ in range(read.variables)]
        if len(set(names)) < len(names):
            raise ViprError("two variables have one name")
        read.word("INT")
        self.whole = {read.index(read.variables) for _ in range(read.index(read.variables + 1))}
        read.word("OBJ")
        self.least = read.word("min", "max") == "min"
        read.objective = read.vector(read.index(), read.variables)
        read.word("CON")
        count, bounds = read.index(), read.index()
        if bounds > count:
            raise ViprError(f"{bounds} bounds among {count} constraints")
        self.known = [read.constraint() for _ in range(count)]
        self.given = count
        self.goal = self._goal()
        self.best = self._solutions()

    def _goal(self) -> Constraint | None:
        self.read.word("RTP")
        if self.read.word("infeas", "range") == "infeas":
            self.range: tuple[str, str] = ("inf", "-inf")
            return None
        self.range = self.read.word(), self.read.word()
        if self.range[0] == "inf" or self.range[1] == "-inf":
            low, high = self.range
            raise ViprError(f"the range {low} to {high} holds no number: write `RTP infeas` if that is meant")
        said = self.range[0] if self.least else self.range[1]
        if said in ("-inf", "inf"):
            raise ViprError("the range asks for no bound, so there is nothing to derive")
        bound = _Reader(iter([said])).number()
        return Constraint("RTP", 1 if self.least else -1, bound, self.read.objective)

    def _solutions(self) -> Number | None:
        self.read.word("SOL")
        values = []
        for _ in range(self.read.index()):
            name, x = self.read.word(), self.read.vector(self.read.index(), self.read.variables)
            if any(value.denominator != 1 for index, value in x.items() if index in self.whole):
                raise ViprError(f"the solution {name} is not whole")
            for known in self.known:
                left = _product(known.a, x) - known.b
                if (known.sense >= 0 and left < 0) or (known.sense <= 0 and left > 0):
                    raise ViprError(f"the solution {name} does not fit {known.name}")
            values.append(_product(self.read.objective, x))
        best = None if not values else min(values) if self.least else max(values)
        asked = self.range[1] if self.least else self.range[0]
        if self.goal is not None and asked not in ("-inf", "inf"):
            bound = _Reader(iter([asked])).number()
            if best is None or (best > bound if self.least else best < bound):
                raise ViprError(f"no solution reaches {bound}")
        return best

    def check(self) -> int:
        read = self.read
        read.word("DER")
        steps = read.index()
        for _ in range(steps):
            said = read.constraint()
            read.word("{")
            kind = read.word("asm", "lin", "rnd", "uns", "sol")
            assumed = getattr(self, f"_{kind}")(said)
            read.word("}")
            read.index(least=-1)
            self.known.append(replace(said, assumed=assumed))
        if next(read.tokens, None) is not None:
            raise ViprError("there is text after the derivation")
        if not steps:
            raise ViprError("nothing is derived")
        last = self.known[-1]
        if last.assumed:
            raise ViprError(f"{last.name} rests on the assumption {self.known[min(last.assumed)].name}")
        if not (last.absurd if self.goal is None else last.dominates(self.goal)):
            raise ViprError(f"{last.name} is not what was to be proved")
        return steps

    def _asm(self, said: Constraint) -> frozenset[int]:
        return frozenset([len(self.known)])

    def _rnd(self, said: Constraint) -> frozenset[int]:
        return self._lin(said, rounded=True)

    def _lin(self, said: Constraint, rounded: bool = False) -> frozenset[int]:
        """A suitable linear combination, rounded or not, that dominates what is said."""
        weights = self.read.vector(self.read.index(), len(self.known))
        used = [(self.known[index], weight) for index, weight in weights.items()]
        senses = {known.sense * (1 if weight > 0 else -1) for known, weight in used} - {0}
        if len(senses) > 1:
            raise ViprError(f"{said.name}: the senses of what is added up differ")
        a: dict[int, Number] = {}
        for known, weight in used:
            for index, value in known.a.items():
                a[index] = a.get(index, 0) + weight * value
        b: Number = sum(weight * known.b for known, weight in used)
        result = Constraint("", senses.pop() if senses else 0, b, {index: value for index, value in a.items() if value})
        if rounded:
            self._require_whole(result.a, said)
            b = result.b if result.sense == 0 else floor(result.b) if result.sense < 0 else ceil(result.b)
            result = replace(result, b=b)
        if not result.dominates(said):
            raise ViprError(f"{said.name} does not follow from what is added up")
        return frozenset().union(*(known.assumed for known, _ in used))

    def _require_whole(self, a: Vector, said: Constraint) -> None:
        if any(index not in self.whole or value.denominator != 1 for index, value in a.items()):
            raise ViprError(f"{said.name}: a coefficient or a variable is not whole")

    def _uns(self, said: Constraint) -> frozenset[int]:
        """Two cases that cannot both fail: a x <= b and a x >= b + 1, all whole."""
        one, below, two, above = (self.read.index(len(self.known)) for _ in range(4))
        if self.known[below].sense > 0:
            one, below, two, above = two, above, one, below
        low, high = self.known[below], self.known[above]
        if (low.sense, high.sense) != (-1, 1) or low.a != high.a or high.b != low.b + 1 or low.b.denominator != 1:
            raise ViprError(f"{said.name}: {low.name} and {high.name} are not two cases of which one holds")
        self._require_whole(low.a, said)
        for index in (one, two):
            if not self.known[index].dominates(said):
                raise ViprError(f"{said.name} does not follow from {self.known[index].name}")
        return (self.known[one].assumed - {below}) | (self.known[two].assumed - {above})

    def _sol(self, said: Constraint) -> frozenset[int]:
        """A solution at hand: no worse value need be looked at."""
        sense = -1 if self.least else 1
        if self.best is None or not Constraint("", sense, self.best, self.read.objective).dominates(said):
            raise ViprError(f"{said.name}: no solution is as good")
        return frozenset()


def _product(a: Vector, x: Vector) -> Number:
    return sum(value * x.get(index, 0) for index, value in a.items())
