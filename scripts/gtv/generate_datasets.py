"""Find datasets that fit the release of each block of a batch, by the method that the settings name."""

from genverify.run.jobs import Job, generate_batch, run


def main(job: Job) -> None:
    generate_batch(job)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
