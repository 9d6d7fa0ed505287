"""Time the ingestion of a large file in the PPMF layout."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.errors import GenverifyError
from genverify.run.jobs import Job, log, run
from studies.country.ppmf import write_ppmf
from studies.country.store import read_microdata
from studies.gtv.benchmarks import enlarged, ingest_ppmf, measure
from studies.gtv.settings import IngestBenchmark


def main(job: Job) -> None:
    microdata = Path(job.input.microdata)
    states = [read_microdata(microdata, states=[path.stem]) for path in sorted(microdata.glob("*.parquet"))]
    with TemporaryDirectory(dir=Path(job.output.table).parent) as folder:
        units, store = Path(folder) / "units.csv", Path(folder) / "microdata"
        write_ppmf(enlarged(states, job.settings("ingest", IngestBenchmark).rows), units)
        size = units.stat().st_size
        measured = measure(ingest_ppmf, units, store, read_domain(Path(job.input.domain)).domain)
    if not measured.finished:
        raise GenverifyError(f"the ingestion did not finish: {measured.ended}")
    rows, seconds = measured.values["rows"], measured.seconds
    row = {"rows": rows, "file_mb": round(size / 2**20), "seconds": round(seconds, 2)}
    row |= {"cpu_s": round(measured.values["cpu_s"], 2), "rows_per_second": round(rows / seconds)}
    row["peak_memory_mb"] = round(measured.peak_memory_mb, 1)
    pd.DataFrame([row]).to_csv(job.output.table, index=False)
    log.info("%s", row)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
