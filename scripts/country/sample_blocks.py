"""Draw the blocks of the study."""

from pathlib import Path

from genverify.model.domain import read_domain
from genverify.run.jobs import Job, log, run
from studies.country.sample import choose_blocks
from studies.country.settings import Sample
from studies.country.store import block_sizes


def main(job: Job) -> None:
    settings = job.settings("sample", Sample)
    universe = read_domain(Path(job.input.domain)).universe(settings.universe)
    sizes = block_sizes(Path(job.input.microdata), universe.keeps)
    blocks = choose_blocks(sizes, settings, job.params.seed)
    sizes.to_parquet(job.output.sizes, index=False)
    blocks.to_parquet(job.output.blocks, index=False)
    log.info("%d blocks drawn, %d distinct", len(blocks), blocks["block"].nunique())


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
