"""Find the blocks in which a household must be in violation, prove it, and check the proofs."""

from pathlib import Path

from genverify.checker.file import write_proofs
from genverify.core.timing import progress
from genverify.papers.housing.attack.detect import detect_block, detected_frame
from genverify.papers.housing.attack.joint_program import read_percentages, read_statistics
from genverify.papers.housing.private.household import read_household_file
from genverify.papers.housing.settings import Condition
from genverify.run.jobs import Job, log, run
from genverify.solve.settings import ProgramSettings


def main(job: Job) -> None:
    file, percentages = read_household_file(Path(job.input.housing_domain)), read_percentages(Path(job.input.published))
    settings, reading = job.settings("program", ProgramSettings), job.part("condition", Condition).reading
    found = []
    for block, row in progress(read_statistics(Path(job.input.statistics), percentages), "blocks decided"):
        found.append(detect_block(row, block, file, percentages, reading, settings))
        found[-1].check()
    frame = detected_frame(found)
    frame.to_parquet(job.output.blocks, index=False)
    write_proofs([one.certificate for one in found if one.certificate], Path(job.output.proofs))
    log.info("condition %s: %s", job.wildcards.condition, frame["verdict"].value_counts().to_dict())


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
