"""The error of the matrix mechanism on the queries of the study, by strategy."""

from pathlib import Path

from genverify.model.domain import read_domain
from genverify.model.release import read_study
from genverify.model.settings import ReleaseSettings
from genverify.report.figures import save
from genverify.run.jobs import Job, log, run
from studies.mechanisms.figures import plot_matrix_mechanism
from studies.mechanisms.matrix_mechanism import Workload, compare_strategies, query_errors, strategies
from studies.mechanisms.settings import MatrixMechanism

LABEL = "expected error, whatever the data; no data are shown"


def main(job: Job) -> None:
    settings, part = job.settings("release", ReleaseSettings), job.settings("mechanism", MatrixMechanism)
    schema = read_study(Path(job.input.domain), settings)
    keeps = read_domain(Path(job.input.domain)).universe(settings.universe).keeps
    workload = Workload(schema.domain.restrict(keeps.where), tuple(query.predicate for query in schema.queries))
    result = strategies(workload)
    errors = query_errors(result, schema.queries, workload.sizes, part.by_table)
    numbers = compare_strategies(result, part.epsilons, errors)
    errors.to_csv(job.output.queries, index=False, float_format="%.8g")
    numbers.to_csv(job.output.table, index=False, float_format="%.8g")
    log.info("%d queries on %d records: %s", len(schema.queries), workload.domain.size, [s.name for s in result])
    save(plot_matrix_mechanism(numbers, LABEL), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
