"""The versions of the program, of its solvers and of what it is built on."""

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from genverify.core.extras import EXTRAS

SOLVERS = {"HiGHS": "highspy", "Gurobi": "gurobipy"}
LIBRARIES = ("numpy", "scipy", "pandas", "pydantic")


def version_lines() -> Iterator[str]:
    """`genverify 0.1.0`, then a line for each solver and for the libraries."""
    yield f"genverify {_version('genverify') or '(from its source, not installed)'}"
    for name, library in SOLVERS.items():
        advice = f', pip install "genverify[{EXTRAS[library]}]"' if library in EXTRAS else ""
        yield f"{name} {_version(library) or f'(not installed{advice})'}"
    libraries = ", ".join(f"{library} {_version(library) or 'missing'}" for library in LIBRARIES)
    yield f"Python {platform.python_version()}, {libraries}"


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None
