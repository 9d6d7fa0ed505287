"""Verify claims about the blocks of some tracts from block tables, tract tables, and both; every proof is checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.checker.file import write_proofs
from genverify.core.frames import stack
from genverify.core.release import read_releases, read_schema
from genverify.core.timing import progress
from genverify.papers.gtv.tracts.attack import Asked, areas_frame, attack_tract, claims_frame
from genverify.papers.gtv.tracts.publish import batch_of_tracts
from genverify.run.jobs import Job, log, run
from genverify.solve.settings import ProgramSettings


def main(job: Job) -> None:
    schemas = [read_schema(Path(path)) for path in (job.input.blocks, job.input.tracts)]
    blocks, tracts = (
        list(read_releases(Path(path), schema))
        for path, schema in zip((job.input.block_counts, job.input.tract_counts), schemas, strict=True)
    )
    settings = job.settings("program", ProgramSettings)
    own = batch_of_tracts(blocks, tracts, int(job.wildcards.batch), job.params.batches)
    names, claims, areas, whole = schemas[0].domain.names, [], [], []
    proofs: list[Mapping[str, Any]] = []
    asked = Asked(**job.params.asked)
    for levels in progress(own, "tracts attacked"):
        proving = settings.proving("The attack on tracts")
        one = attack_tract(levels, proving, asked, job.params.seed)
        tract = levels.areas[0].release.block
        claims.append(claims_frame(tract, one.found, names))
        areas.append(areas_frame(tract, one.found, len(names)))
        whole.append(one.whole)
        proofs += one.proofs
        log.info("%s: %s", tract, ", ".join(f"{value} {name}" for name, value in one.whole.items() if name != "tract"))
    empty = claims_frame("", [], names), areas_frame("", [], len(names))
    stack([empty[0], *claims]).to_parquet(job.output.claims, index=False)
    stack([empty[1], *areas]).to_parquet(job.output.areas, index=False)
    pd.DataFrame(whole).to_parquet(job.output.whole, index=False)
    write_proofs(proofs, Path(job.output.proofs))
    log.info("%d tracts, %d claims", len(own), sum(map(len, claims)))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
