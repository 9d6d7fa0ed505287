"""The form of a certificate, read into frozen values, and files of them. Whatever is malformed is refused."""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from genverify.model.domain import Predicate
from genverify.model.errors import DataError, GenverifyError
from genverify.model.files import UNREADABLE, FileLimits, guarded_lines, refuse_duplicates
from genverify.model.release import TOTAL, Release

LARGEST = 2**31  # of a multiplier: a sum of a million of them still fits in 64 bits
DEEPEST = 250  # forks above a leaf
BOUND, EMPTY = "bound", "empty"


class CertificateError(GenverifyError):
    """A proof that is malformed or does not show what it should."""


@dataclass(frozen=True)
class ExhaustedTotal:
    """Disjoint cells that hold every record of a universe."""

    universe: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Leaf:
    """Multipliers: y on cells, w on the forks above, c on the claim itself; d is their common denominator."""

    place: str
    kind: str
    y: Mapping[str, int]
    d: int
    w: tuple[int, ...]
    c: int


@dataclass(frozen=True)
class Fork:
    """At most `at` records lie in a part, or more. The part: a condition, or the cells of one record (`like`)."""

    place: str
    part: Predicate | tuple[int, ...]
    at: int
    below: "Node"
    above: "Node"


Node = Leaf | Fork


@dataclass(frozen=True)
class Statement:
    """
    COUNT(where) and m. A claim (= m) has two proofs, with the number of the pair in the certificate; an impossible count
    (never m) and a lower bound (>= m) have one, which is then both `lower` and `upper`.
    """

    place: str
    where: Predicate
    m: int
    lower: Node
    upper: Node
    proof: int | None = None

    def __str__(self) -> str:
        return f"{self.place} ({self.where}, m = {self.m})"


@dataclass(frozen=True)
class Certificate:
    """All that is to be checked about a block."""

    lemmas: tuple[ExhaustedTotal, ...]
    claims: tuple[Statement, ...]
    impossible: tuple[Statement, ...]
    at_least: tuple[Statement, ...]
    contradiction: Node | None

    @property
    def roots(self) -> list[Node]:
        """The proofs, each once."""
        statements = (*self.claims, *self.impossible, *self.at_least)
        found = [node for statement in statements for node in (statement.lower, statement.upper)]
        found += [self.contradiction] if self.contradiction else []
        return list({id(node): node for node in found}.values())


def forks(node: Node) -> Iterator[Fork]:
    """All forks of a proof."""
    if isinstance(node, Fork):
        yield node
        yield from forks(node.below)
        yield from forks(node.above)


@dataclass(frozen=True)
class ProvedBound:
    """COUNT(where) >= m (side `lower`) or COUNT(where) <= m (side `upper`), and its proof as plain values."""

    where: Predicate
    m: int
    side: Literal["lower", "upper"]
    proof: Mapping[str, Any]


def read_bounds(release: Release, lemmas: Sequence[Mapping[str, Any]], bounds: Sequence[ProvedBound]) -> Certificate:
    """The bounds as statements of a certificate, each with one proof (`upper` is `lower`)."""
    reader, block = _reader(release), f"block {release.block}"
    found = []
    for i, bound in enumerate(bounds):
        node = reader.node(bound.proof, f"{block}, bound {i}, {bound.side} proof", (BOUND, EMPTY), False)
        found.append(Statement(f"{block}, bound {i}", bound.where, _count(bound.m, block), node, node))
    known = tuple(reader.lemma(x, f"{block}, lemmas[{i}]") for i, x in enumerate(lemmas))
    return Certificate(known, tuple(found), (), (), None)


def read_nobody(release: Release, proofs: Any) -> list[Statement]:
    """Proofs that no dataset has a record of some kinds; which kinds is for the checker to find out."""
    reader, found = _reader(release), []
    for i, proof in enumerate(_list(proofs, f"{release.block}, nobody")):
        node = reader.node(proof, f"{release.block}, nobody[{i}]", (BOUND,), False)
        found.append(Statement(f"{release.block}, nobody[{i}]", Predicate(()), 0, node, node))
    return found


def read_certificate(release: Release, proofs: Mapping[str, Any]) -> Certificate:
    """The certificate of a block; an error that names the place of what is malformed."""
    block = f"block {release.block}"
    optional = ("release", "impossible", "at_least", "contradiction")
    text = _mapping(proofs, block, ("block", "lemmas", "proofs", "claims"), optional)
    if text["block"] != release.block:
        raise CertificateError(f"{block}: the proofs are of another block, {text['block']!r}")
    if text.get("release", release.digest) != release.digest:
        raise CertificateError(f"{block}: the proofs are of other counts than these, or of other tables. Verify it again.")
    reader = _reader(release)
    pairs = [reader.pair(pair, f"{block}, proofs[{i}]") for i, pair in enumerate(_list(text["proofs"], f"{block}, proofs"))]
    lemmas = [reader.lemma(x, f"{block}, lemmas[{i}]") for i, x in enumerate(_list(text["lemmas"], f"{block}, lemmas"))]
    claims = [reader.claim(x, f"{block}, claim {i}", pairs) for i, x in enumerate(_list(text["claims"], f"{block}, claims"))]
    never = _list(text.get("impossible", []), f"{block}, impossible")
    impossible = [reader.one_proof(x, f"{block}, impossible {i}", (EMPTY,), True) for i, x in enumerate(never)]
    bounds = _list(text.get("at_least", []), f"{block}, at_least")
    at_least = [reader.one_proof(x, f"{block}, at_least {i}", (BOUND, EMPTY), False) for i, x in enumerate(bounds)]
    given = "contradiction" in text
    contradiction = reader.node(text["contradiction"], f"{block}, contradiction", (EMPTY,), False) if given else None
    return Certificate(tuple(lemmas), tuple(claims), tuple(impossible), tuple(at_least), contradiction)


def _reader(release: Release) -> "_Reader":
    return _Reader(release, release.published.place)


@dataclass(frozen=True)
class _Reader:
    """Reads the parts of a certificate about one release."""

    release: Release
    published: Mapping[str, int]
    clauses: dict[tuple[str, int], tuple[str, tuple[int, ...]]] = field(default_factory=dict)

    def lemma(self, value: Any, place: str) -> ExhaustedTotal:
        text = _mapping(value, place, ("universe", "cells"))
        return ExhaustedTotal(
            self.cell(text["universe"], place), tuple(self.cell(c, place) for c in _list(text["cells"], place))
        )

    def pair(self, value: Any, place: str) -> tuple[Node, Node]:
        text = _mapping(value, place, ("lower", "upper"))
        lower, upper = (self.node(text[side], f"{place}.{side}", (BOUND, EMPTY), False) for side in ("lower", "upper"))
        return lower, upper

    def claim(self, value: Any, place: str, pairs: list[tuple[Node, Node]]) -> Statement:
        text = _mapping(value, place, ("where", "m", "proof"))
        proof = _integer(text["proof"], place, "proof")
        if not 0 <= proof < len(pairs):
            raise CertificateError(f"{place}: there is no proof {proof}, only {len(pairs)} proofs")
        where, m = self.assignment(text["where"], place), _count(text["m"], place)
        return Statement(place, where, m, *pairs[proof], proof)

    def one_proof(self, value: Any, place: str, kinds: tuple[str, ...], names_claim: bool) -> Statement:
        """A statement with a single proof, whose leaves are of the given kinds."""
        text = _mapping(value, place, ("where", "m", "proof"))
        node = self.node(text["proof"], f"{place}, proof", kinds, names_claim)
        return Statement(place, self.assignment(text["where"], place), _count(text["m"], place), node, node)

    def node(self, value: Any, place: str, kinds: tuple[str, ...], names_claim: bool, depth: int = 0) -> Node:
        """A leaf or a fork; `depth` forks stand above it, and `names_claim` allows the multiplier c."""
        if depth > DEEPEST:
            raise CertificateError(f"{place}: more than {DEEPEST} forks above one another")
        if isinstance(value, Mapping) and "kind" in value:
            return self.leaf(value, place, kinds, names_claim, depth)
        text = _mapping(value, place, ("at", "below", "above"), ("where", "like"))
        below, above = (
            self.node(text[side], f"{place}.{side}", kinds, names_claim, depth + 1) for side in ("below", "above")
        )
        return Fork(place, self.part(text, place), _integer(text["at"], f"{place}, at"), below, above)

    def leaf(self, value: Any, place: str, kinds: tuple[str, ...], names_claim: bool, depth: int) -> Leaf:
        text = _mapping(value, place, ("kind", "y"), ("d", "w", "c") if names_claim else ("d", "w"))
        if text["kind"] not in kinds:
            raise CertificateError(f"{place}: kind is {text['kind']!r}; allowed here: {', '.join(kinds)}")
        y = {self.cell(cell, place): _integer(number, f"{place}, y of {cell}") for cell, number in _items(text["y"], place)}
        d, c = _integer(text.get("d", 1), f"{place}, d"), _integer(text.get("c", 0), f"{place}, c")
        w = tuple(_integer(number, f"{place}, w") for number in _list(text.get("w", []), f"{place}, w"))
        if d <= 0:
            raise CertificateError(f"{place}: d is {d}, not above 0")
        if len(w) != depth:
            raise CertificateError(f"{place}: w has {len(w)} multipliers for {depth} forks above")
        return Leaf(place, text["kind"], y, d, w, c)

    def part(self, text: Mapping[str, Any], place: str) -> Predicate | tuple[int, ...]:
        if ("where" in text) == ("like" in text):
            raise CertificateError(f"{place}: a fork has either where or like")
        if "where" in text:
            items = _items(text["where"], place)
            return Predicate.of({self.column(name, place): _integers(codes, f"{place}, {name}") for name, codes in items})
        codes = _integers(text["like"], f"{place}, like")
        columns = self.release.schema.domain.columns
        if len(codes) != len(columns) or any(code not in c.codes for code, c in zip(codes, columns, strict=True)):
            raise CertificateError(f"{place}: like {list(codes)} is no record of the domain")
        return codes

    def assignment(self, value: Any, place: str) -> Predicate:
        return Predicate(tuple(sorted(self.clause(name, code, place) for name, code in _items(value, place))))

    def clause(self, name: Any, code: Any, place: str) -> tuple[str, tuple[int, ...]]:
        """A column and its code, read once: thousands of claims name the same ones."""
        key = (name, code) if type(name) is str and type(code) is int else None  # True is 1, but no code
        if key is None or key not in self.clauses:
            column, number = self.column(name, place), _integer(code, place, name)
            if number < 0:
                raise CertificateError(f"{place}: {(column, number)} is no code: those are 0 or more")
            self.clauses[column, number] = column, (number,)
        return self.clauses[name, code]

    def column(self, name: Any, place: str) -> str:
        if name not in self.release.schema.domain.names:
            raise CertificateError(f"{place}: the domain has no column {name!r}")
        return str(name)

    def cell(self, name: Any, place: str) -> str:
        if not isinstance(name, str) or (name not in self.published and name != TOTAL):
            raise CertificateError(f"{place}: {name!r} is no published cell")
        return name


def _mapping(value: Any, place: str, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """A mapping that has the needed keys and no unknown one."""
    if not isinstance(value, Mapping):
        raise CertificateError(f"{place}: {_short(value)} is not an object with keys")
    if len(value) == len(needed) and all(key in value for key in needed):
        return value
    missing = [key for key in needed if key not in value]
    unknown = [key for key in value if key not in needed and key not in optional]
    if missing or unknown:
        problem = f"{missing[0]!r} is missing" if missing else f"{unknown[0]!r} means nothing here"
        raise CertificateError(f"{place}: {problem}; the keys are {', '.join(needed + optional)}")
    return value


def _items(value: Any, place: str) -> list[tuple[Any, Any]]:
    if not isinstance(value, Mapping):
        raise CertificateError(f"{place}: {_short(value)} is not an object with keys")
    return list(value.items())


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise CertificateError(f"{place}: {_short(value)} is not a list")
    return list(value)


def _integer(value: Any, place: str, name: str = "") -> int:
    if type(value) is not int or abs(value) > LARGEST:
        place = f"{place}, {name}" if name else place
        raise CertificateError(f"{place}: {_short(value)} is not an integer of at most {LARGEST} in size")
    return value


def _integers(value: Any, place: str) -> tuple[int, ...]:
    return tuple(_integer(number, place) for number in _list(value, place))


def _count(value: Any, place: str) -> int:
    m = _integer(value, place, "m")
    if m < 0:
        raise CertificateError(f"{place}: m is {m}, and no count is below 0")
    return m


def _short(value: Any) -> str:
    return (
        f"{type(value).__name__} {str(value)[:40]!r}"
        if not isinstance(value, int)
        else f"number of {value.bit_length()} bits"
    )


# Files of proofs: one JSON object per block and line, compressed.

LONGEST_LINE = 64 * 2**20  # bytes: a line is read whole, so that a hostile file could fill the memory
Forks = Sequence[tuple[Mapping[str, Any], bool]]
LIMITS = FileLimits(10_000_000, 16 * 2**30, "split the study into more batches (sample.batches)")


def write_proofs(proofs: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write the proofs of many blocks; the same proofs give the same bytes."""
    with path.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        for block in proofs:
            packed.write((json.dumps(block, separators=(",", ":")) + "\n").encode())


def read_proofs(path: Path) -> Iterator[dict[str, Any]]:
    """The proofs of each block of a file."""
    try:
        for number, line in enumerate(guarded_lines(path, LONGEST_LINE, LIMITS, "the proofs of a block", packed=True), 1):
            yield _parse(path, number, line)
    except UNREADABLE as error:
        raise DataError(f"{path}: not a file of proofs, or cut short ({error})") from None


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line, object_pairs_hook=refuse_duplicates)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}, line {number}: not valid JSON ({error})") from None
    if not isinstance(found, dict) or "block" not in found:
        raise DataError(f"{path}, line {number}: holds no block")
    if not isinstance(found["block"], str):
        raise DataError(f"{path}, line {number}: the block {str(found['block'])[:40]!r} is no text; write the proofs again")
    return found


def leaves(node: Mapping[str, Any], forks: Forks = ()) -> Iterator[tuple[Mapping[str, Any], Forks]]:
    """Every leaf of a stored proof with the forks above it, and whether it lies below (True) or above what they ask."""
    if "kind" in node:
        yield node, forks
    else:
        yield from leaves(node["below"], [*forks, (node, True)])
        yield from leaves(node["above"], [*forks, (node, False)])
