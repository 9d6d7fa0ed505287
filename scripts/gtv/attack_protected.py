"""Generate and verify on the protected counts of a batch of blocks, and store the checked proofs."""

from functools import cache
from pathlib import Path

import pandas as pd

from genverify.attack.verify import claims_frame
from genverify.checker.certificate import write_proofs
from genverify.model.release import empty_ranges, read_releases, read_schema
from genverify.model.settings import Generate, Verify
from genverify.model.tablefiles import stack
from genverify.model.work import derive_seed, progress
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.protected_attack import Attack, Kinds, block_row, build_kinds, contradictory_rows


def main(job: Job) -> None:
    settings, counts = job.settings("program", ProgramSettings), Path(job.input.counts)
    schema, empty = read_schema(Path(job.input.schema)), empty_ranges(counts)

    @cache
    def kinds() -> Kinds:
        return build_kinds(read_schema(Path(job.input.possible)), settings.max_types)

    part = settings.but(max_types=min(settings.max_types, job.params.max_types))
    attack = Attack(part, job.settings("generate", Generate).datasets, job.settings("verify", Verify).min_k, kinds)
    claims, proofs, rows = [], [], contradictory_rows(counts, empty)
    for release in progress(list(read_releases(counts, schema, empty)), "blocks attacked"):
        result = attack.block(release, derive_seed(job.params.seed, "generate", release.block))
        claims += [claims_frame(result.verified)] if result.verified and result.verified.claims else []
        proofs.append(result.certificate)
        rows.append(block_row(release.block, release.n, result.status, result.undecided))
    stack(claims).to_parquet(job.output.claims, index=False)
    stack([pd.DataFrame([row]) for row in rows]).to_parquet(job.output.blocks, index=False)
    write_proofs(proofs, Path(job.output.proofs))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
