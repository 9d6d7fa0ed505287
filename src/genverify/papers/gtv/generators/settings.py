"""Settings of the comparison of generators of the built-in country: see config/generators.yaml."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from genverify.core.closed import Section


class Generators(Section):
    """Generators and seeds of the built-in country, and how many of their blocks are attacked, and in how many jobs."""

    likeness: list[Literal["prototype", "dirichlet", "urn"]] = Field(min_length=1)
    seeds: list[Annotated[int, Field(ge=0, lt=2**64)]] = Field(min_length=1)
    blocks_per_state: int = Field(ge=1)
    parts: int = Field(ge=1, le=99)
    surveys: list[str]

    @model_validator(mode="after")
    def _distinct(self) -> "Generators":
        for name in ("likeness", "seeds"):
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                raise ValueError(f"{name} names one twice; name each once")
        return self
