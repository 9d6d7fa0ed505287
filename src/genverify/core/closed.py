"""What every section of the settings is made of."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = str
Count = Annotated[int, Field(ge=1)]
Decimals = Annotated[int, Field(ge=0, le=9)]
PrivacyLoss = Annotated[float, Field(gt=0, le=700)]


class Section(BaseModel):
    """Settings that belong together; unknown keys are errors, defaults stand in config.yaml."""

    model_config = ConfigDict(extra="forbid", strict=True)
