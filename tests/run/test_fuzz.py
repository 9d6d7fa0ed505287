"""A few cases of the fuzz target: `make fuzz` runs many."""

import audit_fuzz


def test_no_forgery_escapes_the_audit() -> None:
    outcomes, escapes = audit_fuzz.run(cases=60, seed=3)
    assert escapes == []
    assert outcomes["refused, false"] >= 30
