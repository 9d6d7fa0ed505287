"""Try the claims that block tables prove on known person records."""

from pathlib import Path

from genverify.core.files import read_yaml
from genverify.core.release import read_study
from genverify.core.settings import ReleaseSettings
from genverify.core.timing import progress
from genverify.core.vocabulary import groups_of
from genverify.microdata.known import known_blocks, read_as
from genverify.microdata.person_records import read_person_records
from genverify.papers.gtv.persons import sum_up, try_blocks
from genverify.papers.gtv.settings import PersonClaims
from genverify.run.jobs import Job, log, run
from genverify.solve.settings import ProgramSettings


def main(job: Job) -> None:
    schema = read_study(Path(job.input.domain), job.settings("release", ReleaseSettings))
    records = read_person_records(Path(job.input.records), schema.domain)
    list_name = job.params.readings[job.wildcards.reading]
    groups = groups_of(read_yaml(Path(job.input.tables)), schema.domain, list_name)
    schema, records = read_as(schema, records, groups)
    settings, how = job.settings("program", ProgramSettings), job.settings("claims", PersonClaims)
    blocks = progress(list(known_blocks(records, schema, how.max_persons)), "blocks tried")
    proving = settings.proving("the trial on known persons")
    tried = try_blocks(blocks, proving, how.datasets, how.min_k, job.params.seed)
    table = sum_up(tried)
    table.to_csv(job.output.claims, index=False)
    log.info("%s", table.to_string(index=False))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
