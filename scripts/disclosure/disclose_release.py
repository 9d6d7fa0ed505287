"""Audit a release: claims, ranges, proofs, what to suppress, and the report."""

from pathlib import Path

from genverify.disclosure.record_audit import Attack, attack_records
from genverify.disclosure.release_data import describe
from genverify.disclosure.sources import record_source, write_files
from genverify.model.settings import Generate
from genverify.model.tablefiles import write_frame
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings


def main(job: Job) -> None:
    described = describe(Path(job.input.described))
    settings, datasets = job.settings("program", ProgramSettings), job.settings("generate", Generate).datasets
    form = described.form
    attack = Attack(settings.proving("the audit of a release"), datasets, form.min_k, form.seed)
    source = record_source(Path(job.input.described), {}, described)
    found = attack_records(described, attack, source=source).suppress()
    folder = Path(job.output.report).parent
    folder.mkdir(parents=True, exist_ok=True)
    write_files(found, folder, folder)
    write_frame(found.claims, Path(job.output.claims).parent, "claims")  # the audit of a study compares it with the proofs


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
