"""The block explorer: a page and the pieces of data that it loads."""

from pathlib import Path

import pandas as pd

from genverify.explorer.build import block_entries, page_text, weight, write_blocks, write_study
from genverify.explorer.summary import block_figures
from genverify.explorer.words import read_words
from genverify.jobs import Job, log, run
from genverify.release import read_schema


def main(job: Job) -> None:
    schema, folder, settings = read_schema(Path(job.input.schema)), Path(job.output.pieces), job.params.explorer
    words = read_words(settings, Path(job.input.manifest), Path(job.input.tables), Path(job.input.domain))
    sample, blocks, households, claims, baselines = (
        pd.read_parquet(getattr(job.input, name)) for name in ("sample", "blocks", "households", "claims", "baselines")
    )
    figures = block_figures(sample, blocks, households, job.params.verify["min_k"])
    study = write_study(folder, schema, figures, words, job.params.verify["min_k"])
    if words.synthetic or settings["show_households"]:
        batches = [
            (Path(counts), Path(proofs)) for counts, proofs in zip(job.input.counts, job.input.explained, strict=True)
        ]
        entries = block_entries(schema, batches, claims, baselines)
        write_blocks(folder, study, figures, entries, settings["blocks_per_piece"])
    Path(job.output.page).write_text(page_text([Path(path) for path in job.input.assets], f"Block explorer: {words.data}"))
    log.info("%d files, %.1f MB", *weight(folder))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
