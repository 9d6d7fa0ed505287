"""Settings of privacy against accuracy."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from genverify.model.settings import Count, Name, PrivacyLoss, Section


class RandomizedResponse(Section):
    proportions: list[Annotated[float, Field(ge=0, le=1)]] = Field(min_length=1, max_length=3)
    populations: list[Count] = Field(min_length=1, max_length=6)
    epsilons: list[PrivacyLoss] = Field(min_length=1)
    mu: float = Field(gt=0, lt=1)
    simulations: int = Field(ge=2)


class Dial(Section):
    """Footnote 57: probabilities of the sensitive question, and the survey whose standard error is shown."""

    rhos: list[Annotated[float, Field(gt=0, lt=1)]] = Field(min_length=1, max_length=3)
    pi: float = Field(ge=0, le=1)
    population: Count


class DataUtility(Section):
    """Appendix E: who has a stake in which tables, what a mean count is worth, and how strongly utilities bend."""

    persons: dict[Name, list[str]] = Field(min_length=1, max_length=6)
    value: float = Field(gt=0)
    curvatures: dict[Literal["quadratic", "cara"], float] = Field(min_length=1)
    epsilons: list[PrivacyLoss] = Field(min_length=1)
    simulations: int = Field(ge=2)

    @field_validator("curvatures")
    @classmethod
    def _concave(cls, curvatures: dict[str, float]) -> dict[str, float]:
        for name, curvature in curvatures.items():
            if not curvature > 0:
                raise ValueError(f"{name}: {curvature} is not a strictly concave utility; give a curvature above 0")
        return curvatures


class Semantics(Section):
    """Appendix D: a toy population; probabilities as fractions in texts, alpha = exp(-epsilon)."""

    included: list[str] = Field(min_length=1, max_length=5)
    records: list[list[str]] = Field(min_length=1, max_length=5)
    alpha: str


class MatrixMechanism(Section):
    epsilons: list[PrivacyLoss] = Field(min_length=1)
    by_table: PrivacyLoss


class Zeros(Section):
    households: list[Count] = Field(min_length=1)
    blocks: Count
    persons: list[Count] = Field(min_length=1)


class Privacy(Section):
    randomized_response: RandomizedResponse
    dial: Dial
    matrix_mechanism: MatrixMechanism
    utility: DataUtility
    semantics: Semantics
    zeros: Zeros
