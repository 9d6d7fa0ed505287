"""Check and summarise the proofs of a study."""

from pathlib import Path

import pandas as pd

from genverify.checker.stored import checked_blocks
from genverify.model.files import data_label
from genverify.model.release import read_schema
from genverify.run.jobs import Job, log, run
from studies.gtv.tables import proof_summary


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    batches = zip(job.input.counts, job.input.proofs, strict=True)
    checked = (block for counts, proofs in batches for block in checked_blocks(Path(counts), Path(proofs), schema))
    table = proof_summary(pd.read_parquet(job.input.blocks), checked)
    table.assign(data=data_label(Path(job.input.manifest))).to_csv(job.output.table, index=False)
    log.info("%s", table.to_string(index=False))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
