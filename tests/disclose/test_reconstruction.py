"""Programs in files: unique or not, against all solutions tried one by one."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genverify.disclosure.unique import read_program, unique
from genverify.model.errors import GenverifyError
from genverify.model.linear import make_system
from genverify.solve.linear.search import Work

LP = (
    "maximize\n obj: x\nsubject to\n c1: x + y + z = 2\n c2: x - y >= {}\n"
    "bounds\n x <= 1\n y <= 1\n z <= 1\ngeneral\n x y z\nend\n"
)


@pytest.mark.parametrize(("least", "answer"), [(1, "unique, with"), (0, "not unique"), (2, "no solution")])
def test_an_lp_file(tmp_path: Path, least: int, answer: str) -> None:
    (tmp_path / "p.lp").write_text(LP.format(least))
    assert unique(read_program(tmp_path / "p.lp"), Work()).answer.startswith(answer)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(st.integers(-1, 2), min_size=4, max_size=4), min_size=1, max_size=3),
    st.integers(0, 15),
    st.integers(1, 2),
)
def test_unique_means_that_there_is_one(rows: list[list[int]], truth: int, most: int) -> None:
    x = np.array([(truth >> at) & 1 for at in range(4)])
    named = [
        (f"r{at}", {f"x{i}": w for i, w in enumerate(row) if w}, *2 * (int(np.dot(row, x)),)) for at, row in enumerate(rows)
    ]
    sums = make_system({f"x{i}": (0, most) for i in range(4)}, [row for row in named if row[1]])
    solutions = [point for point in product(range(most + 1), repeat=4) if sums.fits(np.array(point))]
    found = unique(sums, Work()).answer
    assert found.startswith("unique") == (len(solutions) == 1)
    assert found.startswith("not unique") == (len(solutions) > 1)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "p.lp").write_text("this is no program")
    with pytest.raises(GenverifyError, match="cannot be read as an LP or MPS file"):
        read_program(tmp_path / "p.lp")
    (tmp_path / "q.lp").write_text(LP.format(1).replace("x - y", "0.3 x - y"))
    with pytest.raises(GenverifyError, match="not a whole number"):
        read_program(tmp_path / "q.lp")
