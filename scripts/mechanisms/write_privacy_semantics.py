"""The pairs of hypotheses that differential privacy protects (D-13, D-14), on a toy population."""

from genverify.run.jobs import Job, log, run
from studies.mechanisms.settings import Semantics
from studies.mechanisms.utility import semantics_table


def main(job: Job) -> None:
    table = semantics_table(job.settings("semantics", Semantics))
    table.to_csv(job.output.table, index=False, float_format="%.10g")
    log.info("%s", table.groupby("people")[["log", "epsilon"]].max().to_dict("index"))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
