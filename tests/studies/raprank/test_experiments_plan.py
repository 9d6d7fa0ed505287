"""The settings of experiments: closed, checked before the first job, each mistake named."""

from pathlib import Path
from typing import Any

import pytest

from genverify.model.errors import ConfigError
from genverify.model.files import read_yaml
from genverify.model.settings import merge
from genverify.run.config import parse_config, typed
from studies.raprank.configuration import (
    can_be_drawn,
    can_be_run,
    check_experiments,
    domain_path,
    experiment_of,
    experiment_settings,
    figure_experiments,
    figure_panels,
    store_path,
)


def changed(config: dict[str, Any], name: str, **changes: Any) -> dict[str, Any]:
    config["raprank"]["experiments"][name] |= changes
    return config


def test_the_shipped_experiments_are_sound(config: dict[str, Any]) -> None:
    study = parse_config(config)
    check_experiments(study)
    tracts = experiment_of(study, "tracts")
    assert (store_path(tracts), domain_path(study, tracts)) == ("results/persons", "data/census/persons.yaml")
    settings = experiment_settings(study, "blocks")
    assert settings.keeps == "occupied"
    assert settings.rap.model_dump() == config["raprank"]["rap"]


def test_examples_have_the_areas_and_the_runs_of_the_paper(config: dict[str, Any], root: Path) -> None:
    study = parse_config(merge(config, read_yaml(root / "config" / "examples" / "raprank_paper_size.yaml")))
    check_experiments(study)
    sizes = {name: (own.runs, own.states, own.limit) for name, own in study.raprank.experiments.items()}
    assert sizes["tracts"] == sizes["tracts_plain"] == sizes["person_blocks"] == (100, None, None)
    assert sizes["employment_2"] == sizes["mobility_3"] == (100, 5, None)  # the paper has five states there
    assert sizes["records_blocks"] == (10, 5, None)  # a user's file need not have six blocks in every state
    figures = ("rap_fig1", "rap_fig2", "rap_fig3", "rap_fig4")
    shown = {name for figure in figures for name in figure_experiments(study, figure)}
    assert {sizes[name][0] for name in shown} == {100}
    assert parse_config(study.model_dump()) == study


@pytest.mark.parametrize(("draws", "refused"), [
    ("100", ""),
    ("0", r"rap\.draws = 0: input should be greater than or equal to 1"),
    ("many", r"employment_2\.rap\.draws = 'many': input should be a valid integer"),
])  # fmt: skip
def test_a_number_of_rap_can_be_told_on_the_command_line(config: dict[str, Any], draws: str, refused: str) -> None:
    """Snakemake leaves a text what stands within braces."""
    told = {"raprank": {"experiments": {"employment_2": {"rap": {"draws": draws, "learning_rate": "0.2"}}}}}
    whole = merge(config, told)
    text = merge(whole, typed(whole, told))
    if refused:
        with pytest.raises(ConfigError, match=refused):
            parse_config(text)
    else:
        rap = experiment_settings(parse_config(text), "employment_2").rap
        assert (rap.draws, rap.learning_rate, rap.rows) == (100, 0.2, 1000)


def test_experiments_on_person_records_wait_for_a_file(config: dict[str, Any]) -> None:
    study = parse_config(config)
    assert [can_be_run(study, name) for name in ("tracts", "records_tracts")] == [True, False]
    assert [can_be_drawn(study, name) for name in ("rap_fig1", "rap_fig1_records")] == [True, False]
    config["persons"]["records"] = "mine.csv"
    assert can_be_drawn(parse_config(config), "rap_fig1_records")
    records = experiment_of(study, "records_tracts")
    assert (store_path(records), domain_path(study, records)) == ("results/raprank/records", "data/census/persons.yaml")


def test_an_experiment_changes_settings_of_rap(config: dict[str, Any]) -> None:
    study = parse_config(changed(config, "tracts", rap={"steps": 7}))
    assert experiment_settings(study, "tracts").rap.model_dump() == config["raprank"]["rap"] | {"steps": 7}
    with pytest.raises(ConfigError, match=r"experiments\.tracts\.rap: unknown setting stepps: did you mean steps\?"):
        check_experiments(parse_config(changed(config, "tracts", rap={"stepps": 7})))


def test_an_unknown_key_is_named(config: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"unknown setting raprank\.experiments\.blocks\.run: did you mean runs\?"):
        parse_config(changed(config, "blocks", run=3))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("blocks", {"runs": 0}, "raprank.experiments.blocks.runs = 0"),
        ("person_blocks", {"data": "person"}, "unknown data: did you mean persons"),
        ("blocks", {"marginals": 2}, "give tables or marginals, one of the two"),
        ("employment_2", {"marginals": None}, "give tables or marginals, one of the two"),
        ("employment_2", {"data": "households", "marginals": 11}, "11-way marginals of 10 columns"),
        ("blocks", {"block_tables": ["H*"]}, "distinguish the blocks of a tract; areas is sample"),
        ("blocks", {"data": "persons"}, "the sampled blocks are blocks of households"),
        ("tracts", {"tables": ["PTC12"]}, "unknown table 'PTC12'"),
        ("employment_2", {"data": "mobility", "areas": "tract"}, "set areas: state and marginals"),
        ("person_blocks", {"fivefold": 1.2}, "raprank.experiments.person_blocks.fivefold = 1.2"),
        ("blocks", {"fivefold": 0.1}, "fivefold is about persons of blocks; data is households"),
        ("tracts", {"rap": {"rows": 1000}}, "set rap.rows and rap.draws to null"),
        ("employment_3", {"rap": {"draws": 0}}, "draws = 0"),
        ("fivefold_1", {"starts": ["random"]}, "raprank.dose: fivefold_1 needs both starts"),
        ("tracts_plain", {"starts": []}, "raprank.experiments.tracts_plain.starts"),
    ],
)
def test_a_mistake_is_named(config: dict[str, Any], name: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        check_experiments(parse_config(changed(config, name, **change)))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("panel", "message"),
    [
        ("tract/random", "did you mean tracts"),
        ("tracts_plain/holdout", "is not an experiment/start"),
        ("tracts", "not an experiment/start"),
        ("tracts+tracts_plain/random", "a panel compares marginals"),
    ],
)
def test_a_figure_of_an_unknown_panel_is_named(config: dict[str, Any], panel: str, message: str) -> None:
    config["raprank"]["figures"]["rap_fig1"] = [panel]
    with pytest.raises(ConfigError, match=message):
        check_experiments(parse_config(config))


def test_names_of_figures_do_not_hide_others(config: dict[str, Any]) -> None:
    config["raprank"]["figures"]["fig3"] = ["blocks/random"]
    with pytest.raises(ConfigError, match="of experiments begins with rap"):
        check_experiments(parse_config(config))


def test_the_experiments_on_acs_files_are_sound(config: dict[str, Any], root: Path) -> None:
    study = parse_config(merge(config, read_yaml(root / "config" / "examples" / "acs.yaml")))
    check_experiments(study)
    employment = experiment_of(study, "employment_3")
    assert (employment.marginals, store_path(employment)) == (3, "results/raprank/survey/employment")
    assert domain_path(study, employment) == "results/raprank/survey/employment.domain.yaml"


def test_a_panel_of_two_kinds_of_marginals(config: dict[str, Any]) -> None:
    panels = figure_panels(parse_config(config), "rap_fig4")
    assert [panel["label"] for panel in panels] == ["employment", "coverage", "mobility"]
    assert panels[0] == {"label": "employment", "start": "random", "limit": None, "ways": [2, 3]}
