"""Check the stored proofs about tracts again, from the files alone."""

from pathlib import Path

import pandas as pd

from genverify.checker.certificate import read_proofs
from genverify.model.release import read_releases, read_schema
from genverify.model.work import progress
from genverify.run.jobs import Job, log, run
from studies.gtv.tracts import batch_of_tracts, check_tract


def main(job: Job) -> None:
    schemas = [read_schema(Path(path)) for path in (job.input.blocks, job.input.tracts)]
    counts = zip((job.input.block_counts, job.input.tract_counts), schemas, strict=True)
    blocks, tracts = (list(read_releases(Path(path), schema)) for path, schema in counts)
    of_tract = {one.areas[0].release.block: one for one in batch_of_tracts(blocks, tracts, 0, 1)}
    rows = []
    files = list(zip(job.input.proofs, job.input.claims, strict=True))
    for path, claims in progress(files, "files of proofs checked"):
        frame = pd.read_parquet(claims)
        for certificate in read_proofs(Path(path)):
            tract = certificate["about"]["name"]
            rows.append(check_tract(of_tract[tract], certificate, frame[frame["tract"] == tract]))
    columns = ["tract", "blocks", "claims", "determined", "one_solution"]
    checked = pd.DataFrame(rows, columns=columns).sort_values("tract", ignore_index=True)
    checked.to_csv(job.output.checked, index=False)
    log.info("%d tracts, %d claims: every proof is right", len(checked), checked["claims"].sum())


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
