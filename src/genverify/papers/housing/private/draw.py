"""Draw the private households of the housing study: the source of the units, and what is assumed about the rest."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from genverify.core.domain import DomainFile
from genverify.core.files import read_yaml
from genverify.core.seeds import derive_seed
from genverify.microdata.settings import Microdata
from genverify.microdata.sources import open_source
from genverify.papers.housing.private.conditionals import Conditionals, read_conditionals
from genverify.papers.housing.private.properties import PropertyModel, read_properties
from genverify.papers.housing.private.pums import read_pums
from genverify.papers.housing.private.simulate import NEEDED, simulate_states
from genverify.papers.housing.private.store import units_of_states, write_households


@dataclass(frozen=True)
class Assumptions:
    """What the simulation assumes about households and about properties."""

    households: Conditionals
    properties: PropertyModel


def read_assumptions(
    simulation: Path, occupancy: Mapping[int, int], alpha: float, smallest: int, pums: Path | None
) -> Assumptions:
    """The file of assumptions; a user's PUMS file takes the place of its conditional distributions."""
    text, where = read_yaml(simulation), str(simulation)
    households = read_conditionals(text.get("households", {}), f"{where}: households")
    if pums:
        households = read_pums(pums, households.another_child)
    properties = read_properties(text.get("properties", {}), occupancy, alpha, smallest, f"{where}: properties")
    return Assumptions(households, properties)


def open_units(
    microdata: Microdata, households: int, store: Path, seed: int, domain_file: DomainFile
) -> tuple[str | None, Iterator[pa.Table]]:
    """
    The units of the country, a table per state: of the store of microdata, or of a synthetic country of a given size.

    A country of its own has a label of its own.
    """
    if microdata.source != "synthetic":
        return None, units_of_states(store, NEEDED)
    larger = microdata.but(synthetic=microdata.synthetic.but(households=households))
    return open_source(larger, derive_seed(seed, "housing"), domain_file, Counter())


def draw_housing(tables: Iterator[pa.Table], given: Assumptions, blocks: int, seed: int, path: Path) -> int:
    """Simulate the households of all states and the properties, and write them; how many blocks hold a property."""
    return write_households(simulate_states(tables, given.households, seed), path, given.properties, blocks, seed)
