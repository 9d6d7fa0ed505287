"""Compare the simulated properties with what the paper says of its own."""

from pathlib import Path

from genverify.core.files import read_yaml
from genverify.core.manifest import data_label
from genverify.papers.housing.judged.simulation import simulation_table
from genverify.papers.housing.private.store import read_states
from genverify.run.jobs import Job, run


def main(job: Job) -> None:
    occupancy, paper = read_yaml(Path(job.input.housing_domain))["occupancy"], read_yaml(Path(job.input.simulation))["paper"]
    label = data_label(Path(job.input.manifest))
    table = simulation_table(read_states(Path(job.input.households)), occupancy, paper, label)
    table.to_csv(job.output.table, index=False, float_format="%.10g")


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
