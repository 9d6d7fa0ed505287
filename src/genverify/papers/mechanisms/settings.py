"""Settings of privacy against accuracy."""

from typing import Annotated

from pydantic import Field

from genverify.core.closed import Count, PrivacyLoss, Section


class RandomizedResponse(Section):
    proportions: list[Annotated[float, Field(ge=0, le=1)]] = Field(min_length=1, max_length=3)
    populations: list[Count] = Field(min_length=1, max_length=6)
    epsilons: list[PrivacyLoss] = Field(min_length=1)
    mu: float = Field(gt=0, lt=1)
    simulations: int = Field(ge=2)


class MatrixMechanism(Section):
    epsilons: list[PrivacyLoss] = Field(min_length=1)
    by_table: PrivacyLoss


class Zeros(Section):
    households: list[Count] = Field(min_length=1)
    blocks: Count


class Privacy(Section):
    randomized_response: RandomizedResponse
    matrix_mechanism: MatrixMechanism
    zeros: Zeros
