"""Match curves of a figure's experiments, averaged over areas."""

from pathlib import Path

from genverify.model.files import data_labels
from genverify.model.tablefiles import neutral_frame
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.raprank.figures import panel_means, plot_curves, read_panels


def main(job: Job) -> None:
    means = panel_means(read_panels(job.input.curves, job.params.panels), job.params.seed)
    neutral_frame(means).to_csv(job.output.csv, index=False, float_format="%.6g")
    save(plot_curves(means, data_labels(job.input.manifests)), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
