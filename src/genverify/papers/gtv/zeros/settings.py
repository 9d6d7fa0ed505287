"""Settings of the study of the paper's Table 5: see config/zeros.yaml."""

from typing import Any

from pydantic import Field, model_validator

from genverify.core.closed import Name, Section, over_default
from genverify.core.errors import nearest
from genverify.papers.gtv.settings import ChosenBlocks

SAMPLED = "sampled"


class Explanation(Section):
    """A reading of the paper's Table 5: which records the blocks hold, and which lines nobody publishes."""

    records: Name
    missing: list[str]


class SearchRound(Section):
    blocks: int = Field(ge=1)
    keep: int = Field(ge=1)


class GapSearch(Section):
    rounds: list[SearchRound]
    blocks: int = Field(ge=1)
    size: int = Field(ge=1, le=5)
    shown: int = Field(ge=1)


class LimitedOneHot(Section):
    claims_per_k: int = Field(ge=1)
    nodes: int = Field(ge=1)
    seconds: float = Field(gt=0, allow_inf_nan=False)


class Zeros(Section):
    blocks: ChosenBlocks
    records: dict[Name, dict[str, int]]
    explanation: Explanation
    explanations: dict[Name, Explanation] = Field(min_length=1)
    search: GapSearch
    onehot: LimitedOneHot

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, text: Any) -> Any:
        return over_default(text, "explanation", "explanations", Explanation)

    @model_validator(mode="after")
    def _known(self) -> "Zeros":
        if self.records.get(SAMPLED) != {}:
            raise ValueError(f"records must hold `{SAMPLED}: {{}}`, the households as they are")
        for name, explanation in self.explanations.items():
            if explanation.records not in self.records:
                known = nearest(explanation.records, list(self.records))
                raise ValueError(
                    f"explanation {name} is about the records {explanation.records!r}, which do not exist: {known}"
                )
        return self
