"""Count the configurations of households in a sample of each state."""

from pathlib import Path

from genverify.run.jobs import Job, log, run
from studies.housing.households import read_states
from studies.housing.joint_program import fit_prior


def main(job: Job) -> None:
    prior = fit_prior(read_states(Path(job.input.households)), job.params.share, job.params.seed)
    prior.to_parquet(job.output.prior, index=False)
    log.info("%d configurations in %d states", len(prior), prior["state"].nunique())


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
