"""Draw a country, protect it by hierarchical noise, and publish the counts of some protected blocks."""

from collections import Counter
from pathlib import Path

from genverify.model.domain import read_domain
from genverify.model.release import read_study, write_schema
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import tabulate_blocks
from genverify.run.jobs import Job, log, run
from studies.country.settings import Microdata
from studies.country.sources import open_source
from studies.country.store import read_microdata, write_microdata
from studies.gtv.hierarchical_attack import choose, microdata_of
from studies.gtv.settings import HierarchicalNoise


def main(job: Job) -> None:
    domain, release = read_domain(Path(job.input.domain)), job.settings("release", ReleaseSettings)
    study, seed = job.settings("hierarchical", HierarchicalNoise), job.params.seed
    settings = microdata_of(job.settings("microdata", Microdata), study, study.countries[job.wildcards.budget])
    for one, folder in zip(settings, (job.output.private, job.output.microdata), strict=True):
        label, tables = open_source(one, seed, domain, Counter())
        write_microdata(tables, Path(folder), domain.domain)
    store = Path(job.output.microdata)
    blocks = choose(store, domain, release.universe, study, seed)
    blocks.to_parquet(job.output.blocks, index=False)
    schema, records = read_study(Path(job.input.domain), release), read_microdata(store, blocks=set(blocks["block"]))
    write_schema(schema, Path(job.output.schema))
    counts = tabulate_blocks(records, domain.universe(release.universe).keeps, schema, ())
    counts.to_parquet(job.output.counts, index=False)
    log.info("%s: %d blocks of %d households", label, len(blocks), study.size)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
