"""Effective k: by hand, and against every sub-claim of every claim on tiny domains."""

from itertools import combinations, product

import numpy as np
import pytest

from genverify.attack.verify import effective_k
from genverify.model.claims import ANY, Claim
from genverify.model.domain import Column, Domain, Predicate, Rule
from genverify.model.query import Query
from genverify.model.release import Release, Schema, make_release
from genverify.model.tabulate import tabulate
from genverify.solve.program import Program, build_program

Record = tuple[int, ...]


def domain_of(*sizes: int) -> Domain:
    return Domain(tuple(
        Column(name, name, tuple(range(1, size + 1)), ("",) * size) for name, size in zip("ABCD", sizes, strict=False)
    ))  # fmt: skip


def release_of(domain: Domain, predicates: list[dict[str, list[int]]], records: list[Record], *rules: Rule) -> Release:
    queries = tuple(Query(f"Q{i}", "Q", "", Predicate.of(p)) for i, p in enumerate(predicates))
    schema = Schema(domain, rules, queries)
    columns = dict(zip(domain.names, np.array(records).T, strict=True))
    counts = tabulate(columns, np.array([0]), domain, queries)[0]
    return make_release(schema, "1", {"N": len(records), **{q.id: int(c) for q, c in zip(queries, counts, strict=True)}})


def live_records(program: Program) -> list[Record]:
    """Every record of the live types, atoms written out code by code."""
    atoms = program.types.atoms
    return [r for row in program.types.table for r in product(*(a[place] for a, place in zip(atoms, row, strict=True)))]


def brute_force(live: list[Record], codes: Record) -> int:
    """The smallest part of a claim such that every live record that matches it matches the whole."""
    asked = [place for place, code in enumerate(codes) if code != ANY]
    for size in range(len(asked) + 1):
        for part in combinations(asked, size):
            matching = [r for r in live if all(r[place] == codes[place] for place in part)]
            if all(r[place] == codes[place] for r in matching for place in asked):
                return size
    raise AssertionError("the whole claim forces itself")


def claims_about(records: list[Record]) -> list[Claim]:
    """Every claim that describes one of the records."""
    found: set[Record] = set()
    for record in records:
        found |= set(product(*((ANY, code) for code in record)))
    return [Claim(codes, 1) for codes in sorted(found) if any(code != ANY for code in codes)]


def test_a_column_with_one_live_code_says_nothing() -> None:
    """C = 1 holds of every record (C = 2 counts 0), and A = 2 only goes with B = 3."""
    release = release_of(
        domain_of(2, 3, 2), [{"C": [2]}, {"A": [2], "B": [1, 2]}, {"A": [1]}, {"B": [1]}, {"B": [2]}],
        [(1, 1, 1), (1, 2, 1), (2, 3, 1)],
    )  # fmt: skip
    program = build_program(release, 1000)
    records = np.array([(1, 1, 1), (1, 2, 1), (2, 3, 1)], dtype=np.int16)
    expected = {
        (ANY, ANY, 1): 0,  # nothing is left to say
        (2, 3, 1): 1,  # A = 2 forces the rest
        (2, ANY, 1): 1,
        (1, 1, 1): 1,  # A = 2 with B in 1, 2 counts 0, so B = 1 forces A = 1
        (1, 2, ANY): 1,
        (ANY, 3, 1): 1,
    }
    live = live_records(program)
    assert sorted(live) == [(1, 1, 1), (1, 2, 1), (1, 3, 1), (2, 3, 1)]
    found = effective_k(program, [Claim(codes, 1) for codes in expected], records)
    assert dict(zip(expected, found, strict=True)) == expected


def test_codes_that_nothing_tells_apart_are_not_forced() -> None:
    """B = 2 and B = 3 are one atom: knowing A says that B is one of them, never which."""
    release = release_of(domain_of(2, 3), [{"A": [1], "B": [2, 3]}, {"A": [2], "B": [1]}, {"A": [1]}], [(1, 1), (2, 3)])
    program = build_program(release, 1000)
    assert sorted(live_records(program)) == [(1, 1), (2, 2), (2, 3)]
    claims = [Claim((2, 3), 1), Claim((ANY, 3), 1), Claim((1, 1), 1)]
    assert effective_k(program, claims, np.array([(1, 1), (2, 3)], dtype=np.int16)) == [1, 1, 1]
    wide = build_program(release_of(domain_of(2, 3), [{"A": [1]}], [(1, 1), (2, 3)]), 1000)
    assert effective_k(wide, claims, np.array([(1, 1), (2, 3)], dtype=np.int16)) == [2, 1, 2]


@pytest.mark.parametrize("seed", range(40))
def test_against_every_sub_claim(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = domain_of(*rng.integers(2, 5, size=rng.integers(2, 5)).tolist())
    records = [tuple(int(rng.choice(column.codes[:3])) for column in domain.columns) for _ in range(3)]
    predicates = []
    for _ in range(rng.integers(1, 9)):
        columns = rng.choice(len(domain.columns), size=rng.integers(1, 3), replace=False)
        predicates.append({
            domain.names[place]: rng.choice(domain.columns[place].codes, size=rng.integers(1, 3), replace=False).tolist()
            for place in columns
        })  # fmt: skip
    program = build_program(release_of(domain, predicates, records), 10_000)
    claims = claims_about(records)
    live = live_records(program)
    assert set(records) <= set(live)
    found = effective_k(program, claims, np.array(records, dtype=np.int16))
    assert found == [brute_force(live, claim.codes) for claim in claims]


def test_structural_rules_count_as_well() -> None:
    rule = Rule("r", Predicate.of({"A": [1]}), (Predicate.of({"B": [1]}),))
    records = [(1, 1), (2, 2)]
    program = build_program(release_of(domain_of(2, 2), [{"A": [1]}], records, rule), 1000)
    found = effective_k(program, [Claim((1, 1), 1), Claim((2, 2), 1)], np.array(records, dtype=np.int16))
    assert found == [1, 1]  # A = 1 forces B = 1, and B = 2 forces A = 2


def test_no_claims() -> None:
    program = build_program(release_of(domain_of(2, 2), [{"A": [1]}], [(1, 1)]), 1000)
    assert effective_k(program, [], np.array([(1, 1)], dtype=np.int16)) == []
