"""The trial on known persons as one table."""

from pathlib import Path

import pandas as pd

from genverify.run.jobs import Job, run
from studies.gtv.known_persons import persons_verified, persons_verified_text


def main(job: Job) -> None:
    parts = {
        Path(claims).name.split(".")[0]: (pd.read_csv(claims, dtype={"k": str}), pd.read_csv(ranked))
        for claims, ranked in zip(job.input.claims, job.input.ranked, strict=True)
    }
    table = persons_verified(parts)
    label = f"records of {Path(job.params.records).name}"
    table.assign(data=label).to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(persons_verified_text(table, label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
