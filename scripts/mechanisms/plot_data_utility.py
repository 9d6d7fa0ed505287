"""Expected utility of the published data against their accuracy (appendix E), simulated beside the formula."""

from pathlib import Path

import numpy as np
import pandas as pd

from genverify.model.domain import Predicate, read_domain
from genverify.model.files import data_label
from genverify.model.release import read_study
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import tabulate_counts
from genverify.model.work import derive_seed
from genverify.report.figures import save
from genverify.run.jobs import Job, log, run
from studies.country.store import read_microdata
from studies.mechanisms.figures import plot_utility
from studies.mechanisms.matrix_mechanism import Workload
from studies.mechanisms.settings import DataUtility
from studies.mechanisms.utility import compare_utilities, made, persons


def main(job: Job) -> None:
    settings, part = job.settings("release", ReleaseSettings), job.settings("utility", DataUtility)
    schema, keeps = read_study(Path(job.input.domain), settings), _keeps(job, settings)
    blocks = sorted(set(pd.read_parquet(job.input.sample)["block"]))
    answers = tabulate_counts(read_microdata(Path(job.input.microdata), blocks=blocks), keeps, schema)[2].astype(float)
    workload = Workload(schema.domain.restrict(keeps.where), tuple(query.predicate for query in schema.queries))
    people, whole = persons(workload, schema.queries, answers, part.persons, part.value)
    rng = np.random.default_rng(derive_seed(job.params.seed, "data utility"))
    rows = compare_utilities(people, whole, dict(made(part.curvatures)), part.epsilons, part.simulations, rng)
    rows.to_csv(job.output.table, index=False, float_format="%.10g")
    log.info("simulated off the exact value: %.2f standard errors at most", rows["off_exact"].abs().max())
    label = f"{len(answers)} sampled blocks, noise simulated; bars: three standard errors. Data: "
    save(plot_utility(rows, label + data_label(Path(job.input.manifest))), Path(job.output.pdf), Path(job.output.png))


def _keeps(job: Job, settings: ReleaseSettings) -> Predicate:
    return read_domain(Path(job.input.domain)).universe(settings.universe).keeps


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
