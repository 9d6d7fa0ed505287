"""What the reference set is to hold: the results of each paper with their captions, and what is left out with a reason."""

from collections import Counter
from pathlib import Path

from genverify.core.closed import Section, validate
from genverify.core.errors import DataError
from genverify.core.files import read_yaml

FIGURE, TABLE = ".pdf", ".csv"


class Paper(Section):
    """The title of a paper and its targets, each with the name of its caption, in the order of reading."""

    title: str
    results: dict[str, str]


class Listing(Section):
    """The papers by their names, and the targets that are left out, each with a reason."""

    papers: dict[str, Paper]
    absent: dict[str, str]

    @property
    def targets(self) -> list[str]:
        """All that is to be shown, paper by paper."""
        return [target for paper in self.papers.values() for target in paper.results]


def read_listing(path: Path) -> Listing:
    """The listing in a file; every target is a figure or a table, and stands in it once."""
    listing = validate(Listing, read_yaml(path), str(path))
    other = [target for target in listing.targets if Path(target).suffix not in (FIGURE, TABLE)]
    if other:
        raise DataError(f"{path}: {other[0]}: neither a figure ({FIGURE}) nor a table ({TABLE})")
    # what is shown is stored by its name alone; what is absent is stored nowhere, so that a table may have its name
    names = Counter(Path(target).stem for target in listing.targets) + Counter([*listing.targets, *listing.absent])
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        raise DataError(f"{path}: {twice[0]} is duplicated: name each result once")
    return listing
