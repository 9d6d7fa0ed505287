"""Match curves of a figure's experiments, state by state."""

from pathlib import Path

from genverify.model.files import data_labels, read_yaml
from genverify.model.tablefiles import neutral_frame
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.raprank.figures import plot_states, read_panels, state_means


def main(job: Job) -> None:
    means = state_means(read_panels(job.input.curves, job.params.panels))
    neutral_frame(means).to_csv(job.output.csv, index=False, float_format="%.6g")
    names = {state: entry["name"] for state, entry in read_yaml(Path(job.input.states))["states"].items()}
    save(plot_states(means, data_labels(job.input.manifests), names), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
