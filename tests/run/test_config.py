"""The configuration is closed, and every variant is checked before the first job."""

from pathlib import Path
from typing import Any

import pytest

from genverify.model.errors import ConfigError
from genverify.model.files import read_yaml
from genverify.model.settings import merge
from genverify.run.config import check_study, config_files, parse_config, settings_of, variant_settings

Text = dict[str, Any]


def changed(config: Text, path: str, value: Any) -> Text:
    """The configuration with another value at a path such as `sample.batches`."""
    text: Any = value
    for part in reversed(path.split(".")):
        text = {part: text}
    return merge(config, text)


def said(release: Text) -> Text:
    """What jobs get of the settings of a release: those that change nothing are left out."""
    unset = {"without": [], "round": None, "suppress": None}
    return {name: value for name, value in release.items() if name not in unset or value != unset[name]}


def test_the_shipped_configuration_is_right(config: Text, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    study = parse_config(config)
    check_study(study)
    assert "paper" in study.variants
    assert settings_of(study, "release", "paper") == said(config["release"])
    assert settings_of(study, "sample", None) == config["sample"]
    assert settings_of(study, "seed", None) == config["seed"]


def test_every_section_stands_in_one_shipped_file(config: Text, root: Path) -> None:
    files = config_files(root)
    assert {path.name for path in (root / "config").glob("*.yaml")} == {path.name for path in files}
    assert (root / "config" / "config.yaml").samefile(files[0]), "what snakedeploy copies is the file on top"
    sections = [section for path in files for section in read_yaml(path)]
    assert len(sections) == len(set(sections)) == len(config)
    assert len((root / "config.yaml").read_text().splitlines()) < 130, "settings of a paper stand in config/"


def test_a_variant_changes_what_it_names_and_nothing_else(config: Text) -> None:
    study = parse_config(changed(config, "variants.odd", {"release": {"withhold": [1], "groups": {"renter": [3, 4]}}}))
    assert settings_of(study, "release", "odd") == {
        **said(config["release"]),
        "withhold": [1],
        "groups": {"renter": [3, 4]},
    }
    for section in ("program", "generate", "verify"):
        assert settings_of(study, section, "odd") == config[section]
    assert settings_of(study, "sample", "odd") == config["sample"]


def test_an_empty_variant_is_the_study_itself(config: Text) -> None:
    study = parse_config(changed(config, "variants.same", None))
    assert settings_of(study, "release", "same") == said(config["release"])


def test_a_variant_says_what_is_left_out_rounded_and_suppressed_and_its_seed(config: Text) -> None:
    change = {"release": {"without": ["H12*"], "round": 5, "suppress": 3}, "seed": 7}
    study = parse_config(changed(config, "variants.odd", change))
    assert settings_of(study, "release", "odd") == {**said(config["release"]), **change["release"]}
    assert settings_of(study, "seed", "odd") == 7
    assert settings_of(study, "seed", None) == settings_of(study, "seed", "paper") == config["seed"]


def test_merge_goes_mapping_by_mapping() -> None:
    base = {"a": {"b": 1, "c": {"d": 2}}, "e": [1, 2]}
    assert merge(base, {"a": {"c": {"f": 3}}, "e": [3]}) == {"a": {"b": 1, "c": {"d": 2, "f": 3}}, "e": [3]}
    assert merge(base, {"a": None}) == {"a": None, "e": [1, 2]}
    assert base == {"a": {"b": 1, "c": {"d": 2}}, "e": [1, 2]}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("sead", 2, "config.yaml: unknown setting sead: did you mean seed?"),
        ("sample.batch", 2, "unknown setting sample.batch: did you mean batches?"),
        ("microdata.synthetic.household", 2, "unknown setting microdata.synthetic.household: did you mean households?"),
        ("sample.designs.state_median.sice", 2, "unknown setting sample.designs.state_median.sice: did you mean size?"),
        (
            "variants.odd",
            {"release": {"withold": [1]}},
            "variants.odd: unknown setting release.withold: did you mean withhold?",
        ),
    ],
)
def test_a_misspelt_key_is_named_with_the_nearest(config: Text, path: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(changed(config, path, value))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("seed", -1, ["setting seed = -1", "greater than or equal to 0"]),
        ("seed", "one", ["setting seed = 'one'", "integer"]),
        ("sample.batches", 0, ["setting sample.batches = 0", "greater than or equal to 1"]),
        ("sample.batches", 2.5, ["setting sample.batches = 2.5", "integer"]),
        ("program.solver", "cplex", ["setting program.solver = 'cplex'", "highs", "gurobi"]),
        ("program.formulation", "dense", ["setting program.formulation = 'dense'", "compact", "onehot"]),
        ("program.seconds", 0, ["setting program.seconds = 0", "greater than 0"]),
        ("release.structural_zeros", "yes", ["setting release.structural_zeros = 'yes'", "boolean"]),
        ("release.withhold", 1, ["setting release.withhold = 1", "list"]),
        ("microdata.source", "acs", ["setting microdata.source = 'acs'", "synthetic", "ppmf"]),
        ("sample.designs", {}, ["config.yaml"]),
        ("release", None, ["setting release = None"]),
        ("variants.odd", {"generate": {"datasets": 0}}, ["variants.odd", "setting generate.datasets = 0"]),
        ("variants.odd", {"program": {"solver": "cplex"}}, ["variants.odd", "setting program.solver = 'cplex'"]),
        ("variants.odd", 3, ["setting variants.odd", "= 3"]),
    ],
)
def test_a_wrong_value_is_named(config: Text, path: str, value: Any, words: list[str]) -> None:
    text = (
        {**config, "sample": {**config["sample"], "designs": {}}}
        if path == "sample.designs"
        else changed(config, path, value)
    )
    with pytest.raises(ConfigError) as error:
        parse_config(text)
    for word in words:
        assert word in str(error.value)


def test_a_missing_setting_is_named(config: Text) -> None:
    del config["sample"]["batches"]
    with pytest.raises(ConfigError, match=r"setting sample\.batches is missing"):
        parse_config(config)


def test_several_mistakes_are_told_at_once(config: Text) -> None:
    with pytest.raises(ConfigError, match=r"sead.*; .*sample\.batches = 0|sample\.batches = 0.*; .*sead"):
        parse_config(changed(changed(config, "sead", 2), "sample.batches", 0))


@pytest.mark.parametrize("section", ["sample", "microdata", "relase"])
def test_a_variant_cannot_change_what_all_variants_share(config: Text, section: str) -> None:
    with pytest.raises(
        ConfigError, match=rf"variants\.odd cannot change '{section}': .*known: seed, release, program, generate"
    ):
        parse_config(changed(config, "variants.odd", {section: {}}))


def test_a_misspelt_section_of_a_variant_is_named_with_the_nearest(config: Text) -> None:
    with pytest.raises(ConfigError, match=r"cannot change 'relase': did you mean release\?"):
        parse_config(changed(config, "variants.odd", {"relase": {}}))


def test_the_paper_is_among_the_variants(config: Text) -> None:
    del config["variants"]["paper"]
    with pytest.raises(ConfigError, match="variants must hold `paper`"):
        parse_config(config)


@pytest.mark.parametrize("path", ["variants.a/b", "variants.a b", "sample.designs.../up"])
def test_names_are_fit_for_paths(config: Text, path: str) -> None:
    section, name = path.rsplit(".", 1) if "variants" in path else ("sample.designs", "../up")
    value: Any = {} if section == "variants" else {"size": 3, "blocks_per_state": 1}
    text = changed(config, section, {name: value})
    with pytest.raises(ConfigError, match="cannot be a name, which becomes part of paths: use letters, digits and _"):
        parse_config(text)


def test_ppmf_needs_a_file(config: Text) -> None:
    with pytest.raises(ConfigError, match=r"source is ppmf, so microdata\.ppmf\.units must give the path of the file"):
        parse_config(changed(config, "microdata.source", "ppmf"))
    study = parse_config(changed(config, "microdata", {"source": "ppmf", "ppmf": {"units": "units.csv"}}))
    assert study.microdata.ppmf.units == "units.csv"


def test_an_unknown_variant_is_named_with_the_nearest(config: Text) -> None:
    with pytest.raises(ConfigError, match=r"no variant 'no_one': did you mean no_ones\?"):
        variant_settings(parse_config(config), "no_one")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("variants.odd", {"release": {"tables": ["P16", "H99"]}}, "variants.odd: release.tables: unknown table 'H99'"),
        ("variants.odd", {"release": {"groups": {"rentr": [3]}}}, "variants.odd: release.groups: unknown group 'rentr'"),
        ("variants.odd", {"release": {"groups": {"renter": [9]}}}, "variants.odd: group renter: column TEN has no code 9"),
        (
            "variants.odd",
            {"release": {"universe": "ocupied"}},
            "variants.odd: unknown universe 'ocupied': did you mean occupied",
        ),
        ("sample.universe", "ocupied", "sample.universe: unknown universe 'ocupied': did you mean occupied"),
        ("microdata.domain", "none.yaml", "none.yaml: cannot be read (No such file or directory)"),
        ("variants.odd", {"release": {"tables_file": "none.yaml"}}, "variants.odd: none.yaml: cannot be read"),
    ],
)
def test_what_the_settings_name_must_exist(
    config: Text, root: Path, monkeypatch: pytest.MonkeyPatch, path: str, value: Any, message: str
) -> None:
    monkeypatch.chdir(root)
    study = parse_config(changed(config, path, value))
    with pytest.raises(ConfigError) as error:
        check_study(study)
    assert str(error.value).startswith("config.yaml: ")
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["microdata", "sample", "tables"])
def test_a_variant_has_no_name_of_a_stage(config: Text, name: str) -> None:
    with pytest.raises(ConfigError):
        parse_config(changed(config, f"variants.{name}", {}))


@pytest.mark.parametrize("size", [0, -3])
def test_a_block_has_at_least_one_household(config: Text, size: int) -> None:
    with pytest.raises(ConfigError):
        parse_config(changed(config, "sample.designs.state_median.size", size))
