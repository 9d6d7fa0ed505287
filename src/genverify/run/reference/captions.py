"""The captions of the report as lines of a Markdown page."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, StrictUndefined, TemplateError

from genverify.core.errors import DataError
from genverify.core.files import read_yaml

FOLDER, REPORT = "captions", "report.yaml"


def find_captions(stages: Path) -> dict[str, Path]:
    """The captions of figures by their names: one file each, in the folders `captions` of the stages and of every study."""
    found: dict[str, Path] = {}
    for path in sorted(stages.rglob(f"{FOLDER}/*.rst")):
        if path.stem in found:
            raise DataError(f"{path}: {found[path.stem]} is a caption of the same name: give one another name")
        found[path.stem] = path
    return found


def read_pages(stages: Path) -> dict[str, dict[str, dict[str, str]]]:
    """The tables of the report, by the rule that asks for their pages, from the files report.yaml of every study."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for path in sorted(stages.rglob(REPORT)):
        for rule, pages in read_yaml(path).items():
            twice = [name for name in pages for group in found.values() if name in group]
            if twice:
                raise DataError(f"{path}: the page {twice[0]} stands in another {REPORT} as well: give one another name")
            found.setdefault(rule, {}).update(pages)
    return found


@dataclass(frozen=True)
class Captions:
    """Where captions are kept: those of figures in folders, one file each, those of tables in the files of the report."""

    stages: Path

    def read(self, name: str, target: str = "") -> str:
        """The caption of a name; where a figure and a table share it, that of the table if the target is the table's."""
        figures = find_captions(self.stages)
        tables = {table: page for group in read_pages(self.stages).values() for table, page in group.items()}
        if name in figures and tables.get(name, {}).get("file") != target:
            return figures[name].read_text()
        if name not in tables:
            raise DataError(f"no caption {name}: neither {FOLDER}/{name}.rst nor a table of {REPORT} in {self.stages}")
        return str(tables[name]["caption"])


def caption(captions: Captions, name: str, wildcards: Mapping[str, str], study: Mapping[str, Any], target: str = "") -> str:
    """The first paragraph of a caption on one line, filled in as the report does: with wildcards and settings."""
    first = captions.read(name, target).split("\n\n")[0]
    told = SimpleNamespace(wildcards=SimpleNamespace(**wildcards), config=study)
    try:
        text = Environment(undefined=StrictUndefined, autoescape=False).from_string(first).render(snakemake=told)
    except TemplateError as error:
        raise DataError(f"caption {name} in {captions.stages}: cannot be filled in ({error})") from None
    return " ".join(text.replace("``", "`").split())
