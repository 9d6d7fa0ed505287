"""Find the blocks in which a household must be in violation, prove it, and check the proofs."""

from pathlib import Path

from genverify.checker.certificate import write_proofs
from genverify.model.work import progress
from genverify.run.jobs import Job, log, run
from genverify.solve.program_settings import ProgramSettings
from studies.housing.detect import detect_block, detected_frame
from studies.housing.households import read_household_file
from studies.housing.joint_program import read_percentages, read_statistics
from studies.housing.settings import Condition


def main(job: Job) -> None:
    file, percentages = read_household_file(Path(job.input.housing_domain)), read_percentages(Path(job.input.published))
    settings, reading = job.settings("program", ProgramSettings), job.part("condition", Condition).reading
    result = []
    for block, row in progress(read_statistics(Path(job.input.statistics), percentages), "blocks decided"):
        result.append(detect_block(row, block, file, percentages, reading, settings))
        result[-1].check()
    frame = detected_frame(result)
    frame.to_parquet(job.output.blocks, index=False)
    write_proofs([one.certificate for one in result if one.certificate], Path(job.output.proofs))
    log.info("condition %s: %s", job.wildcards.condition, frame["verdict"].value_counts().to_dict())


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
