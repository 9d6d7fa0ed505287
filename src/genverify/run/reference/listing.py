"""What the reference set is to hold: the results of each paper with their captions, and what is left out with a reason."""

from collections import Counter
from pathlib import Path

from pydantic import Field

from genverify.core.closed import Section, validate
from genverify.core.errors import DataError
from genverify.core.files import read_yaml

FIGURE, TABLE = ".pdf", ".csv"
FILE = "reference.yaml"


class Paper(Section):
    """The title of a paper and its targets, each with the name of its caption, in the order of reading."""

    title: str
    results: dict[str, str]


class Part(Section):
    """What the folder of a study lists: its paper with its place among the others, if it is one, and what is left out."""

    order: int = 0
    title: str = ""
    results: dict[str, str] = Field(default_factory=dict)
    absent: dict[str, str] = Field(default_factory=dict)


class Listing(Section):
    """The papers by their names, and the targets that are left out, each with a reason."""

    papers: dict[str, Paper]
    absent: dict[str, str]

    @property
    def targets(self) -> list[str]:
        """All that is to be shown, paper by paper."""
        return [target for paper in self.papers.values() for target in paper.results]


def read_listing(stages: Path) -> Listing:
    """The listings of a folder and of those of its studies; every target is a figure or a table, and stands in them once."""
    found = {path.parent.name: _part(path) for path in sorted(stages.rglob(FILE))}
    papers = sorted((name for name, part in found.items() if part.results), key=lambda name: (found[name].order, name))
    listing = Listing(
        papers={name: Paper(title=found[name].title, results=found[name].results) for name in papers},
        absent={target: reason for part in found.values() for target, reason in part.absent.items()},
    )
    # what is shown is stored by its name alone; what is absent is stored nowhere, so that a table may have its name
    absent = [target for part in found.values() for target in part.absent]
    names = Counter(Path(target).stem for target in listing.targets) + Counter([*listing.targets, *absent])
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        raise DataError(f"{stages}: {twice[0]} is duplicated in the files {FILE}: name each result once")
    return listing


def _part(path: Path) -> Part:
    part = validate(Part, read_yaml(path), str(path))
    other = [target for target in part.results if Path(target).suffix not in (FIGURE, TABLE)]
    if other:
        raise DataError(f"{path}: {other[0]}: neither a figure ({FIGURE}) nor a table ({TABLE})")
    if part.results and not part.title:
        raise DataError(f"{path}: setting title is missing: the name of the paper whose results are shown")
    return part
