"""How well the households of the built-in country fit surveys: margins of two and three columns."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.files import data_label
from genverify.run.jobs import Job, log, run
from studies.country.people import read_country
from studies.country.settings import Microdata
from studies.country.surveyed import compare_cells, distinct_households, fit_table, shipped_margins, survey_margins


def main(job: Job) -> None:
    file, label = read_domain(Path(job.input.domain)), data_label(Path(job.input.manifest))
    country = read_country(Path(job.settings("microdata", Microdata).synthetic.country))
    margins = list(shipped_margins(Path(job.input.odds)))
    for path in job.input.surveys:
        margins += survey_margins(pd.read_csv(path), Path(path).stem, file, country.targets)
    if not job.input.surveys:
        log.info("no file of counts is named (generators.surveys): compared with the percentages of odds.csv only")
    cells = compare_cells(distinct_households(Path(job.input.microdata), file), margins)
    fit_table(cells, label).to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
