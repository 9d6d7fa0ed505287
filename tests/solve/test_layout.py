"""What blocks share: grids of releases that publish different cells, the last program, classes looked up by key."""

from dataclasses import replace

import numpy as np
import pytest

from genverify.model.release import Release, Schema, make_release
from genverify.solve import datasets as exchange
from genverify.solve.datasets import _Known
from genverify.solve.program import build_program, layout_of, program_of


def without(release: Release, count: int) -> Release:
    """The release without the cells that have this count."""
    kept = release.lo != count
    return replace(release, cells=release.cells[kept], lo=release.lo[kept], hi=release.hi[kept])


@pytest.fixture
def release(toy_schema: Schema) -> Release:
    counts = {query.id: 0 for query in toy_schema.queries}
    rng = np.random.default_rng(1)
    records = [{c.name: int(rng.choice(c.codes)) for c in toy_schema.domain.columns} for _ in range(4)]
    for query in toy_schema.queries:
        columns = {c.name: np.array([record[c.name] for record in records]) for c in toy_schema.domain.columns}
        inside = query.predicate.matches(columns)
        counts[query.id] = int((inside * columns[query.sums]).sum()) if query.sums else int(inside.sum())
    return make_release(toy_schema, "block", {"N": 4, **counts})


@pytest.mark.parametrize("count", [0, 1, 2])
def test_grids_shared_by_releases_change_no_program(release: Release, count: int) -> None:
    """A schema of its own shares nothing: the program is the same to the last row."""
    fewer = without(release, count)
    build_program(release, 10_000)
    shared = build_program(fewer, 10_000)
    alone = build_program(replace(fewer, schema=replace(fewer.schema)), 10_000)
    assert shared.rows == alone.rows
    assert shared.lemmas == alone.lemmas
    assert shared.types.atoms == alone.types.atoms
    for name in ("A", "lo", "hi", "class_of"):
        assert np.array_equal(getattr(shared, name), getattr(alone, name)), name
    assert np.array_equal(shared.types.table, alone.types.table)


def test_layouts_of_the_same_cells_are_one(release: Release) -> None:
    assert layout_of(release) is layout_of(replace(release, block="other"))
    assert layout_of(without(release, 1)) is not layout_of(release)


def test_the_last_program_is_used_again_and_only_for_its_release(release: Release) -> None:
    first = program_of(release, 10_000)
    assert program_of(release, 10_000) is first
    other = program_of(replace(release), 10_000)
    assert other is not first
    assert program_of(release, 10_000) is not first


@pytest.mark.parametrize("longest", [0, 2**20])
def test_classes_by_key_in_a_list_or_by_a_search(monkeypatch: pytest.MonkeyPatch, longest: int) -> None:
    monkeypatch.setattr(exchange, "LONGEST_LIST", longest)
    known = _Known(np.array([7, 2, 9]), np.array([0, 1, 0]))
    assert known.classes(np.array([[9, 8], [2, 700]])).tolist() == [[0, -1], [1, -1]]
