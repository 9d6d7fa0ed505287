"""The two locks: what figures of the core paper need is a part of the whole, with the same versions and hashes."""

import re

from genverify.run.layout import repository

ENVS = repository() / "envs"
# tests, checkers and RAP-RANK's JAX are not needed to draw figure 3, and are two thirds of the whole
HEAVY = {"jax", "jaxlib", "opendp", "playwright", "z3-solver", "cvc5", "mypy", "pytest", "mkdocs"}


def pins(name: str) -> dict[str, set[str]]:
    """The hashes of every pinned line, by the line itself."""
    text = re.sub(r"\n    #.*", "", (ENVS / name).read_text()).replace("\\\n", " ")
    lines = [line.split() for line in text.splitlines() if line.strip()]
    return {line[0]: {word for word in line if word.startswith("--hash=")} for line in lines}


def test_the_small_lock_is_a_part_of_the_whole() -> None:
    small, whole = pins("main.lock"), pins("requirements.lock")
    assert {line: whole.get(line) for line in small} == small
    assert all(small.values()), "every package has hashes"


def test_the_small_lock_has_what_the_main_job_imports_and_nothing_heavy() -> None:
    names = {line.split("==")[0] for line in pins("main.lock")}
    assert {"snakemake", "pandas", "gurobipy", "matplotlib", "seaborn", "pyarrow", "highspy"} <= names
    assert not names & HEAVY
