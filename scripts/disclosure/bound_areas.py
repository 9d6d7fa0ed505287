"""The exact range of every rounded count of some larger areas and their small ones, with proofs."""

from pathlib import Path

from genverify.checker.certificate import write_proofs
from genverify.model.tablefiles import stack
from genverify.model.work import progress
from genverify.run.jobs import Job, run
from studies.disclosure.area_tables import (
    batch_of,
    bound_part,
    read_area_tables,
    read_areas,
    read_inside,
    work_of,
)
from studies.disclosure.settings import AreaSettings


def main(job: Job) -> None:
    how, spec = job.settings("nz", AreaSettings), read_area_tables(Path(job.input.tables))
    inside = read_inside(Path(job.input.areas), how.area, how.inside)
    small, larger = read_areas(Path(job.input.counts)), read_areas(Path(job.input.larger))
    parts = batch_of(small, larger, inside, int(job.wildcards.batch), how.batches)
    matches = [bound_part(part, spec, work_of(how.seconds)) for part in progress(parts, "larger areas")]
    stack([rows for rows, _ in matches]).to_parquet(job.output.ranges, index=False)
    write_proofs((proof for _, proof in matches), Path(job.output.proofs))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
