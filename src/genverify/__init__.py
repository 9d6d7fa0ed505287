"""
genverify: what must be true of the people behind published tables, whatever the private data were?

Three people, two tables: nobody says who is who, and yet

>>> import genverify as gv
>>> schema = gv.make_schema(
...     columns={"sex": ["f", "m"], "age": ["young", "old"], "smokes": ["no", "yes"]},
...     tables={"sex_age": ["sex", "age"], "smoking": ["age", "smokes"]},
... )
>>> release = gv.make_release(schema, "my block", {
...     "N": 3, "sex_age.f.young": 0, "sex_age.f.old": 1, "sex_age.m.young": 2, "sex_age.m.old": 0,
...     "smoking.young.no": 1, "smoking.young.yes": 1, "smoking.old.no": 0, "smoking.old.yes": 1,
... })
>>> found = gv.attack_release(release)     # generates, verifies, proves, and has every proof checked
>>> print(gv.explain(found, next(claim for claim in found.claims if claim.m == 1 and claim.k == 3)))
exactly 1 record with sex: m, age: young, smokes: no
  At least 1:
    add up:
      +1 x smoking.young.no = 1 (young, no)
    no record counts more in this sum than it matches the claim
    because no other record is possible:
      sex_age.f.young = 0 (f, young)
  At most 1:
    add up:
      +1 x smoking.young.no = 1 (young, no)
    every record that matches counts at least once in this sum, and no record counts below 0
>>> gv.check(release, found.certificate).claims == len(found.claims)
True

What is not certain has a probability, given a prior (here: every record is equally likely):

>>> less = gv.make_release(schema, "my block", {"N": 3, "sex_age.f.young": 1, "sex_age.m.young": 1, "smoking.young.yes": 1})
>>> print(gv.probability(less, "sex=1,smokes=1,m=1"))
50.00 % (exact, prior: uniform)

Tables as they are printed, with suppressed or rounded counts:

>>> found = gv.disclose("tables.xlsx", symbol={"*": "suppressed"})    # doctest: +SKIP
>>> found.cells, found.answer, found.report(), found.check(), found.write("audit")    # doctest: +SKIP
"""

from importlib import import_module
from typing import Any

# where each name of the API stands; it is imported when it is asked for
_MODULES = {
    "model.domain": ("Column", "Domain", "Predicate", "Rule"),
    "model.query": ("Query",),
    "model.release": ("Schema", "Release", "make_release", "make_schema", "read_releases", "read_schema", "release_of"),
    "model.claims": ("Claim",),
    "attack.verify": ("attack_release", "claims_frame"),
    "attack.probability": ("probability", "prior_of"),
    "attack.explain": ("explain",),
    "checker.record_proofs": ("check_block",),
    "bounds.bounds_command": ("bound_cells",),
    "disclosure.sources": ("disclose", "read"),
}
_PLACES = {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}
_PLACES["check"] = _PLACES.pop("check_block")
__all__ = sorted(_PLACES)


def __getattr__(name: str) -> Any:
    """A name of the API, from its module."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_PLACES[name]), "check_block" if name == "check" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
