"""What the settings say of the experiments, checked before the first job, and what each of them publishes."""

from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

from genverify.model.domain import Domain, DomainFile, Predicate
from genverify.model.errors import ConfigError, GenverifyError, nearest
from genverify.model.files import read_yaml
from genverify.model.query import Query
from genverify.model.release import Schema, build_schema
from genverify.model.settings import ReleaseSettings, merge, validate
from genverify.run.config import Config, Studies, section
from studies.country.settings import Microdata, Persons, Sample
from studies.country.study import STORES
from studies.raprank.settings import Experiment, RapRank, RapSettings, ResolvedExperiment
from studies.raprank.study import RECORDS, SURVEY

PERSONS = ("persons", "records")


def experiment_of(config: Config, name: str) -> Experiment:
    known = section(config, RapRank).experiments
    if name not in known:
        raise ConfigError(f"config.yaml: raprank has no experiment {name!r}: {nearest(name, list(known))}")
    return known[name]


def experiment_settings(config: Config, name: str) -> ResolvedExperiment:
    """An experiment: its own settings, those of RAP with its changes, its universe and how its tables are read."""
    experiment = experiment_of(config, name)
    rap = merge(section(config, RapRank).rap.model_dump(), experiment.rap)
    resolved = dict(experiment) | {
        "name": name,
        "rap": validate(RapSettings, rap, f"config.yaml: raprank.experiments.{name}.rap"),
        "release": section(config, Persons).release if experiment.data in PERSONS else config.release,
        "keeps": section(config, Sample).universe if experiment.data == "households" else "everything",
    }
    return ResolvedExperiment(**resolved)


def domain_path(config: Config, experiment: Experiment) -> str:
    """The domain file of the data; that of a survey is made with its store."""
    named = {"households": section(config, Microdata).domain} | dict.fromkeys(PERSONS, section(config, Persons).domain)
    return named.get(experiment.data, f"{store_path(experiment)}.domain.yaml")


def store_path(experiment: Experiment) -> str:
    """Where the private records of the data stand; `.json` beside it says what they are."""
    return str({**STORES, "records": RECORDS}.get(experiment.data, SURVEY / experiment.data))


def can_be_run(config: Config, name: str) -> bool:
    """Whether the data of an experiment are there: person records are where persons.records names a file."""
    return experiment_of(config, name).data != "records" or section(config, Persons).records is not None


def panel_names(panel: str) -> list[str]:
    """The experiments of a panel: two and three of `two+three/random`."""
    return panel.split("/")[0].split("+")


def figure_experiments(config: Config, figure: str) -> list[str]:
    """The experiments of all panels of a figure, in their order."""
    return [name for panel in section(config, RapRank).figures[figure] for name in panel_names(panel)]


def can_be_drawn(config: Config, figure: str) -> bool:
    """Whether all experiments of a figure can be run."""
    return all(can_be_run(config, name) for name in figure_experiments(config, figure))


def figure_panels(config: Config, figure: str) -> list[dict[str, Any]]:
    """What each panel of a figure is about, as `experiment/start` in the settings; `ways` of marginals that it compares."""
    panels = []
    for panel in section(config, RapRank).figures[figure]:
        first, *others = (experiment_of(config, name) for name in panel_names(panel))
        ways = [experiment.marginals for experiment in (first, *others)] if others else [None]
        label = first.data if others else first.label
        panels.append({"label": label, "start": panel.split("/")[1], "limit": first.limit, "ways": ways})
    return panels


def left_out(config: Config) -> Iterator[str]:
    """The figures that need a file of the user, where none is named."""
    figures = [figure for figure in section(config, RapRank).figures if not can_be_drawn(config, figure)]
    if figures:
        yield f"persons.records names no file of person records: {', '.join(figures)}"


def check_experiments(config: Config, studies: Studies | None = None) -> None:
    """Everything that the experiments and their figures name exists."""
    studies = studies or Studies()
    for name, experiment in section(config, RapRank).experiments.items():
        where = f"config.yaml: raprank.experiments.{name}"
        if not name.isidentifier() or name == "survey":
            raise ConfigError(f"{where}: cannot name an experiment, a folder of results/raprank: use letters, digits and _")
        settings = experiment_settings(config, name)
        if (experiment.tables is None) == (experiment.marginals is None):
            raise ConfigError(f"{where}: give tables or marginals, one of the two")
        if experiment.fivefold and experiment.data not in PERSONS:
            raise ConfigError(f"{where}: fivefold is about persons of blocks; data is {experiment.data}")
        if experiment.block_tables and experiment.blocks == "known" and (settings.rap.rows or settings.rap.draws):
            raise ConfigError(f"{where}: with known blocks each row stands in its block: set rap.rows and rap.draws to null")
        if experiment.block_tables and experiment.areas != "tract":
            raise ConfigError(f"{where}: block_tables distinguish the blocks of a tract; areas is {experiment.areas}")
        if experiment.areas == "sample" and experiment.data != "households":
            raise ConfigError(f"{where}: the sampled blocks are blocks of households; set data: households, or areas: block")
        _check_data(config, experiment, settings, studies, where)
    for name in section(config, RapRank).dose:
        if set(experiment_of(config, name).starts) != {"random", "holdout"}:
            raise ConfigError(f"config.yaml: raprank.dose: {name} needs both starts, random and holdout")
    for figure, panels in section(config, RapRank).figures.items():
        if not figure.startswith("rap") or not figure.isidentifier() or figure.endswith("_states"):
            raise ConfigError(f"config.yaml: raprank.figures.{figure}: the name of a figure of experiments begins with rap")
        for panel in panels:
            _check_panel(config, figure, panel)


def _check_data(config: Config, experiment: Experiment, settings: ResolvedExperiment, studies: Studies, where: str) -> None:
    try:
        if experiment.data in ("households", *PERSONS):
            _check_queries(Path(domain_path(config, experiment)), settings, studies)
            return
        tasks = read_yaml(Path(section(config, RapRank).survey.tasks_file))["tasks"]
    except GenverifyError as error:
        raise ConfigError(f"{where}: {error}") from None
    if experiment.data not in tasks:
        raise ConfigError(f"{where}: unknown data: {nearest(experiment.data, ['households', *PERSONS, *tasks])}")
    if experiment.areas != "state" or not experiment.marginals:
        raise ConfigError(f"{where}: a survey has states and no tables; set areas: state and marginals: 2")


def _check_queries(domain: Path, settings: ResolvedExperiment, studies: Studies) -> None:
    """The tables exist; marginals are not listed here (there may be very many), only counted."""
    columns = len(studies.domain(domain).domain.names)
    if settings.marginals is None:
        for release in _published_tables(settings):
            studies.read(domain, release)
    elif settings.marginals > columns:
        raise ConfigError(f"{settings.marginals}-way marginals of {columns} columns")


def _check_panel(config: Config, figure: str, panel: str) -> None:
    start = panel.partition("/")[2]
    for experiment in (experiment_of(config, name) for name in panel_names(panel)):
        if start not in experiment.starts:
            raise ConfigError(
                f"config.yaml: raprank.figures.{figure}: {panel!r} is not an experiment/start: "
                f"{nearest(start, list(experiment.starts))}"
            )
        if "+" in panel and experiment.marginals is None:
            raise ConfigError(f"config.yaml: raprank.figures.{figure}: {panel!r}: a panel compares marginals, no others")


# What an experiment publishes about an area, and about its blocks.


def experiment_schemas(domain_file: DomainFile, experiment: ResolvedExperiment) -> tuple[Schema, Schema | None]:
    """What is published about an area, and about each of its blocks where they are distinguished."""
    if experiment.marginals:
        domain = domain_file.domain.restrict(domain_file.universe(experiment.keeps).codes)
        return Schema(domain, (), marginal_queries(domain, experiment.marginals)), None
    text = read_yaml(Path(experiment.release.tables_file))
    of_area, *of_block = (build_schema(domain_file, text, release) for release in _published_tables(experiment))
    return of_area, of_block[0] if of_block else None


def _published_tables(experiment: ResolvedExperiment) -> list[ReleaseSettings]:
    """The tables about an area, and those about its blocks where they are distinguished."""
    if not experiment.tables:
        raise ConfigError("no tables: nothing is published about an area")
    return [experiment.release.but(tables=tables) for tables in (experiment.tables, experiment.block_tables) if tables]


# Marginals: every way to fix the codes of k columns, as counting queries on any discrete domain.


def marginal_queries(domain: Domain, ways: int) -> tuple[Query, ...]:
    """All k-way marginal queries of a domain (Definition 2.1), one table per set of columns: SEX*OLD.1.0, ..."""
    if not 1 <= ways <= len(domain.columns):
        raise ConfigError(f"{ways}-way marginals of {len(domain.columns)} columns: give 1 to {len(domain.columns)} ways")
    queries = []
    for columns in combinations(domain.columns, ways):
        table = "*".join(column.name for column in columns)
        for codes in product(*(column.codes for column in columns)):
            label = ", ".join(column.meaning[code] for column, code in zip(columns, codes, strict=True))
            where = {column.name: (code,) for column, code in zip(columns, codes, strict=True)}
            queries.append(Query(".".join((table, *map(str, codes))), table, label, Predicate.of(where)))
    return tuple(queries)
