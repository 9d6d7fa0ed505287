"""The exact range of every rounded count of some larger areas and their small ones, with proofs."""

from pathlib import Path

from genverify.checker.file import write_proofs
from genverify.core.frames import stack
from genverify.core.timing import progress
from genverify.disclosure.areas.bound import bound_part, work_of
from genverify.disclosure.areas.read import batch_of, read_areas, read_inside
from genverify.disclosure.areas.spec import AreaSettings, read_area_tables
from genverify.run.jobs import Job, run


def main(job: Job) -> None:
    how, spec = job.settings("nz", AreaSettings), read_area_tables(Path(job.input.tables))
    inside = read_inside(Path(job.input.areas), how.area, how.inside)
    small, larger = read_areas(Path(job.input.counts)), read_areas(Path(job.input.larger))
    parts = batch_of(small, larger, inside, int(job.wildcards.batch), how.batches)
    found = [bound_part(part, spec, work_of(how.seconds)) for part in progress(parts, "larger areas")]
    stack([one.rows for one in found]).to_parquet(job.output.ranges, index=False)
    write_proofs((one.proof for one in found), Path(job.output.proofs))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
