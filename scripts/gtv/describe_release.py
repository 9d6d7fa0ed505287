"""Write what the published counts mean."""

from pathlib import Path

from genverify.model.release import read_study, write_schema
from genverify.model.settings import ReleaseSettings
from genverify.run.jobs import Job, run


def main(job: Job) -> None:
    schema = read_study(Path(job.input.domain), job.settings("release", ReleaseSettings))
    write_schema(schema, Path(job.output.schema))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
