"""Attack the same blocks with this version and with an earlier one beside it, and compare what they verify."""

from pathlib import Path

from genverify.model.errors import ConfigError
from genverify.model.settings import Generate, ReleaseSettings, Verify
from genverify.model.work import derive_seed
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.benchmarks import Cases, compare_versions
from studies.gtv.settings import BlocksBenchmark, SameBenchmark


def main(job: Job) -> None:
    before = job.settings("blocks", BlocksBenchmark).before
    if before is None:
        raise ConfigError("benchmark.blocks.before: name the folder of an earlier version; docs/speed.md shows how")
    how = (
        job.settings("program", ProgramSettings),
        job.settings("generate", Generate).datasets,
        job.settings("verify", Verify).min_k,
        derive_seed(job.params.seed, "same"),
    )
    microdata, sizes, domain, schema = (
        Path(getattr(job.input, name)) for name in ("microdata", "sizes", "domain", "schema")
    )
    cases = Cases(microdata, sizes, domain, schema, [Path(path) for path in job.input.counts])
    asked, release = job.settings("same", SameBenchmark), job.settings("release", ReleaseSettings)
    compared = compare_versions(cases.releases(asked, release, job.params.seed), how, Path(before))
    compared.to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
