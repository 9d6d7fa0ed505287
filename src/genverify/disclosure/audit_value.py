"""The value that `disclose` returns, whatever was published: cells, the answer, what to suppress as well, files."""

import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import pandas as pd

from genverify.model.errors import ConfigError
from genverify.model.files import written_folder

DIALECTS = {
    "plain": {"open": "open", "exact": "known exactly", "narrow": "too narrow", "printed": "printed",
              "suppress": "suppress"},
    "sdctable": {"open": "x", "exact": "u", "narrow": "u", "printed": "s", "suppress": "x"},
    "sbs": {"open": "D", "exact": "A", "narrow": "A", "printed": "F", "suppress": "D"},
    "argus": {"open": "M", "exact": "U", "narrow": "U", "printed": "S", "suppress": "U"},
}  # fmt: skip
COLUMNS = (
    "area", "table", "cell", "label", "published", "lower", "upper", "status", "known_exactly", "ends_attained", "claims",
    "proof", "place",
)  # fmt: skip
PRINTED, UNPUBLISHED, RECORD = "printed", "unpublished", "record"  # what a row of cells is: the last, a kind of record
MOST_SHOWN = 10  # lines of each kind on the terminal: a page; the files list all


@dataclass(frozen=True)
class FailOn:
    """What is unsafe: an unprinted count known exactly, in a range below `width`, or 1; a printed one below `frequency`."""

    width: int = 1
    singled_out: bool = False
    frequency: int = 0

    def __str__(self) -> str:
        known = "singled-out" if self.singled_out else "exact" if self.width == 1 else f"range<{self.width}"
        return f"{known},count<{self.frequency}" if self.frequency else known


def read_fail_on(text: str | None) -> FailOn:
    """
    >>> read_fail_on("range<3,count<5")
    FailOn(width=3, singled_out=False, frequency=5)
    """
    number = r"\s*<\s*([1-9]\d{0,11})"
    parts = re.fullmatch(rf"\s*(exact|singled-out|range{number})?\s*(?:(?:,|^)\s*count{number})?\s*", text or "exact")
    if not parts:
        words = "exact, range<3 (another number will do), or singled-out"
        raise ConfigError(f"--fail-on {text}: give {words}; for printed counts, count<5 after a comma")
    return FailOn(int(parts[2] or 1), parts[1] == "singled-out", int(parts[3] or 0))


@dataclass(frozen=True)
class Source:
    """What an audit was made from, so that it can be made again: files, and how they were read; what was left out."""

    title: str = ""
    understood: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    inputs: tuple[Path, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)  # tables that lie in no file: they are stored with the results
    home: Path = Path()
    form: Any = None  # of printed tables: its paths are relative to `home`
    answers: Mapping[str, str] = field(default_factory=dict)
    contributions: Path | None = None
    sensitive: tuple[str, ...] = ()
    release: Path | None = None  # the release file of records or counts, and what the command line changed in it
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SuppressionStep:
    """A cell to suppress as well, and how many claims can be verified without it and those before it, where seen."""

    area: str
    cell: str
    label: str = ""
    left: int | None = None


@dataclass(frozen=True)
class SecondarySuppression:
    """What a search came to: the cells to suppress as well, in order, and what is then still known too well."""

    steps: tuple[SuppressionStep, ...]
    before: int  # how much was known too well: cells, or claims about exactly one record that name `k` or more columns
    left: int  # how much is still
    least: int  # no set of fewer cells does as well, and how that is known
    how: str
    undecided: int = 0
    in_time: bool = True
    k: int = 0
    still: tuple[str, ...] = ()  # by name

    @property
    def cells(self) -> tuple[str, ...]:
        return tuple(step.cell for step in self.steps)


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit(ABC):
    unclear_words: ClassVar[str] = "rounded counts"
    unsafe_words: ClassVar[str] = "cells"
    source: Source = Source()
    fail_on: FailOn = FailOn()
    dialect: str = "plain"
    suppression: SecondarySuppression | None = None
    undecided: tuple[str, ...] = ()
    limit: str = ""
    given_by: Mapping[str, Sequence[str]] = field(default_factory=dict)  # earlier file: cells unsafe only with it
    protected_by: Any = None  # how tables were protected, where they were, and the points that show it
    broken: ClassVar[Sequence[Any]] = ()  # rules about contributions that some sums break

    @property
    @abstractmethod
    def rows(self) -> Sequence[Mapping[str, Any]]: ...  # a row for each cell: all columns but the status, and what it is

    @property
    @abstractmethod
    def statements(self) -> Sequence[Mapping[str, Any]]: ...  # what is proved of cells: `proof` has their numbers

    @abstractmethod
    def verdict(self) -> Iterator[str]: ...  # the sentences that only this kind of audit has

    @abstractmethod
    def suppress(self, seconds: float | None = None) -> Self: ...  # the same with the cells to suppress as well

    @abstractmethod
    def protection(self) -> str: ...  # what holds once the proposed cells are suppressed

    @abstractmethod
    def write_proofs(self, folder: Path) -> None: ...  # what is proved, with its proofs, as files

    @abstractmethod
    def check_proofs(self) -> None: ...  # check every proof again, without a solver; an error names the first that fails

    @abstractmethod
    def proved(self) -> str: ...  # what is proved, in words

    @abstractmethod
    def search_again(self, seconds: float) -> str: ...  # whether more is known than shown; an error where that is so

    @abstractmethod
    def why(self, row: Mapping[str, Any]) -> list[str]: ...  # what the range of a cell rests on

    @property
    @abstractmethod
    def numbers(self) -> dict[str, Any]: ...  # more numbers for the answer

    # what all kinds of audit say

    @property
    def left_out(self) -> tuple[str, ...]:
        return self.source.left_out

    @property
    def tables(self) -> int:
        return len({row["table"] for row in self.rows if row["what"] != RECORD})

    @property
    def attained(self) -> bool:
        """Whether people attain the ends of all ranges."""
        return True

    @property
    def partial(self) -> bool:
        """Whether more may be known than was found: cells left out or not decided, or ends that no people may attain."""
        return bool(self.left_out or self.undecided or (not self.attained and any(row["unclear"] for row in self.rows)))

    @property
    def safe(self) -> bool | None:
        """Whether the release is safe by what was asked for; None where that is not known."""
        return False if self.unsafe or self.broken else None if self.partial else True

    def fails(self, allow_partial: bool = False) -> bool:
        return self.safe is False or (self.safe is None and not allow_partial)

    @property
    def unsafe(self) -> int:
        return len(self.unsafe_cells)

    @cached_property
    def unsafe_cells(self) -> list[Mapping[str, Any]]:
        """The cells that are known too well, with the statements that prove it."""
        return [row for row in self.rows if row["what"] != RECORD and self._narrow(row)]

    def _narrow(self, row: Mapping[str, Any]) -> bool:
        """Whether a cell is known too well: unprinted in a narrow range (or 1), or printed below the frequency."""
        if not row["unclear"] and row["what"] == PRINTED and 0 < row["lower"] < self.fail_on.frequency:
            return True
        if self.fail_on.singled_out:
            return bool(row["lower"] == row["upper"] == 1)
        return bool(row["unclear"] and row["upper"] != "" and row["upper"] - row["lower"] < self.fail_on.width)

    @cached_property
    def several(self) -> bool:
        return len({row["area"] for row in self.rows}) > 1

    def name(self, area: str, cell: str) -> str:
        return f"{area}/{cell}" if self.several else cell

    @cached_property
    def cells(self) -> pd.DataFrame:
        """A row for each cell: what is published, its range, if it is one number, if both ends are attained, the proof."""
        unsafe, status = {(row["area"], row["cell"]) for row in self.unsafe_cells}, list[str]()
        added = {(step.area, step.cell) for step in self.suppression.steps} if self.suppression else set()
        for row in self.rows:
            key, known = (row["area"], row["cell"]), "exact" if row["known_exactly"] else "narrow"
            sure = key in unsafe or (row["what"] == RECORD and row["known_exactly"])
            kind = "suppress" if key in added else known if sure else "open" if row["unclear"] else "printed"
            status.append(DIALECTS[self.dialect][kind])
        return pd.DataFrame(self.rows).assign(status=status).reindex(columns=list(COLUMNS))  # also where there is no cell

    @cached_property
    def counts(self) -> dict[str, int]:
        cells = [row for row in self.rows if row["what"] != RECORD]
        seen = Counter((row["hidden"], row["known_exactly"]) for row in cells if row["unclear"])
        return {
            "tables": self.tables, "printed_cells": sum(row["what"] == PRINTED for row in cells),
            "suppressed": seen[True, True] + seen[True, False], "suppressed_known_exactly": seen[True, True],
            "other_unclear": seen[False, True] + seen[False, False], "other_known_exactly": seen[False, True],
            "unsafe": self.unsafe,
        }  # fmt: skip

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        n = self.counts
        if n["suppressed"]:
            yield f"{n['suppressed_known_exactly']} of your {n['suppressed']} suppressed cells are known exactly."
        if n["other_unclear"]:
            yield f"{n['other_known_exactly']} of {n['other_unclear']} {self.unclear_words} are known exactly."
        yield from self.verdict()
        if self.left_out:
            yield f"Not everything was read. Left out ({len(self.left_out)}):"
            yield from (f"  {one}" for one in self.left_out[:MOST_SHOWN])
            yield "  No table is called safe until these are read or removed (--allow-partial continues without them)."
        if self.undecided:
            yield f"{len(self.undecided)} cells are undecided: they may be known exactly. No table is called safe."
        if str(self.fail_on) != "exact":
            yield f"{n['unsafe']} {self.unsafe_words} are unsafe by the rule {self.fail_on}."
        if self.limit:
            yield f"Note: {self.limit}. All intervals hold; some may be wider than necessary (--seconds allows more work)."
        if not self.attained:
            yield "Note: the tables are linked in a loop too large to solve as one. Intervals hold, but may be too wide."

    def reasons(self) -> Iterator[str]:
        for row in self.unsafe_cells[:MOST_SHOWN]:
            yield f"  {self.name(row['area'], row['cell'])}: {said(row['lower'], row['upper'])}"
            yield from (f"      {reason}" for reason in self.why(row))
        if len(self.unsafe_cells) > MOST_SHOWN:
            yield f"  ... and {len(self.unsafe_cells) - MOST_SHOWN} more, all in cells.csv"

    def advice(self) -> Iterator[str]:
        if (chosen := self.suppression) is None:
            return
        names = [self.name(step.area, step.cell) for step in chosen.steps]
        if names:
            these = f"these {len(names)} cells" if len(names) > 1 else "this cell"
            yield f"Also suppress {these}; then {self.protection()} ({chosen.how}):"
            yield from (f"  {name}" for name in names[:MOST_SHOWN])
            if len(names) > MOST_SHOWN:
                yield f"  ... and {len(names) - MOST_SHOWN} more, all in suppress.csv"
        elif chosen.left:
            yield f"No secondary suppression was found for {chosen.left} {self.unsafe_words}."
        if not chosen.in_time:
            yield "The search for secondary suppressions ran out of time; --search-seconds allows more."

    @property
    def to_suppress(self) -> pd.DataFrame:
        """What to suppress as well, a row for each cell."""
        left = {(step.area, step.cell): step.left for step in self.suppression.steps} if self.suppression else {}
        place = {key: at for at, key in enumerate(zip(self.cells["area"], self.cells["cell"], strict=True))}
        rows = self.cells.iloc[[place[key] for key in left]]
        rows = rows[["area", "table", "cell", "label", "published", "place", "status"]]
        return rows.assign(what="count", left=["" if own is None else own for own in left.values()])

    @property
    def answer(self) -> dict[str, Any]:
        """The answer for scripts: every unsafe cell with the numbers of the statements that prove it."""
        listed = [{"cell": self.name(row["area"], row["cell"]), **{key: row[key] for key in ("lower", "upper", "proof")}}
                  for row in self.unsafe_cells]  # fmt: skip
        result = {
            **self.numbers, **self.counts, "fail_on": str(self.fail_on), "safe": self.safe, "left_out": list(self.left_out),
            "undecided": list(self.undecided), "limit": self.limit, "ends_attained_by_people": self.attained,
            "unsafe_cells": listed,
        }  # fmt: skip
        if chosen := self.suppression:
            result["suppress"] = [self.name(step.area, step.cell) for step in chosen.steps]
            result |= {"suppress_is": chosen.how, "still_unsafe": list(chosen.still)}
        return result

    def as_json(self) -> str:
        return json.dumps(self.answer, indent=1, ensure_ascii=False)

    def report(self) -> str:
        from genverify.disclosure.report import report

        return report(self)

    def write(self, folder: str | Path) -> Path:
        """Write all files to a folder, which takes the place of the old one as a whole."""
        from genverify.disclosure.sources import COMMAND, write_files

        with written_folder(Path(folder), COMMAND) as part:
            write_files(self, part, Path(folder))
        return Path(folder)

    def check(self, folder: str | Path | None = None) -> str:
        """Check every proof again, without a solver; with a folder, also that each of its files shows what is proved."""
        from genverify.disclosure.sources import compare

        self.check_proofs()
        if folder is not None:
            compare(Path(folder), self)
        return self.proved()


def said(lower: int, upper: int | str) -> str:
    return f"{lower}" if lower == upper else f"{lower} or more" if upper == "" else f"{lower} to {upper}"
