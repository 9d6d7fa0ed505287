"""Settings of the attack on protected counts: see config/protected.yaml."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from genverify.core.closed import Name, Section, lay_over, over_default
from genverify.papers.gtv.settings import ChosenBlocks

Publish = Literal["microdata", "intervals"]
Confidence = Annotated[float, Field(gt=0, lt=1)] | None
NoisyTables = Literal["all"] | Annotated[list[str], Field(min_length=1)]


class AnyNoise(Section):
    """What has a default for all noise; the budget has none."""

    publish: Publish
    confidence: Confidence
    tables: NoisyTables


class ProtectedNoise(Section):
    rho: float = Field(gt=0, allow_inf_nan=False)
    publish: Publish
    confidence: Confidence
    tables: NoisyTables


class Protection(Section):
    """How the counts of the main study are protected: households swapped, then noise on their counts."""

    swap: float = Field(ge=0, le=1)
    noise: ProtectedNoise | None


class SwapColumns(Section):
    key: list[str] = Field(min_length=1)
    size: str


class Protected(Section):
    blocks: ChosenBlocks
    batches: int = Field(ge=1, le=1000)
    max_types: int = Field(ge=1)
    swapping: SwapColumns
    protection: Protection
    noise: AnyNoise
    protections: dict[Name, Protection] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, text: Any) -> Any:
        """A protection is a name and what it changes in `protection`; its noise, if any, what it changes in `noise`."""
        text = over_default(text, "protection", "protections", Protection)
        if not isinstance(text, Mapping) or not isinstance(text.get("protections"), Mapping):
            return text
        named = {name: _with_noise(protection, text.get("noise")) for name, protection in text["protections"].items()}
        return {**text, "protections": named}


def _with_noise(protection: Any, default: Any) -> Any:
    if not isinstance(protection, Mapping) or "noise" not in protection:
        return protection
    return {**protection, "noise": lay_over(default, protection["noise"], AnyNoise)}
