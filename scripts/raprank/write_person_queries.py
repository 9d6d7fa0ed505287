"""Count the published lines of the person tables, beside the paper's."""

from pathlib import Path

from genverify.model.domain import read_domain
from genverify.model.files import read_yaml
from genverify.model.query import published_lines
from genverify.model.settings import ReleaseSettings
from genverify.model.tablefiles import neutral_frame
from genverify.run.jobs import Job, run
from studies.raprank.tables import person_queries, person_queries_text


def main(job: Job) -> None:
    domain, text = read_domain(Path(job.input.domain)), read_yaml(Path(job.input.tables))
    release = job.settings("release", ReleaseSettings)
    universe = domain.universe(release.universe)
    chosen = {"block": release.tables, "tract": job.params.tract_tables}
    lines = {level: list(published_lines(text, domain, universe, tables)) for level, tables in chosen.items()}
    table = person_queries(lines, read_yaml(Path(job.input.paper))["queries"])
    neutral_frame(table).to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(person_queries_text(table))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
