"""Generate-then-verify under protection: what is verified from the release, and how much of it is false."""

import json
from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.extension_figures import plot_gtv_protected
from studies.gtv.protected_attack import check_unprotected, summarise


def main(job: Job) -> None:
    rows = []
    for name, how, blocks in zip(job.params.protections, job.input.how, job.input.blocks, strict=True):
        rows.append(summarise(name, json.loads(Path(how).read_text()), pd.read_parquet(blocks), job.params.seed))
        check_unprotected(rows[-1])
    label = data_label(Path(job.input.manifest))
    result = pd.DataFrame(rows)
    result.assign(data=label).to_csv(job.output.csv, index=False)
    save(plot_gtv_protected(result, label), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
