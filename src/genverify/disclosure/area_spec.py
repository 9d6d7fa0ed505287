"""What the tables of areas say: which group adds up which others, which totals are one number, how counts are rounded."""

from pathlib import Path

from pydantic import Field

from genverify.model.files import read_yaml
from genverify.model.settings import Section, validate


class AreaTables(Section):
    """A file of tables of areas; data/nz/tables.yaml is one."""

    title: str
    source: str
    base: int = Field(ge=2)
    sums: dict[str, dict[str, list[str]]]
    at_most: dict[str, dict[str, list[list[str]]]] = Field(default_factory=dict)
    same: list[list[str]] = Field(default_factory=list)

    @property
    def name_of(self) -> dict[str, str]:
        """The name under which a cell stands: of totals that are one number, the first."""
        return {name: names[0] for names in self.same for name in names}


class AreaSettings(Section):
    """The study of rounded counts of areas: see config/nz.yaml."""

    tables: str
    counts: str | None
    larger: str | None
    areas: str | None
    area: str
    inside: str
    batches: int = Field(ge=1, le=1000)
    seconds: float = Field(gt=0, allow_inf_nan=False)


def read_area_tables(path: Path) -> AreaTables:
    return validate(AreaTables, read_yaml(path), str(path))
