"""The sources of households and of persons behind one interface: a label and a stream of tables."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from genverify.model.domain import Domain, DomainFile
from genverify.model.work import derive_seed
from studies.country.people import PersonModel, draw_persons, read_country, read_person_model
from studies.country.places import synthesize
from studies.country.ppmf import PERSONS, read_ppmf
from studies.country.settings import Microdata
from studies.country.store import read_microdata

SYNTHETIC = "synthetic microdata"
PROTECTED = "synthetic microdata, protected by hierarchical noise"


def open_source(
    settings: Microdata, seed: int, domain_file: DomainFile, rejected: Counter[str]
) -> tuple[str, Iterator[pa.Table]]:
    """What the data are called on every figure and table, and the records (block and columns) as a stream of tables."""
    if settings.source == "ppmf":
        path = Path(str(settings.ppmf.units))
        return f"PPMF file {path.name}", read_ppmf(path, domain_file.domain, rejected)
    country = read_country(Path(settings.synthetic.country))

    def draw() -> Iterator[pa.Table]:
        return synthesize(settings.synthetic, derive_seed(seed, "microdata"), domain_file, country)

    if settings.protection is None:
        return SYNTHETIC, draw()
    from studies.country.hierarchical import protect_households  # with scipy, which most countries do without

    return PROTECTED, protect_households(draw, settings.protection.hierarchical, domain_file, seed)


def open_persons(
    source: Path, model: Path, group_quarters: bool, seed: int, domain: Domain, rejected: Counter[str]
) -> tuple[str, Iterator[pa.Table]]:
    """
    What the persons are called, and their records as a stream of tables. `source` is the person file in the PPMF layout, or
    the folder of synthetic households that persons as in the file `model` are made for. What is left out or cannot fit is
    added to `rejected`.
    """
    if not source.is_dir():
        kind = replace(PERSONS, keeps_group_quarters=group_quarters)
        return f"PPMF file {source.name}", read_ppmf(source, domain, rejected, kind=kind)
    return SYNTHETIC, _persons_of(source, read_person_model(model, domain), seed, rejected)


def _persons_of(folder: Path, model: PersonModel, seed: int, rejected: Counter[str]) -> Iterator[pa.Table]:
    """The persons of the synthetic households, state by state, each state from its own seed."""
    for state in sorted(path.stem for path in folder.glob("*.parquet")):
        rng = np.random.default_rng(derive_seed(seed, "persons", state))
        yield draw_persons(read_microdata(folder, states=[state]), model, rng, rejected)
