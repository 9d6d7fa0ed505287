"""A few cases of the fuzz target: `make fuzz` runs many."""

import importlib.util
from pathlib import Path


def test_no_forgery_escapes_the_audit(root: Path) -> None:
    spec = importlib.util.spec_from_file_location("fuzz_audit", root / "tests" / "fuzz" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    fuzz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fuzz)
    outcomes, escapes = fuzz.run(cases=60, seed=3)
    assert escapes == []
    assert outcomes["refused, false"] >= 30
