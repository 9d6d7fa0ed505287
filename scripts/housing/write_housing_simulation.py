"""Compare the simulated properties with what the paper says of its own."""

from pathlib import Path

from genverify.core.files import read_yaml
from genverify.core.manifest import data_label
from genverify.papers.housing.judged.simulation import draw_again, draw_seeds, measures, simulation_table
from genverify.papers.housing.private.draw import read_assumptions
from genverify.papers.housing.private.store import read_states
from genverify.run.jobs import Job, run


def main(job: Job) -> None:
    households, simulation = Path(job.input.households), Path(job.input.simulation)
    occupancy = read_yaml(Path(job.input.housing_domain))["occupancy"]
    model = read_assumptions(simulation, occupancy, job.params.alpha, job.params.smallest_property, None).properties
    seeds = draw_seeds(job.params.seed, job.params.draws)
    again = draw_again(households, model, occupancy, job.params.blocks, seeds) if seeds else []
    ours, paper = measures(read_states(households), occupancy), read_yaml(simulation)["paper"]
    table = simulation_table(ours, again, paper, data_label(Path(job.input.manifest)))
    table.to_csv(job.output.table, index=False, float_format="%.10g")


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
