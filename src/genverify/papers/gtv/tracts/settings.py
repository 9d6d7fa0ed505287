"""Settings of the study of whole tracts: see config/tracts.yaml."""

from pydantic import Field

from genverify.core.closed import Name, Section

BLOCKS, TRACT, BOTH = "block tables", "tract tables", "both"  # what a claim follows from
KIND_OF = {"synthetic_persons": "persons", "synthetic_households": "households", "records": "persons"}


class TractTables(Section):
    """What is published about some records: their domain and universe, the tables of a block and of the tract, readings."""

    domain: str
    universe: str
    tables_files: list[str] = Field(min_length=1)
    block_tables: list[str] = Field(min_length=1)
    tract_tables: list[str] = Field(min_length=1)
    readings: dict[Name, str | None] = Field(min_length=1)
    min_k: int = Field(ge=1)
    largest_block: int = Field(ge=1)
    datasets: int = Field(ge=1)


class SyntheticTracts(Section):
    tracts: int = Field(ge=1)
    records: int = Field(ge=1)


class Tracts(Section):
    persons: TractTables
    households: TractTables
    synthetic_persons: SyntheticTracts
    synthetic_households: SyntheticTracts
    records: str | None
    batches: int = Field(ge=1, le=1000)
