"""How fast audits are: surveys of synthetic people, reconstructions in files of the size that agencies publish."""

import resource
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csc_array

from genverify.disclosure.record_audit import RecordsAudit
from genverify.disclosure.sources import disclose
from genverify.disclosure.unique import read_program, unique
from genverify.model.arrays import Ints
from genverify.solve.linear.search import Work
from genverify.solve.solvers.base import IntegerProgram
from genverify.solve.solvers.highs import open_highs, pass_model
from studies.disclosure.settings import DisclosureBenchmark, TractCase

# A synthetic tract as a reconstruction in an MPS file, of the size that agencies publish: who lives in which block?

SEXES, YEARS, RACES, BAND = 2, 100, 5, 5
OF_RACE = (0.62, 0.15, 0.12, 0.07, 0.04)


def _write_tract(path: Path, blocks: int, persons: int, by_year: bool, seed: int) -> None:
    """
    A program with a number for every block and kind of person (sex, year of age, race) whose sex and five-year band live in
    the block. Rows: the block's persons by sex and band and by race (`by_year`: also by sex and year, race and year), the
    tract's by all three.
    """
    rng = np.random.default_rng(seed)
    people = np.stack([
        rng.integers(blocks, size=blocks * persons), rng.integers(SEXES, size=blocks * persons),
        rng.integers(YEARS, size=blocks * persons), rng.choice(RACES, size=blocks * persons, p=OF_RACE),
    ])  # fmt: skip
    lived = np.unique(np.stack([people[0], people[1], people[2] // BAND]), axis=1)
    inside = [np.repeat(part, BAND * RACES) for part in lived]
    more = np.tile(np.indices((BAND, RACES)).reshape(2, -1), lived.shape[1])
    columns = np.stack([inside[0], inside[1], inside[2] * BAND + more[0], more[1]])
    matrix, counts = _rows(_keys(columns, by_year), _keys(people, by_year))
    highs, numbers, sums = open_highs(), matrix.shape[1], counts.astype(float)
    upper, none = np.full(numbers, float(counts.max())), np.zeros(numbers)
    pass_model(highs, matrix, sums, sums, IntegerProgram(matrix.tocsr(), sums, sums, upper, none))
    highs.writeModel(str(path))


def _keys(who: Ints, by_year: bool) -> list[Ints]:
    block, sex, year, race = who
    years = [(block, sex, year), (block, race, year)] if by_year else []
    tables = [(block, sex, year // BAND), (block, race), (sex, year, race), *years]
    return [sum(part * 1_000**index for index, part in enumerate(table)) + np.int64(0) for table in tables]


def _rows(columns: list[Ints], people: list[Ints]) -> tuple[csc_array, Ints]:
    rows, counts, before = list[Ints](), list[Ints](), 0
    for column, of in zip(columns, people, strict=True):
        cells, index = np.unique(column, return_inverse=True)
        rows.append(before + index)
        counts.append(np.bincount(np.searchsorted(cells, of), minlength=len(cells)))
        before += len(cells)
    number = np.tile(np.arange(len(columns[0])), len(columns))
    ones = np.ones(len(number))
    return coo_array((ones, (np.concatenate(rows), number)), shape=(before, len(columns[0]))).tocsc(), np.concatenate(counts)


# How fast audits of a survey are, and answers about reconstructions in files, on synthetic people.

DATA = "synthetic people"
SHARES = {"sex": 2, "race": 5, "origin": 2, "tenure": 3, "size": 6}
RELEASE = """name: survey
data: people.csv
columns:
  age: {bins: [18, 30, 45, 60, 75]}
tables:
  age_sex: {columns: [age, sex], totals: [age, sex]}
  age_sex_race: {columns: [age, sex, race]}
  race_origin: {columns: [race, origin]}
  tenure_size: {columns: [tenure, size]}
  tenure_age_origin: {columns: [tenure, age, origin]}
"""


def time_audits(settings: DisclosureBenchmark, seed: int) -> Iterator[dict[str, Any]]:
    for people in settings.people:
        yield _survey(people, seed)
    for name, case in settings.tracts.items():
        yield _program(name, case, settings.seconds, seed)


def survey(people: int, rng: np.random.Generator) -> pd.DataFrame:
    """People of two classes that differ in all columns, so that columns hang together as in a survey."""
    kind = rng.random(people) < 0.3
    columns = {name: _drawn(levels, kind, rng) for name, levels in SHARES.items()}
    age = np.where(kind, rng.integers(0, 95, people), np.minimum(rng.gamma(4.0, 11.0, people).astype(int), 99))
    return pd.DataFrame({"age": age, **columns})


def _drawn(levels: int, kind: Any, rng: np.random.Generator) -> Any:
    shares = [rng.dirichlet(np.full(levels, 0.5)) for _ in range(2)]
    drawn = [rng.choice(levels, size=len(kind), p=share) for share in shares]
    return np.char.add("c", np.where(kind, *drawn).astype(str))


def _survey(people: int, seed: int) -> dict[str, Any]:
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        survey(people, np.random.default_rng([seed, people])).to_csv(folder / "people.csv", index=False)
        (folder / "release.yaml").write_text(RELEASE, encoding="utf-8")
        started = process_time()

        result = disclose(folder / "release.yaml", search_seconds=0)
        answered = process_time() - started
        result = result.suppress()
        result.write(folder / "audit")
        assert isinstance(result, RecordsAudit)
        assert result.suppression
        cells = len(result.suppression.steps)
        remark = f"{len(result.claims)} claims, {len(result.singles)} about one person; suppress {cells} cells"
        return {"case": f"survey of {people}", "size": people, "data": DATA, "answer_s": answered,
                "cpu_s": process_time() - started, "peak_mb": _peak(), "answer": remark}  # fmt: skip


def _program(name: str, case: TractCase, seconds: float, seed: int) -> dict[str, Any]:
    with TemporaryDirectory() as temporary:
        path = Path(temporary) / "tract.mps"
        _write_tract(path, case.blocks, case.persons, case.by_year, seed)
        started = process_time()
        sums = read_program(path)
        read = process_time() - started
        result = unique(sums, Work(seconds=seconds))
        answer = f"{result.rows} rows: {result.answer}; {read:.2f} s to read and build"
        return {"case": f"tract {name}", "size": result.numbers, "data": DATA, "answer_s": process_time() - started,
                "cpu_s": process_time() - started, "peak_mb": _peak(), "answer": answer}  # fmt: skip


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
