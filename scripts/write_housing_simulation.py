"""Compare the simulated properties with what the paper says of its own."""

from pathlib import Path

from genverify.housing.store import read_states
from genverify.jobs import Job, run
from genverify.microdata.manifest import data_label
from genverify.tables_out.housing_simulation import simulation_table
from genverify.textfiles import read_yaml


def main(job: Job) -> None:
    occupancy, paper = read_yaml(Path(job.input.housing_domain))["occupancy"], read_yaml(Path(job.input.simulation))["paper"]
    label = data_label(Path(job.input.manifest))
    table = simulation_table(read_states(Path(job.input.households)), occupancy, paper, label)
    table.to_csv(job.output.table, index=False, float_format="%.10g")


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
