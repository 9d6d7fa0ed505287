"""Match curves of a figure's experiments, averaged over areas."""

from pathlib import Path

from genverify.csvtext import neutral_frame
from genverify.figures.curves import panel_means, plot_curves, read_panels
from genverify.figures.style import save
from genverify.jobs import Job, run
from genverify.microdata.manifest import data_labels


def main(job: Job) -> None:
    means = panel_means(read_panels(job.input.curves, job.params.panels), job.params.seed)
    neutral_frame(means).to_csv(job.output.csv, index=False, float_format="%.6g")
    save(plot_curves(means, data_labels(job.input.manifests)), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
