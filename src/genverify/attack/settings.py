"""Settings of the attack."""

from typing import Literal

from pydantic import Field

from genverify.core.closed import Section

Method = Literal["walk", "exact"]


class Generate(Section):
    datasets: int = Field(ge=1)
    method: Method


class Verify(Section):
    min_k: int = Field(ge=1)


DATASETS = 100
"""Datasets that are generated per release, as config.yaml has it, for work that is started without it."""
