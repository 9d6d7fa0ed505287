"""Settings of the private data."""

from typing import Literal

from pydantic import Field

from genverify.core.closed import Section


class Synthetic(Section):
    country: str
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
