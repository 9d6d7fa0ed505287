"""Tiny releases and all datasets that fit them, counted one by one: what the library and the checker are compared with."""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations_with_replacement, product
from random import Random
from typing import Any

import numpy as np

from genverify.model.domain import Column, Domain, Predicate, Rule
from genverify.model.query import Query
from genverify.model.release import Release, Schema
from genverify.solve.program import Program

ANY = -1


def matches(predicate: Predicate, names: tuple[str, ...], record: tuple[int, ...]) -> bool:
    held = dict(zip(names, record, strict=True))
    return all(held[name] in codes for name, codes in predicate.clauses)


def added(query: Query, names: tuple[str, ...], record: tuple[int, ...]) -> int:
    """What a record adds to a query: 1, or its code in the column that is summed."""
    return matches(query.predicate, names, record) * (record[names.index(query.sums)] if query.sums else 1)


def obeys(rules: tuple[Rule, ...], names: tuple[str, ...], record: tuple[int, ...]) -> bool:
    return all(
        not matches(rule.when, names, record) or any(matches(option, names, record) for option in rule.one_of)
        for rule in rules
    )


def records_of(schema: Schema) -> list[tuple[int, ...]]:
    """Every record of the domain that obeys the rules."""
    every = product(*(column.codes for column in schema.domain.columns))
    return [record for record in every if obeys(schema.rules, schema.domain.names, record)]


@cache
def multisets(kinds: int, size: int) -> np.ndarray:
    return np.array(list(combinations_with_replacement(range(kinds), size)), dtype=np.int64).reshape(-1, size)


@dataclass(frozen=True)
class Truth:
    """All datasets that fit a release."""

    release: Release

    @cached_property
    def datasets(self) -> np.ndarray:
        """Shape (datasets, N, columns); the records of a dataset are sorted."""
        schema, names = self.release.schema, self.release.schema.domain.names
        records = records_of(schema)
        picks = multisets(len(records), self.release.n)
        for query, lo, hi in zip(self.release.queries, self.release.lo, self.release.hi, strict=True):
            held = np.array([added(query, names, record) for record in records], dtype=np.int64)
            counts = held[picks].sum(axis=1)
            picks = picks[(lo <= counts) & (counts <= hi)]
        return np.array(records, dtype=np.int64).reshape(-1, len(names))[picks]

    def counts(self, codes: tuple[int, ...]) -> set[int]:
        """Every value that COUNT(a) takes."""
        asked = [place for place, code in enumerate(codes) if code != ANY]
        wanted = np.array([codes[place] for place in asked], dtype=np.int64)
        return set((self.datasets[:, :, asked] == wanted).all(axis=2).sum(axis=1).tolist())


def refuted(release: Release, text: dict[str, Any]) -> list[dict[str, Any]]:
    """What a certificate says that brute force refutes."""
    truth, names = Truth(release), release.schema.domain.names

    def counts(said: dict[str, Any]) -> set[int]:
        return truth.counts(tuple(said["where"].get(name, ANY) for name in names))

    wrong = [claim for claim in text["claims"] if not counts(claim) <= {claim["m"]}]
    wrong += [said for said in text.get("impossible", []) if said["m"] in counts(said)]
    wrong += [bound for bound in text.get("at_least", []) if min(counts(bound), default=bound["m"]) < bound["m"]]
    return wrong + ([text] if text.get("contradiction") and len(truth.datasets) else [])


def every_assignment(domain: Domain) -> list[tuple[int, ...]]:
    """Every partial assignment of at least one column."""
    found = product(*((ANY, *column.codes) for column in domain.columns))
    return [codes for codes in found if any(code != ANY for code in codes)]


def some_predicate(random: Random, domain: Domain) -> Predicate:
    columns = random.sample(domain.columns, random.randint(1, len(domain.columns)))
    return Predicate.of({c.name: random.sample(c.codes, random.randint(1, len(c.codes) - 1)) for c in columns})


def some_schema(random: Random, queries: int, sums: bool) -> Schema:
    columns = []
    for name in "ABC"[: random.randint(2, 3)]:
        codes = tuple(range(0 if sums else 1, random.randint(2, 3) + 1))
        columns.append(Column(name, name, codes, tuple(map(str, codes))))
    domain = Domain(tuple(columns))
    rules = tuple(
        Rule(
            f"rule{i}",
            some_predicate(random, domain),
            tuple(some_predicate(random, domain) for _ in range(random.randint(1, 2))),
        )
        for i in range(random.choice([0, 0, 1, 2]))
    )
    summed = [None, *domain.names] if sums else [None]
    asked = tuple(
        Query(f"q{i}", "T", f"q{i}", some_predicate(random, domain), random.choice(summed))
        for i in range(random.randint(1, queries))
    )
    schema = Schema(domain, rules, asked)
    return schema if records_of(schema) else replace(schema, rules=())


def some_release(random: Random, queries: int = 8, slack: bool = False, sums: bool = False) -> Release:
    """The counts (and sums) of a random dataset, some of them withheld, some (with slack) given as a range."""
    schema = some_schema(random, queries, sums)
    n = random.randint(1, 3 if sums else 4)
    data = [random.choice(records_of(schema)) for _ in range(n)]
    withheld = random.choice([(), (), (0,), (1,), (0, 1)])
    cells, lo, hi = [], [], []
    for place, query in enumerate(schema.queries):
        count = sum(added(query, schema.domain.names, record) for record in data)
        if count not in withheld:
            cells.append(place)
            lo.append(max(0, count - (random.randint(0, 1) if slack else 0)))
            hi.append(count + (random.randint(0, 1) if slack else 0))
    as_array = [np.array(values, dtype=np.int64) for values in (cells, lo, hi)]
    return Release(schema, "tiny", n, *as_array)


def graph(edges: list[tuple[int, int]], nodes: int, n: int, most: int) -> Release:
    """
    Records hold a node (A = 1.. and B = 1) or none (A = 0 and B = 0). The two nodes of an edge together are counted at most
    once, and at least `most` records hold a node. The linear program may put half a record on every node.
    """
    codes = tuple(range(nodes + 1))
    domain = Domain((Column("A", "A", codes, tuple(map(str, codes))), Column("B", "B", (0, 1), ("0", "1"))))
    inside, outside = Predicate.of({"A": codes[1:]}), Predicate.of({"A": [0]})
    rules = (Rule("in", inside, (Predicate.of({"B": [1]}),)), Rule("out", outside, (Predicate.of({"B": [0]}),)))
    asked = [outside, *(Predicate.of({"A": edge}) for edge in edges)]
    queries = tuple(Query(f"q{i}", "T", f"q{i}", predicate) for i, predicate in enumerate(asked))
    hi = np.array([n - most, *(1 for _ in edges)], dtype=np.int64)
    return Release(Schema(domain, rules, queries), "tiny", n, np.arange(len(queries)), np.zeros_like(hi), hi)


def clique(size: int) -> Release:
    """Every two nodes are joined, so exactly one of two records holds a node; the linear program allows size / 2."""
    return graph([(i, j) for i in range(1, size + 1) for j in range(1, i)], size, 2, 1)


def some_graph(random: Random) -> Release:
    """A random dense graph; as many records as possible hold a node."""
    nodes, n = random.randint(4, 6), random.randint(2, 4)
    edges = [(i, j) for i in range(1, nodes + 1) for j in range(1, i) if random.random() < 0.8]
    most = max(Truth(graph(edges, nodes, n, 0)).counts((ANY, 1)))
    return graph(edges, nodes, n, most)


# The dynamic program over classes in plain Python, states in a dictionary: what the packed one is compared with.


def count_by_dictionary(program: Program) -> tuple[int, int]:
    """The number of class vectors that fit, and of moves that it took; classes in the order of their first row."""
    A, least = program.A, program.lo.tolist()
    order = sorted(range(A.shape[1]), key=lambda c: int((A[:, c] > 0).argmax()))
    columns, limit = [tuple(A[:, c].tolist()) for c in order], tuple(program.hi.tolist())
    states, moves = {tuple([0] * len(limit)): 1}, 0
    for column, rest in zip(columns, _later(columns, limit), strict=True):
        after: dict[tuple[int, ...], int] = {}
        for state, ways in states.items():
            while all(s <= h for s, h in zip(state, limit, strict=True)):
                moves += 1
                if all(s + r >= least_ for s, r, least_ in zip(state, rest, least, strict=True)):
                    after[state] = after.get(state, 0) + ways
                state = tuple(s + a for s, a in zip(state, column, strict=True))
        states = after
    return sum(states.values()), moves


def _later(columns: list[tuple[int, ...]], limit: tuple[int, ...]) -> list[list[int]]:
    """After each class, the most that the later ones can add to every row."""
    later = [[0] * len(limit)]
    for column in reversed(columns):
        most = min(h // a for h, a in zip(limit, column, strict=True) if a)
        later.append([rest + most * a for rest, a in zip(later[-1], column, strict=True)])
    return later[::-1][1:]
