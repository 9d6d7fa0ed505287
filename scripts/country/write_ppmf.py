"""Write the microdata in the layout of the PPMF unit file."""

from pathlib import Path

from genverify.run.jobs import Job, log, run
from studies.country.ppmf import write_ppmf
from studies.country.store import read_microdata


def main(job: Job) -> None:
    folder = Path(job.input.microdata)
    states = sorted(path.stem for path in folder.glob("*.parquet"))
    rows = write_ppmf((read_microdata(folder, states=[state]) for state in states), Path(job.output.units))
    log.info("%s: %d records in the layout of the PPMF unit file", job.output.units, rows)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
