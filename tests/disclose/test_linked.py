"""Ranges of linked tables against an independent integer program over records and all datasets; forged proofs."""

from copy import deepcopy
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from genverify.checker.certificate import CertificateError
from genverify.checker.linear_proofs import check_linear
from genverify.disclosure.intervals import find_intervals, still_narrow, suppress_more
from genverify.disclosure.link import LinkedTables, PrintedTable, Value, link, read_facts
from genverify.model.errors import ReleaseError
from genverify.model.linear import OPEN, make_system, system_of
from genverify.reading.reading import Entry
from genverify.reading.totals import Hierarchy
from genverify.solve.linear.ranges import all_ranges
from genverify.solve.linear.search import Work

WORK = Work(seconds=30.0)
SIZES = {"a": 2, "b": 3, "c": 2}
TOP = 10**6


def printed(name: str, columns: str, counts: np.ndarray, hidden: np.ndarray, base: int) -> tuple[PrintedTable, dict]:
    """A table of some columns with totals: hidden cells, or all cells rounded at random to a base."""
    axes = tuple(at for at, column in enumerate("abc") if column not in columns)
    entries, values = {}, {}
    for labels in product(*([*range(SIZES[column]), "Total"] for column in columns)):
        index = [slice(None)] * 3
        for column, label in zip(columns, labels, strict=True):
            if label != "Total":
                index["abc".index(column)] = label
        count = int(counts[tuple(index)].sum())
        key = tuple(str(label) for label in labels)
        hide = hidden.flat[len(entries) % hidden.size]
        entries[key] = Entry("*" if hide else str(count), f"{name} {key}")
        low = max(0, count - (count % base))
        values[key] = Value(0, None, True) if hide else Value(low, low + base - 1, False)
    assert axes is not None
    sums = {column: Hierarchy("Total", {"Total": (tuple(map(str, range(SIZES[column]))),)}) for column in columns}
    return PrintedTable(name, name, tuple(columns), entries, sums), values


def linked_of(tables: list[tuple[PrintedTable, dict]]) -> LinkedTables:
    values = {(at, labels): value for at, (_, own) in enumerate(tables) for labels, value in own.items()}
    return link([table for table, _ in tables], values)


def by_records(tables: list[tuple[PrintedTable, dict]], table: PrintedTable, labels: tuple[str, ...]) -> tuple[int, int]:
    """The range of a cell by an integer program over the joint table: one variable for each kind of record."""
    kinds = list(product(*(range(size) for size in SIZES.values())))

    def row(columns: tuple[str, ...], wanted: tuple[str, ...]) -> list[int]:
        named = dict(zip(columns, wanted, strict=True))
        return [
            int(all(label == "Total" or kind["abc".index(c)] == int(label) for c, label in named.items())) for kind in kinds
        ]

    A = [row(own.columns, key) for own, values in tables for key in values]
    lo = [value.lo for _, values in tables for value in values.values()]
    hi = [TOP if value.hi is None else value.hi for _, values in tables for value in values.values()]
    c = np.array(row(table.columns, labels))
    ends = []
    for sign in (1, -1):
        found = milp(
            sign * c, constraints=LinearConstraint(np.array(A), lo, hi), bounds=Bounds(0, TOP), integrality=np.ones(len(c))
        )
        ends.append(round(float(c @ found.x)))
    return ends[0], ends[1]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.integers(0, 3), min_size=12, max_size=12), st.lists(st.booleans(), min_size=36, max_size=36),
    st.sampled_from([("ab", "bc"), ("ab", "bc", "ac"), ("abc", "b"), ("ab", "c")]), st.sampled_from([1, 1, 3]),
)  # fmt: skip
def test_ranges_of_linked_tables_are_those_of_records(
    counts: list[int], hidden: list[bool], sets: tuple[str, ...], base: int
) -> None:
    joint, hide = np.array(counts).reshape(2, 3, 2), np.array(hidden)
    tables = [printed(f"t{at}", columns, joint, np.roll(hide, 7 * at), base) for at, columns in enumerate(sets)]
    linked = linked_of(tables)
    exposed = find_intervals(linked, WORK)
    assert linked.joint
    assert exposed.ranges.exact[list(exposed.printed.values())].all()
    for at, (table, values) in enumerate(tables):
        for labels in list(values)[::3]:
            cell = exposed.printed[linked.placed[at].keys[labels]]
            low, high = by_records(tables, table, labels)
            assert int(exposed.ranges.lo[cell]) == low
            assert min(int(exposed.ranges.hi[cell]), TOP) == high or exposed.ranges.hi[cell] == OPEN


def test_a_circle_is_wider_without_the_joint_table() -> None:
    """Three two-way tables that agree pairwise, and yet no dataset has them: the joint table is what finds it."""
    pairs = (("a", "b", True), ("b", "c", True), ("a", "c", False))
    places = [(x, i, y, j, even) for x, y, even in pairs for i in range(2) for j in range(2)]
    cells = {f"{x}{i}{y}{j}": (1, 1) if even == (i == j) else (0, 0) for x, i, y, j, even in places}
    joint = {f"z{i}{j}{k}": (0, 9) for i in range(2) for j in range(2) for k in range(2)}
    rows = []
    for name in cells:
        own = {name[0]: int(name[1]), name[2]: int(name[3])}
        inside = [z for z in joint if all(int(z["zabc".index(c)]) == v for c, v in own.items())]
        rows.append((name, {**dict.fromkeys(inside, 1), name: -1}, 0, 0))
    sums = make_system({**cells, **joint}, rows)
    found = all_ranges(sums, WORK)
    assert found.empty
    assert check_linear(sums, found.statements).empty


def test_every_count_is_met_by_a_dataset_counted_one_by_one() -> None:
    """A small system: all whole numbers between the ends are tried."""
    sums = make_system(
        {"x": (0, 4), "y": (0, 4), "z": (0, 4), "t": (5, 6)},
        [("t", {"x": 1, "y": 2, "z": 3, "t": -1}, 0, 0), ("odd", {"x": 2, "y": 2}, 3, 5)],
    )
    points = [
        p for p in product(*(range(lo, hi + 1) for lo, hi in zip(sums.lo, sums.hi, strict=True))) if sums.fits(np.array(p))
    ]
    found = all_ranges(sums, WORK)
    assert found.exact.all()
    assert (found.lo == np.min(points, axis=0)).all()
    assert (found.hi == np.max(points, axis=0)).all()
    check_linear(system_of(sums.as_dict()), found.statements)


def test_forged_statements_are_refused() -> None:
    """Every value made better by one, every multiplier changed, every statement about another cell."""
    sums = make_system({"x": (0, 9), "y": (2, 9), "t": (7, 7)}, [("t", {"x": 1, "y": 1, "t": -1}, 0, 0)])
    found = list(all_ranges(sums, WORK).statements)
    check_linear(sums, found)
    assert found
    for at, statement in enumerate(found):
        forged = deepcopy(found)
        forged[at]["value"] += -1 if statement["side"] == "upper" else 1
        with pytest.raises(CertificateError):
            check_linear(sums, forged)
        for y in ({}, {"t": 3}, {"no row": 1}):
            forged = deepcopy(found)
            forged[at]["proof"] = {"y": y}
            with pytest.raises(CertificateError):
                check_linear(sums, forged)
    with pytest.raises(CertificateError):
        check_linear(sums, [{"side": "empty", "proof": {"y": {"t": 1}}}])


def test_tables_that_contradict_each_other_are_named() -> None:
    counts = np.ones((2, 3, 2), dtype=int)
    one, values = printed("t", "ab", counts, np.zeros(1, dtype=bool), 1)
    wrong = {**values, ("0", "0"): Value(5, 5, False)}
    with pytest.raises(ReleaseError, match=r"contradict each other \(proof checked\): .*t \('0', '0'\)"):
        find_intervals(linked_of([(one, wrong)]), WORK)


def test_more_withheld_cells_protect_the_others() -> None:
    counts = np.arange(12).reshape(2, 3, 2)
    hidden = np.zeros(12, dtype=bool)
    hidden[[0, 5]] = True
    exposed = find_intervals(linked_of([printed("t", "ab", counts, hidden, 1)]), WORK)
    targets = np.flatnonzero(exposed.unclear & (exposed.width == 0)).tolist()
    assert len(targets) == 2
    found = suppress_more(exposed, targets, 1, WORK)
    assert not found.left
    assert 1 <= len(found.cells) <= 4
    assert still_narrow(exposed, targets, found.cells, 1, WORK) == ([], "")


def test_a_cell_is_protected_only_if_counts_that_fit_show_it() -> None:
    """Without a point, or with one alone, wide ends show nothing: they may be wide because the time was short."""
    sums = make_system({"x": (0, 9), "y": (0, 9), "t": (9, 9)}, [("t", {"x": 1, "y": 1, "t": -1}, 0, 0)])
    found = all_ranges(sums, WORK)
    assert found.moves.tolist() == [9, 9, 0]
    assert replace(found, least=found.lo - 1, most=found.hi - 1).moves.tolist() == [-1, -1, -1]
    assert all_ranges(sums, WORK, np.zeros(3, dtype=bool)).moves.tolist() == [0, 0, 0]


@pytest.mark.parametrize(("fact", "low", "high"), [
    ("b=0 >= 3", 3, 4), ("b=0 < 2", 0, 1), ("percent b=0 of everyone = 75", 3, 3),
    ("mean b of everyone = 1.5 over 0, 1, 2", 0, 1),
    ("median b of everyone = 0 over 0, 1, 2", 2, 4),
])  # fmt: skip
def test_facts_beside_counts(fact: str, low: int, high: int) -> None:
    """Four people by b, nothing printed but their number."""
    entries = {(str(label),): Entry("*", "x") for label in range(3)} | {("Total",): Entry("4", "x")}
    table = PrintedTable("t", "t", ("b",), entries, {"b": Hierarchy("Total", {"Total": (("0", "1", "2"),)})})
    values = {
        (0, labels): Value(4, 4, False) if entry.text == "4" else Value(0, None, True) for labels, entry in entries.items()
    }
    linked = link([table], values, lambda columns: read_facts([fact], columns))
    exposed = find_intervals(linked, WORK)
    cell = linked.sums.place["b=0"]
    assert (exposed.ranges.lo[cell], exposed.ranges.hi[cell]) == (low, high)
