"""Accuracy against privacy loss of randomized response, by the formulas and by simulated surveys."""

from pathlib import Path

from genverify.report.figures import save
from genverify.run.jobs import Job, log, run
from studies.mechanisms.figures import plot_rr_frontier
from studies.mechanisms.randomized_response import simulated_frontier
from studies.mechanisms.settings import RandomizedResponse

LABEL = "simulated surveys (synthetic); bars: three standard errors"


def main(job: Job) -> None:
    rows = simulated_frontier(job.settings("response", RandomizedResponse), job.params.seed)
    rows.to_csv(job.output.table, index=False, float_format="%.10g")
    log.info("largest difference in standard errors: %.2f", rows["difference_in_errors"].abs().max())
    save(plot_rr_frontier(rows, LABEL), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
