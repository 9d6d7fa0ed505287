"""How many datasets fit each block."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.extension_figures import plot_reconstructions


def main(job: Job) -> None:
    blocks = pd.concat(map(pd.read_parquet, job.input.blocks), ignore_index=True)
    save(plot_reconstructions(blocks, data_label(Path(job.input.manifest))), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
