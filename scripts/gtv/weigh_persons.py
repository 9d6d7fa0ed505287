"""Probabilities of claims about known persons, and how well they are calibrated."""

from pathlib import Path

import numpy as np

from genverify.model.files import read_yaml
from genverify.model.query import groups_of
from genverify.model.release import read_study
from genverify.model.settings import ReleaseSettings
from genverify.model.work import derive_seed, progress
from genverify.run.jobs import Job, log, run
from genverify.solve.program_settings import ProgramSettings
from studies.country.settings import PersonClaims
from studies.country.store import known_blocks, read_as, read_person_records
from studies.gtv.probability_evaluation import judge_known, smoothing_of, weigh_known
from studies.gtv.settings import Probability


def main(job: Job) -> None:
    schema = read_study(Path(job.input.domain), job.settings("release", ReleaseSettings))
    records = read_person_records(Path(job.input.records), schema.domain)
    groups = groups_of(read_yaml(Path(job.input.tables)), schema.domain, job.params.readings[job.wildcards.reading])
    schema, records = read_as(schema, records, groups)
    settings, how = job.settings("probability", Probability), job.settings("claims", PersonClaims)
    blocks = list(known_blocks(records, schema, how.max_persons))
    rng = np.random.default_rng(derive_seed(job.params.seed, "weigh_persons"))
    chosen = np.sort(rng.permutation(len(blocks))[: settings.person_blocks])
    max_types = job.settings("program", ProgramSettings).max_types
    part = [blocks[index] for index in chosen]
    smoothing = smoothing_of(records, schema.domain, {known.release.block for known in part}, settings.smoothing)
    log.info("smoothing, chosen on the other blocks: %s", smoothing)
    weighed = progress(part, "blocks weighed")
    result = list(weigh_known(weighed, records, smoothing, settings, max_types, job.params.seed))
    judge_known(result, job.params.seed).to_csv(job.output.table, index=False, float_format="%.6g")


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
