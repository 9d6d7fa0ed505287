"""Draw datasets that fit the release of each block of a batch, each with the probability that it has."""

from genverify.attack.exact import draw_block
from genverify.run.generation import generate_batch
from genverify.run.jobs import Job, run


def main(job: Job) -> None:
    generate_batch(job, draw_block)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
