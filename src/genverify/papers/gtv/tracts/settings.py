"""Settings of the study of whole tracts: see config/tracts.yaml."""

from pydantic import Field

from genverify.core.closed import Name, Section


class SyntheticTracts(Section):
    tracts: int = Field(ge=1)
    persons: int = Field(ge=1)


class TractClaims(Section):
    datasets: int = Field(ge=1)
    min_k: int = Field(ge=1)
    batches: int = Field(ge=1, le=1000)


class Tracts(Section):
    domain: str
    tables_files: list[str] = Field(min_length=1)
    block_tables: list[str] = Field(min_length=1)
    tract_tables: list[str] = Field(min_length=1)
    synthetic: SyntheticTracts
    records: str | None
    readings: dict[Name, str | None] = Field(min_length=1)
    claims: TractClaims
