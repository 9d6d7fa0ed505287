"""Verify claims about the blocks of some tracts from block tables, tract tables, and both; every proof is checked."""

from pathlib import Path

from genverify.core.frames import stack
from genverify.core.release import read_releases, read_schema
from genverify.core.timing import progress
from genverify.papers.gtv.tracts.attack import areas_frame, attack_tract, claims_frame
from genverify.papers.gtv.tracts.publish import batch_of_tracts
from genverify.papers.gtv.tracts.settings import TractClaims
from genverify.run.jobs import Job, log, run
from genverify.solve.settings import ProgramSettings


def main(job: Job) -> None:
    schemas = [read_schema(Path(path)) for path in (job.input.blocks, job.input.tracts)]
    blocks, tracts = (
        list(read_releases(Path(path), schema))
        for path, schema in zip((job.input.block_counts, job.input.tract_counts), schemas, strict=True)
    )
    how, settings = job.settings("claims", TractClaims), job.settings("program", ProgramSettings)
    own = batch_of_tracts(blocks, tracts, int(job.wildcards.batch), how.batches)
    names, claims, areas = schemas[0].domain.names, [], []
    for levels in progress(own, "tracts attacked"):
        proving = settings.proving("The attack on tracts")
        found = list(attack_tract(levels, proving, how.datasets, how.min_k, job.params.seed))
        tract = levels.areas[0].release.block
        claims.append(claims_frame(tract, found, names))
        areas.append(areas_frame(tract, found, len(names)))
    empty = claims_frame("", [], names), areas_frame("", [], len(names))
    stack([empty[0], *claims]).to_parquet(job.output.claims, index=False)
    stack([empty[1], *areas]).to_parquet(job.output.areas, index=False)
    log.info("%d tracts, %d claims", len(own), sum(map(len, claims)))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
