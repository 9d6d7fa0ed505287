"""Say what a run would do, from a dry run and the measurements of earlier runs."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from genverify.core.errors import ConfigError
from genverify.run.config import parse_config
from genverify.run.jobs import Job, log, run
from genverify.run.plan import jobs_of, plan, read_earlier


def main(job: Job) -> None:
    jobs = jobs_of(dry_run(job.params.study))
    earlier = read_earlier(Path("benchmarks"), Path("results"))
    config, cores = parse_config(job.params.study), os.cpu_count() or 1
    for line in plan(config, jobs, job.params.batches, earlier, Path("results"), cores):
        log.info("%s", line)


def dry_run(study: dict[str, object]) -> str:
    """What Snakemake would do with these settings; no lock is taken, nothing is changed."""
    with TemporaryDirectory() as folder:
        settings = Path(folder) / "study.yaml"
        settings.write_text(yaml.safe_dump(study))
        options = ["--dry-run", "--nolock", "--quiet", "rules", "--configfile", str(settings)]
        words = [sys.executable, "-m", "snakemake", *options]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise ConfigError(f"the dry run failed:\n{done.stdout.strip()}")
    return done.stdout


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
