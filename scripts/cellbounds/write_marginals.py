"""Put the times of all marginal cases into one table."""

import pandas as pd

from genverify.run.jobs import Job, run


def main(job: Job) -> None:
    frame = pd.concat([pd.read_csv(path) for path in job.input.cases], ignore_index=True)
    frame[["cpu_s", "wall_s"]] = frame[["cpu_s", "wall_s"]].round(2)
    whole = dict.fromkeys(("exact", "uncertified"), "Int64")
    frame.astype(whole).to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
