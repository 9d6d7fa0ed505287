"""Try the claims that block tables prove on known person records."""

from pathlib import Path

from genverify.model.settings import ReleaseSettings
from genverify.model.work import progress
from genverify.run.jobs import Job, log, run
from genverify.solve.program_settings import ProgramSettings
from studies.country.settings import PersonClaims
from studies.country.store import known_blocks, read_known
from studies.gtv.known_persons import sum_up, try_blocks


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
