"""Settings of generate-then-verify: sample, persons, and what its studies share. Each study has its own beside it."""

from typing import Annotated, Literal

from pydantic import Field

from genverify.core.closed import Name, Section
from genverify.core.settings import ReleaseSettings


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


class ChosenBlocks(Section):
    design: str
    number: int = Field(ge=1)
