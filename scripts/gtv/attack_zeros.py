"""Verify the singleton claims of every block from all its counts."""

from pathlib import Path

from genverify.attack.verify import claim_columns
from genverify.model.release import read_releases, read_schema
from genverify.model.settings import Generate, Verify
from genverify.model.tablefiles import stack
from genverify.model.work import derive_seed, progress
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.withheld_zeros import singletons


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    settings = job.settings("program", ProgramSettings).proving("The study of withheld zeros")
    K, min_k = job.settings("generate", Generate).datasets, job.settings("verify", Verify).min_k
    result = []
    for release in progress(list(read_releases(Path(job.input.counts), schema)), "blocks attacked"):
        seed = derive_seed(job.params.seed, "generate", release.block)
        claims = claim_columns(singletons(release, settings, K, min_k, seed), schema.domain.names)
        claims.insert(0, "block", release.block)
        result.append(claims)
    stack(result).to_parquet(job.output.singletons, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
