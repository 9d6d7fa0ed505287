"""Time the tabulation of every block of the microdata."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.release import read_study
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import tabulate_counts
from genverify.model.work import watch
from genverify.run.jobs import Job, log, run
from studies.country.store import read_microdata


def main(job: Job) -> None:
    settings = job.settings("release", ReleaseSettings)
    schema = read_study(Path(job.input.domain), settings)
    keeps = read_domain(Path(job.input.domain)).universe(settings.universe).keeps
    with watch() as read:
        records = read_microdata(Path(job.input.microdata))
    with watch() as spent:
        blocks, sizes, _ = tabulate_counts(records, keeps, schema)
    size = {"blocks": len(blocks), "households": int(sizes.sum()), "queries": len(schema.queries), "processes": 1}
    times = {"read_s": round(read.seconds, 3), "seconds": round(spent.seconds, 3)}
    row = {**size, **times, "blocks_per_second": round(len(blocks) / spent.seconds)}
    pd.DataFrame([row]).to_csv(job.output.table, index=False)
    log.info("%s", row)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
