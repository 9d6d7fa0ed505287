"""Settings of the housing study."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from genverify.model.settings import Count, Name, Section, over_default


class Condition(Section):
    """How the statistics of the housing study are protected before the attacker sees them, and how he reads them."""

    swap: float = Field(ge=0, le=1)
    swap_among: Literal["properties", "state"]
    swap_hud: bool
    noise: Literal["none", "das", "uniform"]
    rho: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None
    noise_hud: bool
    reading: Literal["appendix_e", "exact"]
    top: Annotated[int, Field(ge=0)]
    blocks: Annotated[int, Field(ge=1)]


class Housing(Section):
    households: int = Field(ge=1000, le=200_000_000)
    domain: str
    published: str
    simulation: str
    budget: str
    pums: str | None
    picture: str | None
    sf1: str | None
    blocks: int = Field(ge=1)
    simulation_draws: int = Field(ge=0, le=1000)
    smallest_property: int = Field(ge=1)
    alpha: float = Field(ge=0, le=1)
    batches: int = Field(ge=1, le=100_000)
    search: int = Field(ge=0)
    prior_sample: float = Field(gt=0, le=1)
    baseline_sample: float = Field(gt=0, le=1)
    variability_blocks: Count
    simple: list[str] = Field(min_length=1)
    match_keys: dict[Name, list[str]] = Field(min_length=1)
    condition: Condition
    conditions: dict[Name, Condition] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, text: Any) -> Any:
        """A condition is a name and what it changes in `condition`."""
        return over_default(text, "condition", "conditions", Condition)

    @model_validator(mode="after")
    def _reconstructs(self) -> "Housing":
        for name in ("none", "swapping"):
            if name in self.conditions and not self.conditions[name].top:
                raise ValueError(f"conditions.{name}.top is 0, but the figures show its reconstructions: give 1 or more")
        return self
