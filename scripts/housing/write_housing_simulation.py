"""Compare the simulated properties with what the paper says of its own."""

from pathlib import Path

from genverify.model.files import data_label, read_yaml
from genverify.model.work import derive_seed
from genverify.run.jobs import Job, run
from studies.housing.households import read_states
from studies.housing.sources import read_assumptions
from studies.housing.tables import draw_again, measures, simulation_table


def main(job: Job) -> None:
    households, simulation = Path(job.input.households), Path(job.input.simulation)
    occupancy = read_yaml(Path(job.input.housing_domain))["occupancy"]
    _, model = read_assumptions(simulation, occupancy, job.params.alpha, job.params.smallest_property, None)
    seeds = [derive_seed(job.params.seed, "housing", "again", str(draw)) for draw in range(job.params.draws)]
    again = draw_again(households, model, occupancy, job.params.blocks, seeds) if seeds else []
    ours, paper = measures(read_states(households), occupancy), read_yaml(simulation)["paper"]
    table = simulation_table(ours, again, paper, data_label(Path(job.input.manifest)))
    table.to_csv(job.output.table, index=False, float_format="%.10g")


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
