"""What an experiment publishes about an area, and about its blocks."""

from pathlib import Path

from genverify.core.domain import DomainFile
from genverify.core.files import read_yaml
from genverify.core.marginals import marginal_queries
from genverify.core.release import Schema, build_schema
from genverify.papers.raprank.settings import ResolvedExperiment, published_tables


def experiment_schemas(domain_file: DomainFile, experiment: ResolvedExperiment) -> tuple[Schema, Schema | None]:
    """What is published about an area, and about each of its blocks where they are distinguished."""
    if experiment.marginals:
        domain = domain_file.domain.restrict(domain_file.universe(experiment.keeps).codes)
        return Schema(domain, (), marginal_queries(domain, experiment.marginals)), None
    text = read_yaml(Path(experiment.release.tables_file))
    of_area, *of_block = (build_schema(domain_file, text, release) for release in published_tables(experiment))
    return of_area, of_block[0] if of_block else None
