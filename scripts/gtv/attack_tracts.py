"""Verify claims about the blocks of some tracts from block tables, tract tables, and both; every proof is checked."""

from pathlib import Path

from genverify.checker.certificate import write_proofs
from genverify.model.release import read_releases, read_schema
from genverify.run.jobs import Job, log, run
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.settings import KIND_OF, SyntheticTracts, TractTables
from studies.gtv.tracts import attack_tracts, batch_of_tracts


def main(job: Job) -> None:
    source = job.wildcards.source
    asked = job.settings(KIND_OF[source], TractTables)
    settings = job.settings("program", ProgramSettings).proving("The attack on tracts")
    # one job for each synthetic tract
    batches = job.params.batches if source == "records" else job.settings(source, SyntheticTracts).tracts
    schemas = [read_schema(Path(path)) for path in (job.input.blocks, job.input.tracts)]
    files = zip((job.input.block_counts, job.input.tract_counts), schemas, strict=True)
    blocks, tracts = (list(read_releases(Path(path), schema)) for path, schema in files)
    part = batch_of_tracts(blocks, tracts, int(job.wildcards.batch), batches)
    claims, areas, whole, proofs = attack_tracts(part, schemas[0].domain.names, settings, asked, job.params.seed)
    claims.to_parquet(job.output.claims, index=False)
    areas.to_parquet(job.output.areas, index=False)
    whole.to_parquet(job.output.whole, index=False)
    write_proofs(proofs, Path(job.output.proofs))
    log.info("%d tracts, %d claims", len(whole), len(claims))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
