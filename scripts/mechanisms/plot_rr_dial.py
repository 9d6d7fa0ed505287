"""Mu as a dial between the two one-sided guarantees of randomized response (footnote 57)."""

from pathlib import Path

from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.mechanisms.figures import dial_table, plot_dial
from studies.mechanisms.settings import Dial

LABEL = "by the formulas; no data are shown"


def main(job: Job) -> None:
    rows = dial_table(job.settings("dial", Dial))
    rows.to_csv(job.output.table, index=False, float_format="%.10g")
    save(plot_dial(rows, LABEL), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
