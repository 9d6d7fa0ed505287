"""CPU seconds of the main job by process, by this version and an earlier one beside it, which must give the same bytes."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from genverify.model.errors import DataError
from genverify.model.files import sha256_of
from genverify.run.jobs import Job, log, run
from genverify.run.layout import repository
from studies.gtv.benchmarks import main_job
from studies.gtv.settings import BlocksBenchmark

ON_BLOCKS = ("tabulate_release", "generate_datasets", "verify_claims", "fit_baselines")


def main(job: Job) -> None:
    before = job.settings("blocks", BlocksBenchmark).before
    rows, made = [], []
    packages = {**({"before": Path(before).resolve()} if before else {}), "now": repository() / "src"}
    for version, package in packages.items():
        with TemporaryDirectory() as home:
            rows += main_job(version, package.parent / "Snakefile", package, Path(home), job.params.target)
            blocks = pd.read_parquet(Path(home) / "results/sample/blocks.parquet")["block"].nunique()
            for row in (row for row in rows if row["version"] == version and row["process"] in ON_BLOCKS):
                row["ms_per_block"] = 1000 * row["work_s"] / blocks
            made.append({name: sha256_of(Path(home) / name) for name in job.params.compared})
    if made[0] != made[-1]:
        raise DataError(f"the two versions do not make the same files: {made}")
    frame = pd.DataFrame(rows).round(2)
    frame.to_csv(job.output.table, index=False)
    log.info("%s", frame.groupby("version")[["jobs", "start_s", "work_s"]].sum().to_string())


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
