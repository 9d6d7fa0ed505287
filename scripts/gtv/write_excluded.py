"""How many (claim, m) pairs no dataset that fits can have (footnote 9), each with a checked proof."""

from pathlib import Path
from typing import Any

from genverify.model.files import data_label
from genverify.model.release import read_releases, read_schema
from genverify.model.tabulate import read_datasets
from genverify.model.work import progress
from genverify.run.jobs import Job, log, run
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.impossible_counts import excluded_of_block, excluded_table
from studies.gtv.probabilities import spread
from studies.gtv.settings import Excluded


def main(job: Job) -> None:
    schema, part = read_schema(Path(job.input.schema)), job.settings("excluded", Excluded)
    settings = job.settings("program", ProgramSettings).proving("What cannot exist")
    rows: list[dict[str, Any]] = []
    for counts, generated in zip(job.input.counts, job.input.datasets, strict=True):
        releases = spread(list(read_releases(Path(counts), schema)), 0, part.every)
        datasets = read_datasets(Path(generated), releases)
        for release in progress(releases, "blocks"):
            if len(datasets[release.block]):
                rows += excluded_of_block(release, datasets[release.block], part, settings, job.params.seed)
    table = excluded_table(rows, data_label(Path(job.input.manifest)))
    table.to_csv(job.output.table, index=False)
    log.info("%s", table.to_dict("records"))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
