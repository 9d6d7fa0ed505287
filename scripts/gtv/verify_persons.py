"""Try the claims that block tables prove on known person records."""

from pathlib import Path

from genverify.core.settings import ReleaseSettings
from genverify.core.timing import progress
from genverify.microdata.known import known_blocks, read_known
from genverify.microdata.settings import PersonClaims
from genverify.papers.gtv.persons import sum_up, try_blocks
from genverify.run.jobs import Job, log, run
from genverify.solve.settings import ProgramSettings


def main(job: Job) -> None:
    release, reading = job.settings("release", ReleaseSettings), job.params.readings[job.wildcards.reading]
    domain, tables, known = map(Path, (job.input.domain, job.input.tables, job.input.records))
    schema, records = read_known(domain, release, tables, known, reading)
    settings, how = job.settings("program", ProgramSettings), job.settings("claims", PersonClaims)
    blocks = progress(list(known_blocks(records, schema, how.max_persons)), "blocks tried")
    proving = settings.proving("the trial on known persons")
    tried = try_blocks(blocks, proving, how.datasets, how.min_k, job.params.seed)
    table = sum_up(tried)
    table.to_csv(job.output.claims, index=False)
    log.info("%s", table.to_string(index=False))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
