"""The captions of the report as lines of a Markdown page."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, StrictUndefined, TemplateError

from genverify.core.errors import DataError
from genverify.core.files import read_yaml


@dataclass(frozen=True)
class Captions:
    """Where captions are kept: those of figures in a folder, one file each, those of tables in the file of the report."""

    folder: Path
    report: Path

    def read(self, name: str, target: str = "") -> str:
        """The caption of a name; where a figure and a table share it, that of the table if the target is the table's."""
        path = self.folder / f"{name}.rst"
        groups = read_yaml(self.report) if self.report.exists() else {}
        tables = {table: page for group in groups.values() for table, page in group.items()}
        if path.exists() and tables.get(name, {}).get("file") != target:
            return path.read_text()
        if name not in tables:
            raise DataError(f"no caption {name}: neither a file in {self.folder} nor a table in {self.report}")
        return str(tables[name]["caption"])


def caption(captions: Captions, name: str, wildcards: Mapping[str, str], study: Mapping[str, Any], target: str = "") -> str:
    """The first paragraph of a caption on one line, filled in as the report does: with wildcards and settings."""
    first = captions.read(name, target).split("\n\n")[0]
    told = SimpleNamespace(wildcards=SimpleNamespace(**wildcards), config=study)
    try:
        text = Environment(undefined=StrictUndefined, autoescape=False).from_string(first).render(snakemake=told)
    except TemplateError as error:
        raise DataError(f"caption {name} in {captions.folder}: cannot be filled in ({error})") from None
    return " ".join(text.replace("``", "`").split())
