"""The form of a certificate, read into frozen values, and files of them. Whatever is malformed is refused."""

import gzip
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from genverify.model.domain import Predicate
from genverify.model.errors import DataError, GenverifyError, nearest, refusing
from genverify.model.files import UNREADABLE, FileLimits, guarded_lines, refuse_duplicates
from genverify.model.proof_form import EXACTLY, GOALS, HOUSING, KIND_OF, NEVER, NOTHING, RECORDS, VERSION, ExhaustedTotal
from genverify.model.release import TOTAL, Release

LARGEST = 2**31  # of a multiplier: a sum of a million of them still fits in 64 bits
FARTHEST = LARGEST * LARGEST  # of a number in a proof about sums, which is added up in Python's integers
DEEPEST = 250  # forks above a leaf
KINDS = BOUND, EMPTY = "bound", "empty"
SIDES = ("upper", "lower", EMPTY)
ATTAINS = "attains"  # the side of a statement that points show: counts that fit, which need no proof but a recount
LISTS = (list, tuple)
AGAIN = "snakemake --force FILE, or the command disclose on the tables or the release file"
FORMER = ("claims", "shared", "system", "alone")  # keys of certificates from before they had a version


class CertificateError(GenverifyError):
    """A proof that is malformed or does not show what it should."""


@dataclass(frozen=True)
class Leaf:
    """Multipliers: y on cells or rows, w on the forks above, c on the claim itself; d is their common denominator."""

    path: str
    kind: str
    y: Mapping[str, int]
    d: int
    w: tuple[int, ...] = ()
    c: int = 0


@dataclass(frozen=True)
class Fork:
    """At most `at` in a part, or more. The part: a condition, the cells of one record (`like`), or a cell of a system."""

    path: str
    part: Predicate | tuple[int, ...] | str
    at: int
    below: "Node"
    above: "Node"


Node = Leaf | Fork
Cases = tuple[tuple[Any, int, bool], ...]  # of each fork above: its part, its t, whether we are below it


@dataclass(frozen=True)
class Statement:
    """COUNT(where) and m. A claim has two proofs and their number; all else has one, both `lower` and `upper`."""

    path: str
    where: Predicate
    m: int
    lower: Node
    upper: Node
    proof: int | None = None

    def __str__(self) -> str:
        return f"{self.path} ({self.where}, m = {self.m})"


@dataclass(frozen=True)
class CellBound:
    """A cell of a system is at most (`upper`) or at least (`lower`) a value; `empty`: no counts fit."""

    path: str
    side: str
    cell: str
    value: int
    proof: Node


@dataclass(frozen=True)
class Certificate:
    """All that is to be checked about a block: its exhausted totals, and the statements of every goal."""

    lemmas: tuple[ExhaustedTotal, ...]
    statements: Mapping[str, tuple[Statement, ...]]

    @property
    def claims(self) -> tuple[Statement, ...]:
        return self.statements[EXACTLY]

    @property
    def roots(self) -> list[Node]:
        """The proofs, each once."""
        stated = (statement for of_goal in self.statements.values() for statement in of_goal)
        return list({id(node): node for statement in stated for node in (statement.lower, statement.upper)}.values())


def leaves_of(node: Node, path: Cases = ()) -> Iterator[tuple[Leaf, Cases]]:
    """Every leaf with the forks above it, outermost first."""
    if isinstance(node, Leaf):
        yield node, path
    else:
        for side, below in ((node.below, True), (node.above, False)):
            yield from leaves_of(side, (*path, (node.part, node.at, below)))


# The head, the same for every model: which version, about what, by which model.


def read_head(text: Any, path: str) -> str:
    """The model of a certificate; an error for a former format, another version, another kind, or an unknown model."""
    if not isinstance(text, Mapping):
        raise CertificateError(f"{path}: {_short(text)} is not a certificate")
    if "version" not in text and any(key in text for key in FORMER):
        raise CertificateError(f"{path}: a certificate of a former format, which had no version. Make it again: {AGAIN}")
    if text.get("version") != VERSION or type(text["version"]) is not int:
        said = str(text.get("version", "missing"))[:20]
        raise CertificateError(f"{path}: the version of the certificate is {said}, not {VERSION}. Make it again: {AGAIN}")
    model, about = text.get("model"), _mapping(text.get("about"), f"{path}, about", ("kind", "name", "digest"))
    if not isinstance(model, str) or model not in KIND_OF:
        raise CertificateError(f"{path}: unknown model {str(model)[:40]!r}: {nearest(str(model)[:40], list(KIND_OF))}")
    if about["kind"] != KIND_OF[model]:
        kind = str(about["kind"])[:40]
        raise CertificateError(f"{path}: a certificate of the model {model} is about {KIND_OF[model]}, not about {kind!r}")
    if not isinstance(about["name"], str) or not isinstance(about["digest"], str):
        raise CertificateError(f"{path}: does not name what it is about, with its digest")
    if not isinstance(text.get("statements"), LISTS):
        raise CertificateError(f"{path}: has no list of statements. Make it again: {AGAIN}")
    return model


def require_about(text: Mapping[str, Any], path: str, models: Collection[str], digest: str, name: str = "") -> None:
    """An error unless a certificate is of one of these models and about what has this digest (and this name)."""
    model = read_head(text, path)
    if model not in models:
        raise CertificateError(f"{path}: the model is {model}, where {' or '.join(models)} is needed")
    if name and text["about"]["name"] != name:
        raise CertificateError(f"{path}: the proofs are of another block, {text['about']['name'][:60]!r}")
    if text["about"]["digest"] != digest:
        raise CertificateError(f"{path}: the proofs are of other counts than these, or of other tables. Verify it again.")


# Leaf and fork, read in one place for every model.


@dataclass(frozen=True)
class NodeReader:
    """Reads proofs: `cell` takes what a multiplier stands on, `part` what a fork splits (its keys: `parts`)."""

    cell: Callable[[Any, str], str]
    part: Callable[[Mapping[str, Any], str], Predicate | tuple[int, ...] | str]
    parts: tuple[str, ...]
    largest: int
    sides: bool = True

    def node(self, value: Any, path: str, kinds: tuple[str, ...], names_claim: bool = False, depth: int = 0) -> Node:
        """A leaf or a fork; `depth` forks stand above it, and `names_claim` allows the multiplier c."""
        if depth > DEEPEST:
            raise CertificateError(f"{path}: more than {DEEPEST} forks above one another")
        if not isinstance(value, dict):
            raise CertificateError(f"{path}: {_short(value)} is not an object with keys, so it is not a proof")
        if "at" not in value:
            return self.leaf(value, path, kinds, names_claim, depth)
        text = _mapping(value, path, ("at", "below", "above"), self.parts)
        sides = ("below", "above")
        below, above = (self.node(text[side], f"{path}.{side}", kinds, names_claim, depth + 1) for side in sides)
        return Fork(path, self.part(text, path), _integer(text["at"], path, "at", self.largest), below, above)

    def leaf(self, value: Mapping[str, Any], path: str, kinds: tuple[str, ...], names_claim: bool, depth: int) -> Leaf:
        given = ("w", "c") if names_claim else ("w",) if self.sides else ()
        text = _mapping(value, path, ("y", "kind") if self.sides else (), ("y", "kind", "d", *given))
        kind = text.get("kind", BOUND)
        if kind not in kinds:
            raise CertificateError(f"{path}: kind is {str(kind)[:40]!r}; allowed here: {', '.join(kinds)}")
        cell, largest = self.cell, self.largest
        y = {
            cell(name, path): _integer(number, path, name, largest, "y of ")
            for name, number in _items(text.get("y", {}), path)
        }
        d, c = _integer(text.get("d", 1), path, "d", largest), _integer(text.get("c", 0), path, "c", largest)
        w = _integers(text["w"], path, "w") if "w" in text else ()
        if d <= 0:
            raise CertificateError(f"{path}: d is {d}, not above 0")
        if self.sides and len(w) != depth:
            raise CertificateError(f"{path}: w has {len(w)} multipliers for {depth} forks above")
        return Leaf(path, kind, y, d, w, c)


# Statements about the counts of a system of sums.


def read_cell_bound(reader: NodeReader, value: Any, path: str) -> CellBound:
    """A statement about a cell of a system."""
    side = value.get("side") if isinstance(value, dict) else None
    if side not in SIDES:
        raise CertificateError(f"{path}: is not a statement: its side is {str(side)[:40]!r}; known: {', '.join(SIDES)}")
    text = _mapping(value, path, ("side", "proof"), ("cell", "value"))
    proof = reader.node(text["proof"], path, KINDS)
    if side == EMPTY:
        return CellBound(path, side, "", 0, proof)
    if not isinstance(text.get("cell"), str):
        raise CertificateError(f"{path}: names no cell")
    return CellBound(path, side, text["cell"], _integer(text.get("value"), path, "value", FARTHEST - 1), proof)


def read_attained(value: Mapping[str, Any], path: str, points: int) -> tuple[str, int, int, tuple[int, ...]]:
    """A cell, and two of so many points: by the first it is at most a number, by the second at least another one."""
    text = _mapping(value, path, ("side", "cell", "lower", "upper", "points"))
    if not isinstance(text["cell"], str):
        raise CertificateError(f"{path}: names no cell")
    lower, upper = (_integer(text[end], path, end, FARTHEST) for end in ("lower", "upper"))
    if lower >= upper:
        raise CertificateError(f"{path}: {lower} or less and {upper} or more may be one count: this shows nothing")
    named = _integers(text["points"], path, "points")
    if len(named) != 2 or not all(0 <= number < points for number in named):
        raise CertificateError(f"{path}: points are two numbers from 0 to {points - 1}, not {list(named)[:4]}")
    return text["cell"], lower, upper, named


def read_points(value: Any, size: int) -> list[list[int]]:
    """Points: the counts of all cells that are not known exactly, in the order of the system."""
    points = [_list(point, f"point {number}") for number, point in enumerate(_list(value, "points"))]
    for number, point in enumerate(points):
        if len(point) != size:
            raise CertificateError(f"point {number}: has {len(point)} counts, where {size} cells are not known exactly")
        for count in point:
            _integer(count, f"point {number}", "count", FARTHEST)
    return points


def linear_reader(rows: Collection[str], cells: Collection[str]) -> NodeReader:
    """Reads proofs about a system with these rows and cells."""

    def known(name: Any, path: str, what: str = "row", names: Collection[str] = rows) -> str:
        if not isinstance(name, str) or name not in names:
            raise CertificateError(f"{path}: there is no {what} {str(name)[:60]!r}")
        return name

    return NodeReader(known, lambda text, path: known(text.get("cell"), path, "cell", cells), ("cell",), FARTHEST, False)


# Statements about the records behind a release.


def read_lemmas(release: Release, lemmas: Any) -> tuple[ExhaustedTotal, ...]:
    """The exhausted totals of a block."""
    reader, path, result = _Reader(release), f"block {release.block}, lemmas", list[ExhaustedTotal]()
    for i, lemma in enumerate(_list(lemmas, path)):
        text, where = _mapping(lemma, f"{path}[{i}]", ("universe", "cells")), f"{path}[{i}]"
        cells = tuple(reader.cell(cell, where) for cell in _list(text["cells"], where))
        result.append(ExhaustedTotal(reader.cell(text["universe"], where), cells))
    return tuple(result)


def read_nobody(release: Release, proofs: Any) -> list[Statement]:
    """Proofs that no dataset has a record of some kinds; which kinds is for the checker to find out."""
    listed = {f"{release.block}, nobody[{i}]": proof for i, proof in enumerate(_list(proofs, f"{release.block}, nobody"))}
    nodes = {path: _Reader(release).nodes.node(proof, path, (BOUND,)) for path, proof in listed.items()}
    return [Statement(path, Predicate(()), 0, node, node) for path, node in nodes.items()]


def read_certificate(release: Release, text: Mapping[str, Any]) -> Certificate:
    """The certificate of a block; an error that names the place of what is malformed."""
    block = f"block {release.block}"
    require_about(text, block, (RECORDS, HOUSING), release.digest, release.block)
    _mapping(text, block, ("version", "about", "model", "lemmas", "proofs", "statements"))
    reader = _Reader(release)
    pairs = [reader.pair(pair, f"{block}, proofs[{i}]") for i, pair in enumerate(_list(text["proofs"], f"{block}, proofs"))]
    lemmas = read_lemmas(release, text["lemmas"])
    result: dict[str, list[Statement]] = {goal: [] for goal in GOALS}
    for i, said in enumerate(text["statements"]):
        goal, statement = reader.statement(said, f"{block}, statement {i}", pairs)
        result[goal].append(statement)
    if len(result[NOTHING]) > 1:
        raise CertificateError(f"{block}: two statements say that no dataset fits")
    return Certificate(lemmas, {goal: tuple(stated) for goal, stated in result.items()})


@dataclass(frozen=True)
class _Reader:
    release: Release
    clauses: dict[tuple[str, int], tuple[str, tuple[int, ...]]] = field(default_factory=dict)

    @cached_property
    def nodes(self) -> NodeReader:
        return NodeReader(self.cell, self.part, ("where", "like"), LARGEST)

    @cached_property
    def published(self) -> Collection[str]:
        return self.release.published.position

    def pair(self, value: Any, path: str) -> tuple[Node, Node]:
        text = _mapping(value, path, ("lower", "upper"))
        lower, upper = (self.nodes.node(text[side], f"{path}.{side}", KINDS) for side in ("lower", "upper"))
        return lower, upper

    def statement(self, value: Any, path: str, pairs: list[tuple[Node, Node]]) -> tuple[str, Statement]:
        """What is shown, and the statement: a claim names the number of its two proofs, all else holds its own."""
        goal = value.get("goal") if isinstance(value, dict) else None
        if goal not in GOALS:
            raise CertificateError(f"{path}: is not a statement: its goal is {str(goal)[:40]!r}; known: {', '.join(GOALS)}")
        text = _mapping(value, path, ("goal", "proof") if goal == NOTHING else ("goal", "where", "m", "proof"))
        if goal == NOTHING:
            node = self.nodes.node(text["proof"], f"{path}, proof", (EMPTY,))
            return goal, Statement(path, Predicate(()), 0, node, node)
        m, said = text["m"], text["where"]
        where = self.assignment(said, path) if goal in (EXACTLY, NEVER) else self.condition(said, path, single=True)
        if _integer(m, path, "m") < 0:
            raise CertificateError(f"{path}: m is {m}, and no count is below 0")
        if goal == EXACTLY:
            number = _integer(text["proof"], path, "proof")
            if not 0 <= number < len(pairs):
                raise CertificateError(f"{path}: there is no proof {number}, only {len(pairs)} proofs")
            return goal, Statement(path, where, m, *pairs[number], number)
        kinds = (EMPTY,) if goal == NEVER else KINDS
        node = self.nodes.node(text["proof"], f"{path}, proof", kinds, goal == NEVER)
        return goal, Statement(path, where, m, node, node)

    def part(self, text: Mapping[str, Any], path: str) -> Predicate | tuple[int, ...]:
        if ("where" in text) == ("like" in text):
            raise CertificateError(f"{path}: a fork has either where or like")
        if "where" in text:
            return self.condition(text["where"], path)
        codes = _integers(text["like"], path, "like")
        columns = self.release.schema.domain.columns
        if len(codes) != len(columns) or any(code not in c.codes for code, c in zip(codes, columns, strict=True)):
            raise CertificateError(f"{path}: like {list(codes)} is not a record of the domain")
        return codes

    def condition(self, value: Any, path: str, single: bool = False) -> Predicate:
        """A list of codes for each column; or, where that is allowed, a single code."""
        listed = {name: [codes] if single and type(codes) is int else codes for name, codes in _items(value, path)}
        return Predicate.of({self.column(name, path): _integers(codes, path, name) for name, codes in listed.items()})

    def assignment(self, value: Any, path: str) -> Predicate:
        return Predicate(tuple(sorted(self.clause(name, code, path) for name, code in _items(value, path))))

    def clause(self, name: Any, code: Any, path: str) -> tuple[str, tuple[int, ...]]:
        """A column and its code, read once: thousands of claims name the same ones."""
        key = (name, code) if type(name) is str and type(code) is int else None  # True is 1, but no code
        if key is None or key not in self.clauses:
            column, number = self.column(name, path), _integer(code, path, name)
            if number < 0:
                raise CertificateError(f"{path}: {(column, number)} is not a code: codes are 0 or more")
            self.clauses[column, number] = column, (number,)
        return self.clauses[name, code]

    def column(self, name: Any, path: str) -> str:
        if name not in self.release.schema.domain.names:
            raise CertificateError(f"{path}: the domain has no column {name!r}")
        return str(name)

    def cell(self, name: Any, path: str) -> str:
        if not isinstance(name, str) or (name not in self.published and name != TOTAL):
            raise CertificateError(f"{path}: {name!r} is not a published cell")
        return name


def _mapping(value: Any, path: str, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise CertificateError(f"{path}: {_short(value)} is not an object with keys")
    missing = [key for key in needed if key not in value]
    if len(value) == len(needed) and not missing:
        return value
    unknown = [key for key in value if key not in needed and key not in optional]
    if missing or unknown:
        problem = f"{missing[0]!r} is missing" if missing else f"{str(unknown[0])[:40]!r} means nothing here"
        raise CertificateError(f"{path}: {problem}; the keys are {', '.join(dict.fromkeys(needed + optional))}")
    return value


def _items(value: Any, path: str) -> list[tuple[Any, Any]]:
    if not isinstance(value, dict):
        raise CertificateError(f"{path}: {_short(value)} is not an object with keys")
    return list(value.items())


def _list(value: Any, path: str, name: str = "") -> list[Any]:
    if not isinstance(value, LISTS):
        raise CertificateError(f"{path}{name and ', '}{name}: {_short(value)} is not a list")
    return list(value)


def _integer(value: Any, path: str, name: str, largest: int = LARGEST, of: str = "") -> int:
    """A whole number; where it stands is put into words only for an error."""
    if type(value) is not int or abs(value) > largest:
        raise CertificateError(f"{path}, {of}{name}: {_short(value)} is not an integer of at most {largest} in size")
    return value


def _integers(value: Any, path: str, name: str) -> tuple[int, ...]:
    return tuple([_integer(number, path, name) for number in _list(value, path, name)])


def _short(value: Any) -> str:
    if isinstance(value, int):
        return f"number of {value.bit_length()} bits"
    return f"{type(value).__name__} {str(value)[:40]!r}"


# Files of certificates: one JSON object per line, compressed.

LONGEST_LINE = 64 * 2**20  # bytes: a line is read whole, so that a hostile file could fill the memory
Forks = Sequence[tuple[Mapping[str, Any], bool]]
LIMITS = FileLimits(10_000_000, 16 * 2**30, "split the study into more batches (sample.batches)")


def write_proofs(proofs: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write certificates, or what is laid out of them; the same ones give the same bytes."""
    with path.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        for one in proofs:
            packed.write((json.dumps(one, separators=(",", ":")) + "\n").encode())


def read_proofs(path: Path) -> Iterator[dict[str, Any]]:
    """The certificates of a file, the head of each read."""
    for number, result in enumerate(read_lines(path), 1):
        read_head(result, f"{path}, line {number}")
        yield result


def one_certificate(path: Path) -> dict[str, Any]:
    """The only certificate of a file."""
    result = list(read_proofs(path))
    if len(result) != 1:
        raise DataError(f"{path}: holds {len(result)} certificates, not one. Make it again: {AGAIN}")
    return result[0]


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, one per line."""
    with refusing(UNREADABLE, f"{path}: not a file of proofs, or cut short"):
        for number, line in enumerate(guarded_lines(path, LONGEST_LINE, LIMITS, "a certificate", packed=True), 1):
            with refusing((ValueError, RecursionError), f"{path}, line {number}: not valid JSON"):
                result = json.loads(line, object_pairs_hook=refuse_duplicates)
            if not isinstance(result, dict):
                raise DataError(f"{path}, line {number}: holds no object")
            yield result


def leaves(node: Mapping[str, Any], forks: Forks = ()) -> Iterator[tuple[Mapping[str, Any], Forks]]:
    """Every leaf of a stored proof with the forks above it, and whether it lies below (True) or above what they ask."""
    if "at" not in node:
        yield node, forks
    else:
        yield from leaves(node["below"], [*forks, (node, True)])
        yield from leaves(node["above"], [*forks, (node, False)])
