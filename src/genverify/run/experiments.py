"""What the settings say of the experiments, checked before the first job, and as their jobs see them."""

from pathlib import Path
from typing import Any

from genverify.core.closed import merge, validate
from genverify.core.errors import ConfigError, GenverifyError, nearest
from genverify.core.files import read_yaml
from genverify.papers.raprank.experiments import published_tables
from genverify.papers.raprank.settings import Experiment, RapSettings, ResolvedExperiment
from genverify.run.layout import STORES, SURVEY
from genverify.run.settings import Config
from genverify.run.studies import Studies

PERSONS = ("persons", "records")


def experiment_of(config: Config, name: str) -> Experiment:
    known = config.raprank.experiments
    if name not in known:
        raise ConfigError(f"config.yaml: raprank has no experiment {name!r}: {nearest(name, list(known))}")
    return known[name]


def experiment_settings(config: Config, name: str) -> ResolvedExperiment:
    """An experiment: its own settings, those of RAP with its changes, its universe and how its tables are read."""
    experiment = experiment_of(config, name)
    rap = merge(config.raprank.rap.model_dump(), experiment.rap)
    resolved = dict(experiment) | {
        "name": name,
        "rap": validate(RapSettings, rap, f"config.yaml: raprank.experiments.{name}.rap"),
        "release": config.persons.release if experiment.data in PERSONS else config.release,
        "keeps": config.sample.universe if experiment.data == "households" else "everything",
    }
    return ResolvedExperiment(**resolved)


def domain_path(config: Config, experiment: Experiment) -> str:
    """The domain file of the data; that of a survey is made with its store."""
    named = {"households": config.microdata.domain} | dict.fromkeys(PERSONS, config.persons.domain)
    return named.get(experiment.data, f"{store_path(experiment)}.domain.yaml")


def store_path(experiment: Experiment) -> str:
    """Where the private records of the data stand; `.json` beside it says what they are."""
    return str(STORES.get(experiment.data, SURVEY / experiment.data))


def can_be_run(config: Config, name: str) -> bool:
    """Whether the data of an experiment are there: person records are where persons.records names a file."""
    return experiment_of(config, name).data != "records" or config.persons.records is not None


def can_be_drawn(config: Config, figure: str) -> bool:
    """Whether all experiments of a figure can be run."""
    return all(can_be_run(config, panel.split("/")[0]) for panel in config.raprank.figures[figure])


def figure_panels(config: Config, figure: str) -> list[dict[str, Any]]:
    """What each panel of a figure is about, as `experiment/start` in the settings."""
    panels = [panel.split("/") for panel in config.raprank.figures[figure]]
    shown = [(experiment_of(config, name), start) for name, start in panels]
    return [{"label": e.label, "start": s, "limit": e.limit} for e, s in shown]


def check_experiments(config: Config, studies: Studies | None = None) -> None:
    """Everything that the experiments and their figures name exists."""
    studies = studies or Studies()
    for name, experiment in config.raprank.experiments.items():
        where = f"config.yaml: raprank.experiments.{name}"
        if not name.isidentifier() or name == "survey":
            raise ConfigError(f"{where}: cannot name an experiment, a folder of results/raprank: use letters, digits and _")
        settings = experiment_settings(config, name)
        if (experiment.tables is None) == (experiment.marginals is None):
            raise ConfigError(f"{where}: give tables or marginals, one of the two")
        if experiment.block_tables and experiment.areas != "tract":
            raise ConfigError(f"{where}: block_tables distinguish the blocks of a tract; areas is {experiment.areas}")
        if experiment.areas == "sample" and experiment.data != "households":
            raise ConfigError(f"{where}: the sampled blocks are blocks of households; set data: households, or areas: block")
        _check_data(config, experiment, settings, studies, where)
    for figure, panels in config.raprank.figures.items():
        if not figure.startswith("rap") or not figure.isidentifier() or figure.endswith("_states"):
            raise ConfigError(f"config.yaml: raprank.figures.{figure}: the name of a figure of experiments begins with rap")
        for panel in panels:
            _check_panel(config, figure, panel)


def _check_data(config: Config, experiment: Experiment, settings: ResolvedExperiment, studies: Studies, where: str) -> None:
    try:
        if experiment.data in ("households", *PERSONS):
            _check_queries(Path(domain_path(config, experiment)), settings, studies)
            return
        tasks = read_yaml(Path(config.raprank.survey.tasks_file))["tasks"]
    except GenverifyError as error:
        raise ConfigError(f"{where}: {error}") from None
    if experiment.data not in tasks:
        raise ConfigError(f"{where}: unknown data: {nearest(experiment.data, ['households', *PERSONS, *tasks])}")
    if experiment.areas != "state" or not experiment.marginals:
        raise ConfigError(f"{where}: a survey has states and no tables; set areas: state and marginals: 2")
    if not config.raprank.survey.files:
        raise ConfigError(f"{where}: {experiment.data} is a task of a survey: raprank.survey.files must name the files")


def _check_queries(domain: Path, settings: ResolvedExperiment, studies: Studies) -> None:
    """The tables exist; marginals are not listed here (there may be very many), only counted."""
    columns = len(studies.domain(domain).domain.names)
    if settings.marginals is None:
        for release in published_tables(settings):
            studies.read(domain, release)
    elif settings.marginals > columns:
        raise ConfigError(f"{settings.marginals}-way marginals of {columns} columns")


def _check_panel(config: Config, figure: str, panel: str) -> None:
    name, _, start = panel.partition("/")
    experiment = experiment_of(config, name)
    if start not in experiment.starts:
        raise ConfigError(
            f"config.yaml: raprank.figures.{figure}: {panel!r} is no experiment/start: "
            f"{nearest(start, list(experiment.starts))}"
        )
