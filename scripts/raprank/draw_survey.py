"""Draw synthetic persons of a survey from its model."""

from pathlib import Path

import pandas as pd

from genverify.run.jobs import Job, log, run
from studies.raprank.survey_model import draw_persons, read_model


def main(job: Job) -> None:
    model = read_model(Path(job.input.model[0]).parent)
    persons = pd.concat(draw_persons(model, job.params.states, job.params.seed))
    persons.to_csv(job.output.persons, index=False)
    log.info("%d synthetic persons of %d states", len(persons), persons["ST"].nunique())


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
