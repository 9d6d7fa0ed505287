"""Generate datasets that fit the release of each block of a batch, by walks."""

from genverify.attack.generate import generate_block
from genverify.run.generation import generate_batch
from genverify.run.jobs import Job, run


def main(job: Job) -> None:
    generate_batch(job, generate_block)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
