"""Audit a release: claims, ranges, proofs, what to withhold, and the report."""

from pathlib import Path

from genverify.disclose.record_audit import Attack
from genverify.disclose.record_report import write_audit
from genverify.disclose.release_data import describe
from genverify.model.settings import Generate
from genverify.model.tablefiles import write_frame
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings


def main(job: Job) -> None:
    described = describe(Path(job.input.described))
    settings, datasets = job.settings("program", ProgramSettings), job.settings("generate", Generate).datasets
    attack = Attack.of(described, settings, datasets)
    found, _ = write_audit(described, attack, Path(job.output.report).parent)
    write_frame(found.claims, Path(job.output.claims).parent, "claims")  # the audit of a study compares it with the proofs


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
