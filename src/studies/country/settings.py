"""Settings of the private data: the country or files, the blocks that are drawn of them, the persons."""

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, model_validator

from genverify.model.settings import Name, ReleaseSettings, Section, SparseSection


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


class Hierarchical(Section):
    """Noise from the nation down to blocks: the whole budget, the share of every level, the margins that each measures."""

    rho: float = Field(gt=0, allow_inf_nan=False)
    shares: dict[Literal["nation", "state", "county", "tract", "block"], Annotated[float, Field(gt=0)]]
    margins: list[list[str]]

    @model_validator(mode="after")
    def _whole(self) -> "Hierarchical":
        if len(self.shares) < 5 or sum(Fraction(str(share)) for share in self.shares.values()) != 1:
            raise ValueError("shares: give one for each of nation, state, county, tract and block; they add up to 1")
        return self


class MicrodataProtection(Section):
    hierarchical: Hierarchical


class Microdata(SparseSection):
    source: Literal["synthetic", "ppmf"]
    domain: str
    synthetic: Synthetic
    ppmf: Ppmf
    protection: MicrodataProtection | None = None


States = Literal["all"] | Annotated[list[str], Field(min_length=1)]


class Design(SparseSection):
    size: Literal["state_median", "country_median"] | Annotated[int, Field(ge=1)]
    blocks_per_state: int = Field(ge=1)
    states: States = "all"


class AllBlocks(Section):
    states: States
    up_to: int = Field(ge=1)


class Sample(Section):
    universe: str
    designs: dict[Name, Design | None]
    all_blocks: dict[Name, AllBlocks | None]
    batches: Literal["auto"] | Annotated[int, Field(ge=1, le=100_000)]
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
