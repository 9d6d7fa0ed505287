"""Match rates of every experiment, and the orders that the paper reports."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_labels, read_yaml
from genverify.run.jobs import Job, run
from studies.raprank.tables import match_rate_table, order_table, raprank_text


def main(job: Job) -> None:
    label, seed = data_labels(job.input.manifests), job.params.seed
    curves = {Path(path).parent.name: pd.read_parquet(path) for path in job.input.curves}
    drawn = {Path(path).parent.name: pd.read_parquet(path)["area"].nunique() for path in job.input.areas}
    rates = match_rate_table(curves, drawn, label, seed)
    orders = order_table(curves, read_yaml(Path(job.input.paper))["orders"], label, seed)
    rates.to_csv(job.output.rates, index=False)
    orders.to_csv(job.output.orders, index=False)
    Path(job.output.readable).write_text(raprank_text(rates, orders, label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
