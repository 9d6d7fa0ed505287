"""How the number of candidate claims falls with the number of generated datasets."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from genverify.model.claims import Codes
from genverify.model.files import data_label
from genverify.model.release import TOTAL, Schema, read_releases, read_schema
from genverify.model.settings import Verify
from genverify.model.tablefiles import read_blocks
from genverify.model.tabulate import read_datasets
from genverify.model.work import progress
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.figures import candidates_table, plot_candidates, spread_blocks


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    sizes = pd.concat(pd.read_parquet(path, filters=[("query", "==", TOTAL)]) for path in job.input.counts)
    chosen = spread_blocks(list(sizes["block"]))
    batches = zip(job.input.counts, job.input.datasets, strict=True)
    result = {block: held for counts, path in batches for block, held in _datasets(counts, path, schema, chosen)}
    records = ((block, result[block]) for block in progress(chosen, "blocks counted"))
    claims = read_blocks(Path(job.input.claims), chosen)
    table = candidates_table(records, len(sizes), claims, job.settings("verify", Verify).min_k)
    table.to_csv(job.output.table, index=False, float_format="%.4g")
    save(plot_candidates(table, data_label(Path(job.input.manifest))), Path(job.output.pdf), Path(job.output.png))


def _datasets(counts: str, datasets: str, schema: Schema, chosen: list[str]) -> Iterable[tuple[str, Codes]]:
    """The generated records of the chosen blocks of a batch."""
    releases = [release for release in read_releases(Path(counts), schema) if release.block in chosen]
    return read_datasets(Path(datasets), releases).items() if releases else ()


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
