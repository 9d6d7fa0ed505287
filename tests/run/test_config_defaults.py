"""Conditions, experiments and protections: a default and named changes. What jobs get is written out here."""

from typing import Any

import pytest

from genverify.model.errors import ConfigError
from genverify.model.settings import merge
from genverify.run.config import parse_config, settings_of

Text = dict[str, Any]
# swap, swap_among, swap_hud, noise, rho, noise_hud, reading, top
CONDITIONS = {
    "none": (0.0, "properties", False, "none", None, False, "appendix_e", 100, 3000),
    "swapping": (0.1, "properties", True, "none", None, False, "appendix_e", 100, 3000),
    "swapping_state": (0.1, "state", True, "none", None, False, "appendix_e", 0, 300),
    "swapping_census": (0.1, "properties", False, "none", None, False, "appendix_e", 0, 300),
    "dp": (0.0, "properties", False, "das", None, False, "appendix_e", 10, 1000),
    "dp_uniform": (0.0, "properties", False, "uniform", 0.1, False, "appendix_e", 10, 300),
    "dp_uniform_001": (0.0, "properties", False, "uniform", 0.01, False, "appendix_e", 10, 300),
    "dp_uniform_0001": (0.0, "properties", False, "uniform", 0.001, False, "appendix_e", 0, 300),
    "dp_both": (0.0, "properties", False, "das", None, True, "appendix_e", 10, 300),
    "none_exact": (0.0, "properties", False, "none", None, False, "exact", 0, 300),
    "none_all": (0.0, "properties", False, "none", None, False, "appendix_e", 0, 10224),
    "swapping_all": (0.1, "properties", True, "none", None, False, "appendix_e", 0, 10224),
    "dp_all": (0.0, "properties", False, "das", None, False, "appendix_e", 0, 10224),
}
# publish, confidence, tables and rho of the noise
NOISE = {
    "microdata_600": ("microdata", None, "all", 600.0),
    "microdata_100": ("microdata", None, "all", 100.0),
    "microdata_30": ("microdata", None, "all", 30.0),
    "microdata_10": ("microdata", None, "all", 10.0),
    "microdata_1": ("microdata", None, "all", 1.0),
    "intervals_600": ("intervals", 0.95, "all", 600.0),
    "intervals_300_base": ("intervals", 0.95, ["[PH]*[0-9]"], 300.0),
    "intervals_300": ("intervals", 0.95, "all", 300.0),
    "intervals_30": ("intervals", 0.95, "all", 30.0),
}
SWAPPED = {"none": 0.0, "swapped_2": 0.02, "swapped_10": 0.1, "swapped_50": 0.5}
BOTH, RANDOM, KNOWN = ["random", "holdout"], ["random"], "known"
SLOW = {"share": 1.0, "learning_rate": 0.1, "steps": 300}
WHOLE, HALF = ({"share": share, "steps": 150} for share in (1.0, 0.5))
BLOCK, TRACT = ["level=block"], ["level=tract"]
KEYS = [
    "label", "data", "areas", "states", "tracts", "limit", "tables", "block_tables", "blocks", "marginals", "starts", "runs",
    "rap",
]  # fmt: skip
REAL = "tracts of real records"
TASKS = ("employment", "coverage", "mobility")
AUTHORS, ALL = {"rows": 1000, "draws": 50000, "learning_rate": 0.1}, {"share": 1.0, "steps": 1000}
PART = {"share": 0.1, "steps": 1000}
FIVEFOLD = {"fivefold_1": 0.095, "fivefold_2": 0.25, "fivefold_3": 0.5}
EXPERIMENTS = {
    "blocks": ("blocks (households)", "households", "sample", None, 1, None, "all", None, KNOWN, None, BOTH, 20, {}),
    "tracts": ("tracts with BLOCK", "persons", "tract", None, 1, None, TRACT, BLOCK, KNOWN, None, BOTH, 10, SLOW),
    "tracts_plain": ("tracts without BLOCK", "persons", "tract", None, 1, None, "all", None, KNOWN, None, RANDOM, 10, WHOLE),
    "person_blocks": ("blocks (persons)", "persons", "block", None, 1, None, BLOCK, None, KNOWN, None, BOTH, 10, HALF),
    **{
        f"{task}_2": (f"{task}, 2-way", task, "state", 5, 1, None, None, None, KNOWN, 2, RANDOM, 4, AUTHORS | ALL)
        for task in TASKS
    },
    **{
        f"{task}_3": (f"{task}, 3-way", task, "state", 5, 1, None, None, None, KNOWN, 3, RANDOM, 4, AUTHORS | PART)
        for task in TASKS
    },
    **{
        f"fivefold_{number}": (
            f"{words} persons in rows of five", "persons", "block", 5, 1, 100, BLOCK, None, KNOWN, None, BOTH, 5, HALF
        )
        for number, words in enumerate(("no", "9.5 % of the", "25 % of the", "50 % of the"))
    },
    "records_tracts": (
        f"{REAL} with BLOCK", "records", "tract", None, None, None, TRACT, BLOCK, KNOWN, None, BOTH, 10, SLOW,
    ),
    "records_tracts_plain": (
        f"{REAL} without BLOCK", "records", "tract", None, None, None, "all", None, KNOWN, None, RANDOM, 10, WHOLE,
    ),
    "records_blocks": ("blocks of real records", "records", "block", 5, 1, None, BLOCK, None, KNOWN, None, BOTH, 10, HALF),
}  # fmt: skip


def in_order(settings: Any) -> Any:
    """Names, keys and values as lists: Snakemake sees the order of keys too."""
    return [(key, in_order(value)) for key, value in settings.items()] if isinstance(settings, dict) else settings


def test_the_conditions_written_out(config: Text) -> None:
    keys = ("swap", "swap_among", "swap_hud", "noise", "rho", "noise_hud", "reading", "top", "blocks")
    written = {name: dict(zip(keys, values, strict=True)) for name, values in CONDITIONS.items()}
    assert in_order(settings_of(parse_config(config), "housing.conditions", None)) == in_order(written)


def test_the_protections_written_out(config: Text) -> None:
    keys = ("publish", "confidence", "tables", "rho")
    written: Text = {name: {"swap": share, "noise": None} for name, share in SWAPPED.items()}
    written |= {name: {"swap": 0.0, "noise": dict(zip(keys, values, strict=True))} for name, values in NOISE.items()}
    assert in_order(settings_of(parse_config(config), "protected.protections", None)) == in_order(written)


def test_the_experiments_written_out(config: Text) -> None:
    rest = {name: dict(zip(KEYS, values, strict=True)) for name, values in EXPERIMENTS.items()}
    written = {name: values | {"fivefold": FIVEFOLD.get(name, 0.0)} for name, values in rest.items()}
    found = settings_of(parse_config(config), "raprank.experiments", None)
    assert found == written
    assert list(found) == list(written)


def test_settings_that_were_resolved_once_stay_as_they_are(config: Text) -> None:
    study = parse_config(config)
    assert parse_config(merge(config, study.model_dump())) == parse_config(study.model_dump()) == study


def test_another_default_changes_what_does_not_name_it(config: Text) -> None:
    study = parse_config(
        merge(config, {"housing": {"condition": {"swap": 0.3}}, "protected": {"noise": {"tables": ["P*"]}}})
    )
    shares = {name: condition.swap for name, condition in study.housing.conditions.items()}
    assert shares == {name: 0.1 if "swapping" in name else 0.3 for name in CONDITIONS}
    noise = {name: found.noise.tables for name, found in study.protected.protections.items() if found.noise}
    assert noise == {name: ["[PH]*[0-9]"] if "base" in name else ["P*"] for name in NOISE}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"housing": {"condition": {"swop": 0.1}}}, "unknown setting housing.condition.swop: did you mean swap?"),
        ({"housing": {"conditions": {"odd": {"swop": 0.1}}}}, "housing.conditions.odd.swop: did you mean swap?"),
        ({"raprank": {"experiment": {"run": 3}}}, "unknown setting raprank.experiment.run: did you mean runs?"),
        ({"protected": {"protection": {"noice": None}}}, "unknown setting protected.protection.noice: did you mean noise?"),
        ({"protected": {"noise": {"publsh": "x"}}}, "unknown setting protected.noise.publsh: did you mean publish?"),
        ({"protected": {"protections": {"odd": {"noise": {"roh": 1.0, "rho": 1.0}}}}},
         "unknown setting protected.protections.odd.noise.roh: did you mean rho?"),
        ({"protected": {"protections": {"odd": {"noise": {}}}}}, "setting protected.protections.odd.noise.rho is missing"),
        ({"raprank": {"experiments": {"odd": {"data": "persons", "areas": "tract"}}}},
         "setting raprank.experiments.odd.label is missing"),
        ({"housing": {"conditions": {"odd": None}}}, "setting housing.conditions.odd = None"),
        ({"housing": {"conditions": 3}}, "setting housing.conditions = 3"),
        ({"housing": {"condition": None}}, "setting housing.condition = None"),
        ({"protected": {"protections": {"odd": {"noise": 3}}}}, "setting protected.protections.odd.noise = 3"),
        ({"protected": 3}, "setting protected = 3"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_default_or_a_change_is_named(config: Text, change: Text, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(merge(config, change))
    assert said in str(error.value)
    assert str(error.value).count("unknown setting") <= 1
