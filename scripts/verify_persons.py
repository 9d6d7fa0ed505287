"""Try the claims that block tables prove on known person records."""

from pathlib import Path

from genverify.attack import ProgramSettings
from genverify.groups import read_vocabulary
from genverify.jobs import Job, log, run
from genverify.microdata.person_records import read_person_records
from genverify.person_trial import readings, try_readings
from genverify.rap import RapSettings
from genverify.release import read_study
from genverify.textfiles import read_yaml


def main(job: Job) -> None:
    schema = read_study(Path(job.input.domain), job.params.release)
    records = read_person_records(Path(job.input.records), schema.domain)
    vocabulary = read_vocabulary(read_yaml(Path(job.input.tables)), schema.domain, {})
    bands = [vocabulary.groups[name] for name in vocabulary.listed(job.params.bands)]
    found = readings(schema, records, bands[0].predicate.columns[0], bands)
    program, rap = ProgramSettings(**job.params.program), RapSettings(**job.params.rap)
    table = try_readings(found, program, rap, job.params.claims, job.params.seed)
    table.assign(data=f"records of {Path(job.input.records).name}").to_csv(job.output.table, index=False)
    log.info("%s", table.to_string(index=False))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
