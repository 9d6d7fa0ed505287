"""Draw the blocks of the study."""

from pathlib import Path

from genverify.model.domain import read_domain
from genverify.model.tablefiles import write_pieces
from genverify.run.jobs import Job, log, run
from studies.country.sample import batches_of, choose_blocks, number_of_batches
from studies.country.settings import Sample
from studies.country.store import block_sizes, nation_frame


def main(job: Job) -> None:
    settings = job.settings("sample", Sample)
    file, microdata = read_domain(Path(job.input.domain)), Path(job.input.microdata)
    sizes = block_sizes(microdata, file.universe(settings.universe).keeps)
    blocks = choose_blocks(sizes, settings, job.params.seed)
    sizes.to_parquet(job.output.sizes, index=False)
    blocks.to_parquet(job.output.blocks, index=False)
    batches = batches_of(blocks, number_of_batches(settings), settings.blocks_per_batch)
    write_pieces((own for _, own in batches.groupby("batch")), Path(job.output.batches))
    nation_frame(microdata, file.domain).to_parquet(job.output.nation, index=False)
    log.info("%d blocks drawn, %d distinct", len(blocks), blocks["block"].nunique())


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
