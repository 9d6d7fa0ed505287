"""The risk file that a team has beside its releases: when a table is unsafe, what symbols mean, and what is exempt."""

from pathlib import Path
from typing import Any

from pydantic import Field

from genverify.disclosure.interpretation import Exemption
from genverify.disclosure.release_form import Text
from genverify.model.files import read_yaml
from genverify.model.settings import Section, validate
from genverify.reading.numerals import told_symbol


class RiskForm(Section):
    """What a risk file says; options of the command line go before it."""

    fail_on: str = "exact"
    minimum_frequency: int = Field(default=0, ge=0)  # printed counts below it, but 0, are unsafe
    width: int = Field(default=1, ge=1)  # of the least feasibility interval that a suppressed cell needs
    symbols: dict[Text, Text] = Field(default_factory=dict)  # and their meaning; not all need to be met
    rule: list[str] = Field(default_factory=list)
    inside: dict[Text, Text] = Field(default_factory=dict)
    same_people: bool = False
    tolerance: int = Field(default=0, ge=0)
    previous: list[str] = Field(default_factory=list)  # beside the risk file
    exempt: list[Exemption] = Field(default_factory=list)

    def options(self, folder: Path) -> dict[str, Any]:
        """The options of the command that say the same."""
        known = f"range<{self.width}" if self.width > 1 and self.fail_on == "exact" else self.fail_on
        least = f",count<{self.minimum_frequency}" if self.minimum_frequency else ""
        same = {name: getattr(self, name) or None for name in ("rule", "inside", "same_people", "tolerance")}
        return {**same, "previous": [folder / name for name in self.previous] or None, "fail_on": f"{known}{least}"}


def read_risk(path: Path) -> RiskForm:
    """A risk file; unknown keys and symbols without a meaning are errors."""
    risk = validate(RiskForm, read_yaml(path), str(path))
    for text, word in risk.symbols.items():
        told_symbol(text, word)
    return risk
