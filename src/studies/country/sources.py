"""The two sources of persons behind one interface: a label and a stream of tables."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from genverify.core.domain import Domain
from genverify.core.seeds import derive_seed
from genverify.microdata.ppmf import PERSONS, read_ppmf
from genverify.microdata.sources import SYNTHETIC
from genverify.microdata.store import read_microdata
from genverify.microdata.synthetic.persons import PersonModel, draw_persons, read_person_model


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
