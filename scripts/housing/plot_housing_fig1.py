"""Figure 1 of the housing paper: the experiment, with the numbers of this run."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label, read_yaml
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.housing.figures import PANELS, overview_table, plot_overview


def main(job: Job) -> None:
    judged, curves, totals = (pd.read_parquet(getattr(job.input, name)) for name in ("judged", "curves", "totals"))
    table = overview_table(judged, curves, totals, PANELS[0])
    table.to_csv(job.output.csv, index=False)
    drawing, label = read_yaml(Path(job.input.drawing)), data_label(Path(job.input.manifest))
    figure = plot_overview(table, job.params.match_keys[PANELS[0]], drawing, label)
    save(figure, Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
