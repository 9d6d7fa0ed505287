"""The block explorer: a page and the pieces of data that it loads."""

from pathlib import Path

import pandas as pd

from genverify.explorer.explorer_site import (
    add_up,
    block_entries,
    figures_by_state,
    page_text,
    read_words,
    weight,
    write_blocks,
    write_certificates,
    write_lists,
    write_study,
)
from genverify.model.release import read_schema
from genverify.model.settings import Explorer, Verify
from genverify.run.jobs import Job, log, run


def main(job: Job) -> None:
    schema, folder, settings = (
        read_schema(Path(job.input.schema)),
        Path(job.output.pieces),
        job.settings("explorer", Explorer),
    )
    words = read_words(settings, Path(job.input.manifest), Path(job.input.tables), Path(job.input.domain))
    sample, least = pd.read_parquet(job.input.sample), job.settings("verify", Verify).min_k
    given = (sample, Path(job.input.blocks), Path(job.input.households), least)
    designs = sorted(set(sample["design"])) if words.synthetic or settings.show_households else None
    write_study(folder, schema, add_up(figures_by_state(*given)), words, least, designs)
    if designs is not None:
        files = (map(Path, paths) for paths in (job.input.counts, job.input.proofs, job.input.explained))
        batches = list(zip(*files, strict=True))
        certificates = write_certificates(folder, map(Path, job.input.vipr))
        tables = Path(job.input.claims), Path(job.input.baselines)
        weighed = list(map(Path, job.input.weighed))
        entries = block_entries(schema, batches, *tables, certificates=certificates, weighed=weighed, most=settings.likely)
        piece = write_blocks(folder, entries, settings.blocks_per_piece)
        write_lists(folder, figures_by_state(*given), designs, piece)
    title = f"Block explorer: {words.data}"
    Path(job.output.page).write_text(page_text(title))
    Path(job.output.inside).write_text(page_text(title, folder))
    log.info("%d files, %.1f MB", *weight(folder))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
