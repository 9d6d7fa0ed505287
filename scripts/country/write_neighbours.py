"""How alike neighbours are in race: the country beside real blocks."""

from pathlib import Path

from genverify.model.files import data_label
from genverify.model.work import derive_seed
from genverify.run.jobs import Job, log, run
from studies.country.composition import neighbours_table
from studies.country.people import read_country
from studies.country.places import rural_tracts
from studies.country.settings import Microdata
from studies.country.store import read_microdata


def main(job: Job) -> None:
    settings, store = job.settings("microdata", Microdata), Path(job.input.microdata)
    rural: set[str] = set()
    country = read_country(Path(settings.synthetic.country)) if settings.source == "synthetic" else None
    if country and country.blocks:
        rural = rural_tracts(settings.synthetic, derive_seed(job.params.seed, "microdata"), country)
    states = sorted(path.stem for path in store.glob("*.parquet"))
    frames = (read_microdata(store, columns=["block", "VACS", "THHRACE"], states=[state]).to_pandas() for state in states)
    occupied = (frame[frame["VACS"] == 0] for frame in frames)
    units = ((frame["block"], frame["THHRACE"]) for frame in occupied)
    table = neighbours_table(units, rural, Path(job.input.estimates), data_label(Path(job.input.manifest)))
    table.to_csv(job.output.table, index=False)
    log.info("%s", table.to_string(index=False))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
