"""
genverify: what must be true of the people behind published tables, whatever the private data were?

Three people, two tables: nobody says who is who, and yet

>>> import genverify as gv, pandas as pd
>>> people = pd.DataFrame({"sex": ["f", "m", "m"], "age": ["old", "young", "young"], "smoker": [True, False, True]})
>>> release = gv.Release.from_frame(people, tables=[("sex", "age"), ("age", "smoker")])
>>> result = release.attack()     # generates, verifies, proves, and has every proof checked
>>> result
AttackResult of 'data': 17 verified claims about 3 records, 13 about exactly one; 0 undecided
>>> result.explain(16).splitlines()[0], result.check().claims
('exactly 1 record with sex: m, age: young, smoker: True', 17)

What is not certain has a probability, given a prior (here: every record is equally likely):

>>> print(gv.Release.from_frame(people, tables=["sex", ("age", "smoker")]).probability(sex="f", smoker=True))
66.67 % (exact, prior: uniform)
"""

from importlib import import_module
from typing import Any

# where each name of the API stands; it is imported when it is asked for
_MODULES = {
    "api": ("AttackResult", "Release", "attack", "attack_release", "make_release", "release_of"),
    "model.domain": ("Column", "Domain", "Predicate", "Rule"),
    "model.query": ("Query",),
    "model.release": ("Schema", "make_schema", "read_releases", "read_schema"),
    "model.claims": ("Claim",),
    "attack.verify": ("claims_frame",),
    "attack.probability": ("prior_from_sample", "prior_of", "probability"),
    "attack.explain": ("explain",),
    "checker.record_proofs": ("check_block",),
    "bounds.bounds_command": ("bound_cells",),
    "disclosure.sources": ("disclose", "protect_tables", "read"),
}
_PLACES = {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}
_PLACES["check"] = _PLACES.pop("check_block")
__all__ = sorted(_PLACES)


def __getattr__(name: str) -> Any:
    """A name of the API, from its module."""
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    if name not in _PLACES:
        from genverify.model.errors import nearest

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: {nearest(name, __all__)}")
    value = getattr(import_module(_PLACES[name]), "check_block" if name == "check" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
