"""Say what a run would do, from a dry run and the measurements of earlier runs."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from genverify.model.errors import ConfigError
from genverify.model.files import read_yaml
from genverify.run.config import parse_config
from genverify.run.jobs import Job, log, run
from studies.country.plan import jobs_of, plan, plan_everything, read_earlier


def main(job: Job) -> None:
    earlier = read_earlier(Path("benchmarks"), Path("results"), read_yaml(Path(job.params.times))["seconds"])
    config, cores = parse_config(job.params.study), os.cpu_count() or 1
    target = job.params.target
    for one, given in {target: plan}.items() if target else {"all": plan, "everything": plan_everything}.items():
        jobs = jobs_of(dry_run(job.params.study, one))
        for line in given(config, jobs, job.params.batches, earlier, Path("results"), cores):
            log.info("%s", line)


def dry_run(study: dict[str, object], target: str) -> str:
    """What Snakemake would do for a target with these settings; no lock is taken, nothing is changed."""
    with TemporaryDirectory() as folder:
        settings = Path(folder) / "study.yaml"
        settings.write_text(yaml.safe_dump(study))
        options = ["--dry-run", "--nolock", "--quiet", "rules", "--configfile", str(settings), "--", target]
        words = [sys.executable, "-m", "snakemake", *options]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise ConfigError(f"the dry run failed:\n{done.stdout.strip()}")
    return done.stdout


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
