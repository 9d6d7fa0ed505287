"""Verify claims about the blocks of some tracts from block tables, tract tables, and both; every proof is checked."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from genverify.checker.file import write_proofs
from genverify.core.frames import stack
from genverify.core.release import read_releases, read_schema
from genverify.core.timing import progress
from genverify.papers.gtv.tracts.attack import TractFound, areas_frame, attack_tract, claims_frame
from genverify.papers.gtv.tracts.publish import batch_of_tracts
from genverify.papers.gtv.tracts.settings import KIND_OF, SyntheticTracts, TractTables
from genverify.run.jobs import Job, log, run
from genverify.solve.settings import ProgramSettings


def main(job: Job) -> None:
    schemas = [read_schema(Path(path)) for path in (job.input.blocks, job.input.tracts)]
    files = zip((job.input.block_counts, job.input.tract_counts), schemas, strict=True)
    blocks, tracts = (list(read_releases(Path(path), schema)) for path, schema in files)
    asked = job.settings(KIND_OF[job.wildcards.source], TractTables)
    settings = job.settings("program", ProgramSettings).proving("The attack on tracts")
    found = []
    for levels in progress(batch_of_tracts(blocks, tracts, int(job.wildcards.batch), _batches(job)), "tracts attacked"):
        one = attack_tract(levels, settings, asked, job.params.seed)
        found.append(one)
        log.info("tract %s", ", ".join(f"{name}: {value}" for name, value in one.whole.items()))
    _write(job, found, schemas[0].domain.names)
    log.info("%d tracts, %d claims", len(found), sum(len(area.claims) for one in found for area in one.found))


def _batches(job: Job) -> int:
    """The jobs that the tracts of a source are shared out to: one for each synthetic tract."""
    source = job.wildcards.source
    return job.params.batches if source == "records" else job.settings(source, SyntheticTracts).tracts


def _write(job: Job, found: Sequence[TractFound], names: Sequence[str]) -> None:
    claims = [claims_frame(one.whole["tract"], one.found, names) for one in found]
    areas = [areas_frame(one.whole["tract"], one.found, len(names)) for one in found]
    stack([claims_frame("", [], names), *claims]).to_parquet(job.output.claims, index=False)
    stack([areas_frame("", [], len(names)), *areas]).to_parquet(job.output.areas, index=False)
    pd.DataFrame([one.whole for one in found]).to_parquet(job.output.whole, index=False)
    write_proofs((line for one in found for line in one.proofs), Path(job.output.proofs))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
