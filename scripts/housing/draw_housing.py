"""Draw the private households of the housing study: exact sizes, children, subsidized status and bedrooms."""

import json
from pathlib import Path

from genverify.model.domain import read_domain
from genverify.model.files import data_label, read_yaml
from genverify.run.jobs import Job, log, run
from studies.country.settings import Microdata
from studies.housing.households import simulate_states, write_households
from studies.housing.sources import open_units, read_assumptions


def main(job: Job) -> None:
    microdata, wanted = job.settings("microdata", Microdata), job.params.blocks
    occupancy = read_yaml(Path(job.input.housing_domain))["occupancy"]
    pums = Path(job.input.pums) if job.input.pums else None
    simulation, smallest = Path(job.input.simulation), job.params.smallest_property
    given, model = read_assumptions(simulation, occupancy, job.params.alpha, smallest, pums)
    domain_file, store = read_domain(Path(job.input.domain)), Path(job.input.source[0])
    label, tables = open_units(microdata, job.params.households, store, job.params.seed, domain_file)
    label = label or data_label(Path(job.input.source[1]))
    states = simulate_states(tables, given, job.params.seed)
    blocks = write_households(states, Path(job.output.households), model, wanted, job.params.seed)
    manifest = {"label": label, "source": microdata.source, "blocks": blocks}
    Path(job.output.manifest).write_text(json.dumps(manifest, indent=1) + "\n")
    log.info("%s: properties in %d blocks, %d wanted", label, blocks, wanted)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
