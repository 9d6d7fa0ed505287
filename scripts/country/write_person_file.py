"""Write the persons in the layout of the PPMF person file."""

from pathlib import Path

from genverify.run.jobs import Job, log, run
from studies.country.ppmf import PERSON_RECORD, write_ppmf
from studies.country.store import read_microdata


def main(job: Job) -> None:
    folder = Path(job.input.persons)
    states = sorted(path.stem for path in folder.glob("*.parquet"))
    tables = (read_microdata(folder, states=[state]) for state in states)
    rows = write_ppmf(tables, Path(job.output.persons), layout=PERSON_RECORD)
    log.info("%s: %d records in the layout of the PPMF person file", job.output.persons, rows)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
