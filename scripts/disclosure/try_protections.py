"""Try the protections that a release file lists."""

from pathlib import Path

from genverify.disclosure.record_audit import Attack
from genverify.disclosure.release_data import describe
from genverify.disclosure.whatif import what_if, write_what_if
from genverify.model.settings import Generate
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings


def main(job: Job) -> None:
    described = describe(Path(job.input.described))
    settings, datasets = job.settings("program", ProgramSettings), job.settings("generate", Generate).datasets
    form = described.form
    attack = Attack(settings.proving("the audit of a release"), datasets, form.min_k, form.seed)
    write_what_if(what_if(described, attack, form.search.k), described, Path(job.output.table).parent)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
