"""The risk file that a team has beside its releases: when a table is unsafe, what symbols mean, and what is exempt."""

from os.path import abspath
from pathlib import Path
from typing import Any

from pydantic import Field

from genverify.disclosure.interpretation import TeamForm
from genverify.model.files import read_yaml
from genverify.model.settings import validate


class RiskForm(TeamForm):
    """What a risk file says; options of the command line go before it."""

    fail_on: str = "exact"
    minimum_frequency: int = Field(default=0, ge=0)  # printed counts below it, but 0, are unsafe
    width: int = Field(default=1, ge=1)  # of the least feasibility interval that a suppressed cell needs

    @property
    def threshold(self) -> str:
        """What --fail-on would say."""
        known = f"range<{self.width}" if self.width > 1 and self.fail_on == "exact" else self.fail_on
        return f"{known},count<{self.minimum_frequency}" if self.minimum_frequency else known

    @property
    def form(self) -> dict[str, Any]:
        """What it says of the tables, as the form of printed tables has it."""
        return self.model_dump(include=set(TeamForm.model_fields), exclude_defaults=True)


def read_risk(path: Path | None) -> RiskForm:
    """A risk file, with its paths made whole; unknown keys are errors."""
    risk = validate(RiskForm, read_yaml(path), str(path)) if path else RiskForm()
    return risk.but(previous=[abspath(path.parent / name) for name in risk.previous]) if path else risk
