"""A release of five people, as a user would describe it."""

from pathlib import Path

from genverify.disclosure.record_audit import Attack
from genverify.disclosure.release_data import ReleaseDescription
from genverify.solve.program_settings import DEFAULT

SETTINGS = DEFAULT.but(max_types=100_000, iterations=100_000, seconds=60.0)
ATTACK = Attack(SETTINGS, 20, 1, 1)
# Ann is the only old woman, so the only woman who is old and rents
PEOPLE = """sex,age,home,village
f,71,rents,north
f,30,owns,north
m,33,owns,north
m,75,owns,south
f,20,rents,south
"""
YAML = """
name: tiny
data: people.csv
columns:
  age: {bins: [65]}
  sex: {label: sex, codes: {f: woman, m: man}}
tables:
  sex_age: {columns: [sex, age]}
  age_home: {columns: [age, home]}
"""


def write(folder: Path, text: str = YAML, people: str = PEOPLE, name: str = "people.csv") -> Path:
    (folder / name).write_text(people)
    (folder / "release.yaml").write_text(text)
    return folder / "release.yaml"


def counted(described: ReleaseDescription, place: int = 0) -> dict[str, int]:
    release = described.exact[place]
    return {query.id: int(lo) for query, lo in zip(release.queries, release.lo, strict=True)}
