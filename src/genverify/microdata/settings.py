"""Settings of the private data."""

from typing import Literal

from pydantic import Field

from genverify.core.closed import Section


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
