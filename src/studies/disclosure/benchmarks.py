"""How fast audits of a survey are, and answers about reconstructions in files, on synthetic people."""

import resource
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.settings import DATASETS
from genverify.disclosure.audit import Attack, Audit
from genverify.disclosure.describe import describe
from genverify.disclosure.reconstruction import read_program, unique
from genverify.disclosure.settings import DisclosureBenchmark, TractCase
from genverify.disclosure.tractfile import write_tract
from genverify.disclosure.write import write_audit
from genverify.solve.settings import DEFAULT
from genverify.solve.sums.work import Work

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
    """One line for each survey, then one for each reconstruction."""
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
    with TemporaryDirectory() as place:
        folder, answered = Path(place), list[float]()
        survey(people, np.random.default_rng([seed, people])).to_csv(folder / "people.csv", index=False)
        (folder / "release.yaml").write_text(RELEASE, encoding="utf-8")
        started = process_time()

        def say(found: Audit) -> None:
            answered.append(process_time() - started)

        described = describe(folder / "release.yaml")
        found, search = write_audit(described, Attack.of(described, DEFAULT, DATASETS), folder, say)
        remark = f"{len(found.claims)} claims, {len(found.singles)} about one person; withhold {len(search.steps)} cells"
        return {"case": f"survey of {people}", "size": people, "data": DATA, "answer_s": answered[0],
                "cpu_s": process_time() - started, "peak_mb": _peak(), "answer": remark}  # fmt: skip


def _program(name: str, case: TractCase, seconds: float, seed: int) -> dict[str, Any]:
    with TemporaryDirectory() as place:
        path = Path(place) / "tract.mps"
        write_tract(path, case.blocks, case.persons, case.by_year, seed)
        started = process_time()
        sums = read_program(path)
        read = process_time() - started
        found = unique(sums, Work(seconds=seconds))
        answer = f"{found.rows} rows: {found.answer}; {read:.2f} s to read and build"
        return {"case": f"tract {name}", "size": found.numbers, "data": DATA, "answer_s": process_time() - started,
                "cpu_s": process_time() - started, "peak_mb": _peak(), "answer": answer}  # fmt: skip


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
