"""What an experiment publishes about an area, and about its blocks."""

from pathlib import Path

from genverify.model.domain import DomainFile
from genverify.model.errors import ConfigError
from genverify.model.files import read_yaml
from genverify.model.release import Schema, build_schema
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import marginal_queries
from studies.raprank.settings import ResolvedExperiment


def experiment_schemas(domain_file: DomainFile, experiment: ResolvedExperiment) -> tuple[Schema, Schema | None]:
    """What is published about an area, and about each of its blocks where they are distinguished."""
    if experiment.marginals:
        domain = domain_file.domain.restrict(domain_file.universe(experiment.keeps).codes)
        return Schema(domain, (), marginal_queries(domain, experiment.marginals)), None
    text = read_yaml(Path(experiment.release.tables_file))
    of_area, *of_block = (build_schema(domain_file, text, release) for release in published_tables(experiment))
    return of_area, of_block[0] if of_block else None


def published_tables(experiment: ResolvedExperiment) -> list[ReleaseSettings]:
    """The tables about an area, and those about its blocks where they are distinguished."""
    if not experiment.tables:
        raise ConfigError("no tables: nothing is published about an area")
    return [experiment.release.but(tables=tables) for tables in (experiment.tables, experiment.block_tables) if tables]
