"""The captions of the report as lines of a Markdown page."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, StrictUndefined, TemplateError

from genverify.core.errors import DataError

BY_STATE = "_states"


def caption(path: Path, target: str, study: Mapping[str, Any]) -> str:
    """
    The first paragraph of a caption on one line, filled in as the report does: with the name of the figure and the settings.
    """
    first = path.read_text().split("\n\n")[0]
    figure = Path(target).stem.removesuffix(BY_STATE)
    told = SimpleNamespace(wildcards=SimpleNamespace(figure=figure), config=study)
    try:
        text = Environment(undefined=StrictUndefined, autoescape=False).from_string(first).render(snakemake=told)
    except TemplateError as error:
        raise DataError(f"{path}: cannot be filled in ({error})") from None
    return " ".join(text.replace("``", "`").split())
