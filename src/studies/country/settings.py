"""Settings of the private data: the country or files, the blocks that are drawn of them, the persons."""

from typing import Annotated, Literal

from pydantic import Field

from genverify.model.settings import Name, ReleaseSettings, Section


class Synthetic(Section):
    """
    Which country to draw: its files, its occupied households, how neighbours come to be alike and how much.

    At homogeneity 0 every block is a random sample of the nation; at 1 blocks are as alike as calibrated.
    """

    country: str
    likeness: Literal["prototype", "dirichlet", "urn"]
    households: int = Field(ge=1000, le=200_000_000)
    homogeneity: float = Field(ge=0, le=3)


class Ppmf(Section):
    units: str | None
    persons: str | None


class Microdata(Section):
    source: Literal["synthetic", "ppmf"]
    domain: str
    synthetic: Synthetic
    ppmf: Ppmf


class Design(Section):
    size: Literal["state_median", "country_median"] | Annotated[int, Field(ge=1)]
    blocks_per_state: int = Field(ge=1)


class AllBlocks(Section):
    states: Literal["all"] | Annotated[list[str], Field(min_length=1)]
    up_to: int = Field(ge=1)


class Sample(Section):
    universe: str
    designs: dict[Name, Design | None]
    all_blocks: dict[Name, AllBlocks | None]
    batches: int = Field(ge=1, le=100_000)
    blocks_per_batch: int = Field(ge=1)


class PersonClaims(Section):
    max_persons: int = Field(ge=1)
    datasets: int = Field(ge=1)
    min_k: int = Field(ge=1, le=4)
    raprank_blocks: int = Field(ge=1)
    raprank_runs: int = Field(ge=1)


class Persons(Section):
    domain: str
    synthetic: str
    group_quarters: bool
    release: ReleaseSettings
    tract_tables: Literal["all"] | list[str]
    records: str | None
    readings: dict[Name, str | None] = Field(min_length=1)
    claims: PersonClaims
