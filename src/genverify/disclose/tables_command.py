"""
`disclose` for printed tables: its options, read, say what was understood, answer, search, write the results, and check
them.
"""

import argparse
import gzip
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml
from pydantic import Field

from genverify.checker.linear_proofs import check_linear
from genverify.disclose.answer import Answer, read_fail_on, undecided_cells
from genverify.disclose.interpretation import (
    Interpretation,
    PrintedForm,
    interpret,
    is_printed,
    read_printed,
    summary,
    written,
)
from genverify.disclose.intervals import (
    FeasibilityIntervals,
    RuleViolation,
    broken_rules,
    find_intervals,
    read_contributions,
    read_rules,
)
from genverify.disclose.link import TableCells
from genverify.disclose.suppression import FEWEST, GREEDY, SecondarySuppression, still_narrow, suppress_more
from genverify.model.errors import ConfigError, DataError
from genverify.model.files import LIMITS, file_name, read_yaml, regular_file, sha256_of, write_whole, written_folder
from genverify.model.settings import Section, validate
from genverify.model.tablefiles import Expected, need_columns, neutral_frame, open_csv
from genverify.model.work import CellProgress
from genverify.report.pages import render
from genverify.solve.linear.search import Ranges, Work

# The options of `disclose`: what each applies to, its default, and what is nonsense; the help and the check of both.

DIALECTS = ("plain", "sdctable", "sbs", "argus")
TABLES, RECORDS, CHECK = "printed tables", "a release file of records or counts", "--check"
BOTH = (TABLES, RECORDS)
ANY = (*BOTH, CHECK)
GROUPS = {
    (TABLES,): f"only for {TABLES} (.xlsx, .csv, .px, JSON-stat, SDMX-CSV, .rds, tau-Argus, acro, or a folder)",
    (TABLES, CHECK): f"only for {TABLES}; with --check, where the folder of results does not say it",
    (RECORDS,): f"only for {RECORDS}",
    BOTH: f"for {TABLES} and for {RECORDS}",
    ANY: "for both, and with --check",
}


@dataclass(frozen=True)
class Option:
    """An option: its name, what it applies to, its help, the value where it is not given, and what refuses nonsense."""

    name: str
    applies: tuple[str, ...]
    help: str
    default: Any = None
    valid: Callable[[Any], object] = lambda given: None
    how: Mapping[str, Any] = field(default_factory=dict)
    old: tuple[str, ...] = ()  # names that it had

    @property
    def value(self) -> str:
        return self.name.removeprefix("--").replace("-", "_")


def pairs(words: Sequence[str], option: str) -> dict[str, str]:
    """What A=B says, of every word; the first character of A may be = itself."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = (word[:1] + word[1:].partition("=")[0], *word[1:].partition("=")[1:]) if word else ("", "", "")
        if not equals or not value:
            raise ConfigError(f"--{option} {word}: write two parts with = between them")
        if found.setdefault(name, value) != value:
            raise ConfigError(f"--{option} {word}: {name!r} was {found[name]!r} before; give it once")
    return found


def _symbols(words: Sequence[str]) -> None:
    from genverify.reading.symbols import told_symbol

    for text, meaning in pairs(words, "symbol").items():
        told_symbol(text, meaning)


def _rules(words: Sequence[str]) -> None:
    from genverify.disclose.link import read_rule

    read_rule(words)


def _facts(words: Sequence[str]) -> None:
    from genverify.disclose.link import check_facts

    check_facts(words)


def _sensitive(words: Sequence[str]) -> None:
    from genverify.disclose.intervals import read_rules

    read_rules(words)


def _fail_on(text: str) -> None:
    from genverify.disclose.answer import read_fail_on

    read_fail_on(text)


def _seconds(name: str) -> Callable[[float], None]:
    def valid(seconds: float) -> None:
        if not (isfinite(seconds) and seconds >= 0):
            raise ConfigError(f"--{name} {seconds}: give a number of seconds from 0")

    return valid


def _from_one(name: str) -> Callable[[int], None]:
    def valid(number: int) -> None:
        if number < 1:
            raise ConfigError(f"--{name} {number}: give a whole number from 1")

    return valid


_PAIR = {"action": "append", "metavar": "A=B"}
_LABEL = {"action": "append", "metavar": "LABEL"}
_COLUMNS = {"action": "append", "metavar": "C,D"}
_FLAG = {"action": "store_true", "default": None}
OPTIONS = (
    Option("--symbol", (TABLES, CHECK), "what a symbol means, e.g. '*=suppressed', '*=1-4', '-=0', 'blank=suppressed'", (),
           _symbols, _PAIR, ("--mark",)),
    Option("--sheet", (TABLES, CHECK), "read this sheet only", (), how={"action": "append", "metavar": "NAME"}),
    Option("--labels", (TABLES, CHECK), "columns (letters or headers) that hold labels", (), how=_COLUMNS),
    Option("--counts", (TABLES, CHECK), "columns that hold counts", (), how=_COLUMNS),
    Option("--skip", (TABLES, CHECK), "rows and columns that are not read, e.g. 59,C", (), how=_COLUMNS),
    Option("--period", (TABLES, CHECK), "the period of a table that does not name it", "", how={"metavar": "TEXT"}),
    Option("--rule", (TABLES, CHECK), "how numbers were treated: round=5, random=3, random-nonzero=3, midpoint=6, key=2, "
           "suppress=5", (), _rules, {"action": "append", "metavar": "RULE"}),
    Option("--total", (TABLES, CHECK), "the label that is the total of a column, e.g. 'sex=Both sexes'", (),
           lambda given: pairs(given, "total"), _PAIR),
    Option("--no-total", (TABLES, CHECK), "a label that is no total although its name may say so", (), how=_LABEL),
    Option("--total-from", (TABLES, CHECK), "the total stands in another file: other.csv:LABEL", (),
           how={"action": "append", "metavar": "FILE:LABEL"}),
    Option("--tolerance", (TABLES, CHECK), "how far a printed total may be from the sum of its parts", 0,
           how={"type": int, "metavar": "N"}),
    Option("--label", (TABLES, CHECK), "a label or a header that looks like a symbol for a count, e.g. '<1'", (),
           how=_LABEL),
    Option("--decimal", (TABLES, CHECK), "the decimal sign, where the numbers do not tell it",
           how={"choices": (".", ",")}),
    Option("--same-people", (TABLES, CHECK), "tables of several periods count the same people", False, how=_FLAG),
    Option("--hierarchy", (TABLES, CHECK), "a .hrc file for a column, e.g. 'industry=nace.hrc'", (),
           lambda given: pairs(given, "hierarchy"), _PAIR),
    Option("--inside", (TABLES, CHECK), "a table counts some of the people of another: SMALL=LARGE", (),
           lambda given: pairs(given, "inside"), _PAIR),
    Option("--fact", (TABLES, CHECK), "a fact beside the counts, e.g. 'sex=f >= 3'", (), _facts,
           {"action": "append", "metavar": "TEXT"}),
    Option("--contributions", (TABLES,), "CSV with labels, contributor and value of every contribution, for magnitude "
           "tables", how={"type": Path, "metavar": "FILE"}),
    Option("--sensitive", (TABLES,), "a rule for contributions: dominance=2,80 or p=10 or contributors=3", (), _sensitive,
           {"action": "append", "metavar": "RULE"}),
    Option("--dialect", (TABLES,), "status codes in cells.csv", "plain", how={"choices": DIALECTS}),
    Option("--write", (TABLES,), "save what was understood as a release file, to be corrected",
           how={"type": Path, "metavar": "FILE"}),
    Option("--seconds", (TABLES, CHECK), "limit of the search for ranges", 120.0, _seconds("seconds"), {"type": float}),
    Option("--search-seconds", (TABLES,), "limit of the search for cells to withhold", 60.0, _seconds("search-seconds"),
           {"type": float}),
    Option("--cells", (RECORDS,), "only print the cells that the file describes, as a CSV to fill in", False, how=_FLAG),
    Option("--fail-on", BOTH, "exit with 1 for: exact, range<3, singled-out", None, _fail_on, {"metavar": "WHAT"}),
    Option("--allow-partial", (TABLES, CHECK), "go on without what stays open or is left out of the reading; nothing is "
           "then called safe", False, how=_FLAG),
    Option("--max-rows", ANY, f"rows that the data may hold ({LIMITS.rows:,})", None, _from_one("max-rows"),
           {"type": int, "metavar": "N"}),
    Option("--max-bytes", ANY, f"its bytes when unpacked ({LIMITS.size:,})", None, _from_one("max-bytes"),
           {"type": int, "metavar": "N"}),
    Option("--out", ANY, "folder of the results (a folder `audit` beside the tables or the release file)",
           how={"type": Path}),
    Option("--json", ANY, "print the answer as JSON, and nothing else", False, how=_FLAG),
    Option("--check", ANY, "only check the folder of results: read the tables again, check the proofs, compare all that is "
           "shown; nothing is written", False, how=_FLAG),
)  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """Every option in the group of what it applies to; none has a default yet, so that it is known which are given."""
    groups = {applies: parser.add_argument_group(title) for applies, title in GROUPS.items()}
    for option in OPTIONS:
        default = f" ({option.default})" if option.default else ""
        groups[option.applies].add_argument(option.name, *option.old, help=f"{option.help}{default}", **option.how)


def settle(options: argparse.Namespace, kind: str) -> None:
    """Refuse options that do not apply to this kind of work, and nonsense; then fill in the defaults."""
    given = [option for option in OPTIONS if getattr(options, option.value) is not None]
    for option in given:
        if kind not in option.applies:
            what = " and ".join(option.applies)
            raise ConfigError(f"{option.name} applies to {what}, not to {kind}; leave it out")
        option.valid(getattr(options, option.value))
    if (options.contributions is None) != (not options.sensitive):
        raise ConfigError("--contributions and --sensitive go together: the contributions, and the rule for them")
    for option in OPTIONS:
        if option not in given:
            setattr(options, option.value, option.default)


# The report about printed tables: the answer at the top, the tables as they are printed with what is known of each cell.

TEMPLATE = "disclose/tables.html.j2"
MOST_TABLES, MOST_ROWS, MOST_COLUMNS = 12, 60, 16


def tables_report(understood: Interpretation, answer: Answer) -> str:
    """The whole report as one HTML page."""
    placed = answer.exposed.linked.placed
    unsafe = set(answer.unsafe)
    return render(
        TEMPLATE,
        title=understood.form.title or "What these tables give away",
        counts=answer.counts,
        lines=list(answer.lines()),
        reasons=[_reason(answer, cell) for cell in answer.unsafe[:20]],
        unsafe=len(unsafe),
        advice=list(answer.advice()),
        withheld=_withheld(answer),
        understood=summary(understood),
        shown=[_table(answer, one, unsafe) for one in placed[:MOST_TABLES]],
        more=max(len(placed) - MOST_TABLES, 0),
        joint=answer.exposed.linked.joint,
        limit=answer.exposed.ranges.limit,
        statements=len(answer.exposed.ranges.statements),
    )


def _reason(answer: Answer, cell: int) -> tuple[str, str, list[str]]:
    ranges = answer.exposed.ranges
    lo, hi = int(ranges.lo[cell]), int(ranges.hi[cell])
    return answer.exposed.linked.sums.cells[cell], str(lo) if lo == hi else f"{lo} to {hi}", answer.exposed.why(cell)


def _withheld(answer: Answer) -> list[tuple[str, str]]:
    if answer.complement is None:
        return []
    sums = answer.exposed.linked.sums
    return [(sums.cells[cell], str(sums.lo[cell])) for cell in answer.complement.cells]


def _table(answer: Answer, placed: TableCells, unsafe: set[int]) -> dict[str, Any]:
    """A table as it is printed: the last column across, the others down; cells with their range and a mark."""
    table = placed.table
    across = table.labels(table.columns[-1])[:MOST_COLUMNS] if len(table.columns) > 1 else ("count",)
    rows = list(dict.fromkeys(labels[:-1] if len(table.columns) > 1 else labels for labels in table.entries))
    body = [[*row, *_cells(answer, placed, row, across, unsafe)] for row in rows[:MOST_ROWS]]
    head = [*(table.columns[:-1] if len(table.columns) > 1 else table.columns), *across]
    cut = len(rows) > MOST_ROWS or (len(table.columns) > 1 and len(table.labels(table.columns[-1])) > MOST_COLUMNS)
    return {
        "name": table.name,
        "title": table.title,
        "head": head,
        "rows": body,
        "labels": len(head) - len(across),
        "cut": cut,
    }


def _cells(
    answer: Answer, placed: TableCells, row: tuple[str, ...], across: tuple[str, ...], unsafe: set[int]
) -> Iterator[tuple[str, str, str]]:
    """What is printed, what is known where that is more, and the kind of the cell."""
    table, ranges = placed.table, answer.exposed.ranges
    added = set(answer.complement.cells) if answer.complement else set()
    for label in across:
        labels = (*row, label) if len(table.columns) > 1 else row
        if labels not in placed.keys:
            yield "", "", ""
            continue
        cell = answer.exposed.printed[placed.keys[labels]]
        lo, hi = int(ranges.lo[cell]), int(ranges.hi[cell])
        known = str(lo) if lo == hi else f"{lo} or more" if answer.exposed.open_above(cell) else f"{lo} to {hi}"
        kind = (
            "unsafe" if cell in unsafe else "withhold" if cell in added else "open" if answer.exposed.unclear[cell] else ""
        )
        yield table.entries[labels].text or "blank", known if answer.exposed.unclear[cell] else "", kind


# `disclose` for printed tables: read, say what was understood, answer, search for cells to withhold, write; and check.

KEPT = {"whatif.csv"}  # what another command may have written to the folder
SYSTEM, PROOFS, READING = "system.json.gz", "proofs.jsonl.gz", "reading.yaml"
PAIRS = {"symbol": "marks", "total": "totals", "hierarchy": "hierarchies", "inside": "inside"}
LISTS = {"rule": "rule", "fact": "facts", "label": "labels", "no_total": "no_totals", "total_from": "totals_from",
         "sheet": "sheets", "labels": "label_columns", "counts": "count_columns", "skip": "skip"}  # fmt: skip
SINGLE = {"decimal": "decimal", "same_people": "same_people", "period": "period", "tolerance": "tolerance",
          "allow_partial": "partial", "max_rows": "max_rows", "max_bytes": "max_bytes"}  # fmt: skip
COMMAND = "disclose"
Talk = Callable[[str], None]


class FoundForm(Section):
    """What a search found, beside the proofs, by places of cells in the system: it is searched for again in a check."""

    limit: str = ""
    not_attained: list[int] = Field(default_factory=list)
    undecided: list[int] = Field(default_factory=list)
    withhold: list[int] | None = None
    still_unsafe: list[int] = Field(default_factory=list)
    in_time: bool = True
    fewest: bool = False


class ReadingForm(Section):
    """What a folder of results was made from: files with their SHA-256 and options, paths relative to the folder."""

    inputs: dict[str, str]
    form: PrintedForm
    answers: dict[str, str] = Field(default_factory=dict)
    fail_on: str | None = None
    dialect: Literal["plain", "sdctable", "sbs", "argus"] = "plain"
    contributions: str | None = None
    sensitive: list[str] = Field(default_factory=list)
    found: FoundForm = Field(default_factory=FoundForm)


def run_tables(options: argparse.Namespace) -> int:
    """Audit printed tables; 1 where they are unsafe by --fail-on."""
    talk = _silent if options.json else _talk
    started = time.monotonic()
    form, home = _form(options)
    folder = _folder(options)
    files = _inputs(form, home, options.contributions)
    files += [path for path in options.release if is_printed(path)]
    if options.write:
        _refuse_input(options.write, files)
    inputs, answers = {os.path.relpath(file, folder): sha256_of(file) for file in files}, dict[str, str]()

    def asked(question: str) -> str:
        answers[question] = input(question)
        return answers[question]

    understood = interpret(form, home, asked if sys.stdin.isatty() and sys.stdout.isatty() else None)
    for line in summary(understood):
        talk(line)
    if options.write:
        _write_reading(understood, options.write, home)
        talk(f"{options.write}: what was understood; correct it and give it to disclose")
    with written_folder(folder, COMMAND) as part:
        answer = _answer(understood, options, talk)
        reading = ReadingForm(
            inputs=inputs, form=_moved(form, home, folder), answers=answers, fail_on=options.fail_on,
            dialect=options.dialect, contributions=options.contributions and os.path.relpath(options.contributions, folder),
            sensitive=list(options.sensitive), found=_found(answer),
        )  # fmt: skip
        for name, content in contents(understood, answer, options.dialect).items():
            (part / name).write_bytes(content)
        text = yaml.safe_dump(reading.model_dump(exclude_defaults=True), sort_keys=False, allow_unicode=True, width=120)
        (part / READING).write_text(text, encoding="utf-8")
    talk(f"{folder / 'report.html'}, cells.csv, proofs ({time.monotonic() - started:.1f} s)")
    if options.json:
        print(answer.as_json())
    partial = answer.partial and not options.allow_partial
    return int(bool(options.fail_on and (answer.unsafe or answer.broken or partial)))


def _inputs(form: PrintedForm, home: Path, contributions: Path | None) -> list[Path]:
    """Every file that is read because it is named; of a folder, its files."""
    named = [home / name for name in (*form.printed, *form.hierarchies.values())]
    inside = [sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else [path] for path in named]
    files = [file for own in inside for file in own if not file.name.startswith(".")]
    files += [contributions] if contributions else []
    for file in files:
        if not file.exists():
            raise DataError(f"{file}: there is no such file or folder")
    return files


def _refuse_input(path: Path, inputs: Iterable[Path]) -> None:
    if path.exists() and any(path.samefile(file) for file in inputs):
        raise ConfigError(f"--write {path}: this file is read, and would be lost; give another name")


def _moved(form: PrintedForm, home: Path, folder: Path) -> PrintedForm:
    """The form with its paths relative to another folder."""
    printed = [os.path.relpath(home / name, folder) for name in form.printed]
    hierarchies = {column: os.path.relpath(home / name, folder) for column, name in form.hierarchies.items()}
    return form.model_copy(update={"printed": printed, "hierarchies": hierarchies})


def _found(answer: Answer) -> FoundForm:
    ranges, chosen = answer.exposed.ranges, answer.complement
    open_ = [cell for cell in answer.exposed.printed.values() if not ranges.exact[cell]]
    found = FoundForm(limit=ranges.limit, not_attained=open_, undecided=list(answer.undecided))
    if chosen is None:
        return found
    proposed = {"withhold": list(chosen.cells), "still_unsafe": list(chosen.left), "in_time": chosen.in_time}
    return found.model_copy(update={**proposed, "fewest": chosen.fewest == FEWEST})


def _answer(understood: Interpretation, options: argparse.Namespace, talk: Talk) -> Answer:
    """The answer, said before the search for cells to withhold begins."""
    work = Work(seconds=options.seconds)
    exposed, fail_on = find_intervals(understood.linked, work, CellProgress(options.json)), read_fail_on(options.fail_on)
    answer = Answer(exposed, fail_on, left_out=understood.left_out, undecided=undecided_cells(exposed, fail_on))
    answer = replace(answer, broken=_broken(answer, options.contributions, options.sensitive))
    talk("")
    for line in (*answer.lines(), *answer.reasons()):
        talk(line)
    if answer.narrow and not answer.fail_on.singled_out and options.search_seconds > 0:
        search = replace(work, seconds=options.search_seconds)
        answer = replace(answer, complement=suppress_more(answer.exposed, answer.narrow, answer.fail_on.width, search))
    for line in answer.advice():
        talk(line)
    return answer


def _broken(answer: Answer, path: Path | None, sensitive: Sequence[str]) -> tuple[RuleViolation, ...]:
    """What breaks a rule about contributions, where they are given."""
    if path is None:
        return ()
    return tuple(
        broken_rules(answer.exposed, read_contributions(path, answer.exposed.linked, LIMITS), read_rules(sensitive))
    )


def _form(options: argparse.Namespace) -> tuple[PrintedForm, Path]:
    """The release of the command line, or of a release file changed by it; paths are relative to the second value."""
    told: dict[str, Any] = {name: pairs(getattr(options, option), option) for option, name in PAIRS.items()}
    told |= {name: list(getattr(options, option)) for option, name in LISTS.items()}
    told |= {name: getattr(options, option) for option, name in SINGLE.items()}
    told = {name: own for name, own in (told | {"amounts": options.contributions is not None}).items() if own}
    paths: Sequence[Path] = options.release
    if len(paths) == 1 and is_printed(paths[0]):
        return read_printed(paths[0], told), paths[0].parent
    return validate(PrintedForm, {"printed": [str(path) for path in paths], **told}, "the command line"), Path()


def _folder(options: argparse.Namespace) -> Path:
    first: Path = options.release[0]
    if options.out:
        return Path(options.out)
    return first if (first / PROOFS).exists() else (first if first.is_dir() else first.parent) / "audit"


def _write_reading(understood: Interpretation, path: Path, home: Path) -> None:
    form = _moved(understood.form, home, path.parent)
    write_whole(path, written(replace(understood, form=form)))


def contents(understood: Interpretation, answer: Answer, dialect: str) -> dict[str, bytes]:
    """
    All that is shown, by the name of its file: cells with ranges, cells to withhold, a-priori files, the answer, the system
    with its proofs, the report. The same answer gives the same bytes, so that a check can make them again.
    """
    sums, files = answer.exposed.linked.sums, dict[str, str]()
    files["cells.csv"] = neutral_frame(answer.frame(dialect)).to_csv(index=False, lineterminator="\n")
    if answer.complement:
        files["withhold.csv"] = neutral_frame(answer.withhold(dialect)).to_csv(index=False, lineterminator="\n")
    files |= {f"{file_name(name)}.hst": text for name, text in answer.apriori().items()}
    files["answer.json"] = answer.as_json() + "\n"
    files["report.html"] = tables_report(understood, answer)
    lines = [{"system": sums.digest}, *answer.exposed.ranges.statements]
    packed = {SYSTEM: json.dumps(sums.as_dict(), separators=(",", ":")),
              PROOFS: "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)}  # fmt: skip
    plain = {name: text.encode("utf-8", "backslashreplace") for name, text in files.items()}
    return plain | {name: gzip.compress(text.encode(), mtime=0) for name, text in packed.items()}


def check_tables(options: argparse.Namespace) -> int:
    """
    Check a folder of results: the system is built from the tables again, every statement about it is checked without a
    solver, and every file that shows something is made again from what is proved, and compared. That no range is narrower
    than shown, that ends are attained and that a proposal protects is searched for again within --seconds.
    """
    folder, started = _folder(options), time.monotonic()
    about, statements = _stored(folder)
    reading, home = _reading(options, folder)
    understood = interpret(reading.form, home, reading.answers.__getitem__ if reading.answers else None)
    linked = understood.linked
    if about != linked.sums.digest:
        raise DataError(f"{folder / PROOFS}: the proofs are about another system than the one that the tables form; "
                        "make the results again")  # fmt: skip
    shown = check_linear(linked.sums, statements)
    if shown.empty:
        raise DataError(f"{folder / PROOFS}: these proofs show a contradiction; there are no ranges to show")
    lo, hi = np.array(shown.lo, dtype=np.int64), np.array(shown.hi, dtype=np.int64)
    least, found = lo.copy(), reading.found
    least[_shown_cells(found.not_attained, len(lo), folder)] -= 1  # so that it is not attained
    ranges = Ranges(lo, hi, least, hi, tuple(statements), False, found.limit)
    answer = Answer(FeasibilityIntervals(linked, ranges), read_fail_on(reading.fail_on))
    contributions = home / reading.contributions if reading.contributions else None
    broken = _broken(answer, contributions, reading.sensitive)
    undecided = tuple(_shown_cells(found.undecided, len(lo), folder))
    answer = replace(answer, broken=broken, left_out=understood.left_out, undecided=undecided)
    if found.withhold is not None:
        cells, left = (tuple(_shown_cells(own, len(lo), folder)) for own in (found.withhold, found.still_unsafe))
        answer = replace(
            answer, complement=SecondarySuppression(cells, left, ranges, found.in_time, FEWEST if found.fewest else GREEDY)
        )
    exact = int((lo == hi).sum())
    print(f"{len(statements)} statements about {len(lo)} cells: all proofs right; {exact} cells known exactly")
    if (folder / READING).exists():
        _compare(folder, contents(understood, answer, reading.dialect))
        print(f"the system is that of {', '.join(reading.inputs)}; all files show what is proved")
    else:
        _compare_cells(folder, answer)
        print(f"the system is that of {', '.join(reading.form.printed)}; no {READING} here: only cells.csv was compared")
    print(f"{_searched(answer, options.seconds)} ({time.monotonic() - started:.1f} s)")
    return 0


def _stored(folder: Path) -> tuple[str, list[dict[str, Any]]]:
    """The digest of the system that stored proofs are about, and their statements."""
    try:
        head, *lines = gzip.decompress(regular_file(folder / PROOFS).read_bytes()).splitlines()
        return str(json.loads(head)["system"]), [json.loads(line) for line in lines]
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error, RecursionError) as error:
        raise DataError(f"{folder}: holds no results of printed tables ({error})") from None


def _reading(options: argparse.Namespace, folder: Path) -> tuple[ReadingForm, Path]:
    """How the tables are to be read: as the folder says, its files unchanged; else as the command line says."""
    path, named = folder / READING, [one for one in options.release if not (one.exists() and one.samefile(folder))]
    if not path.exists():
        if not named:
            raise DataError(f"{folder}: has no {READING}, so it cannot be tied to its tables; name them, and with --mark "
                            "and the like how they are read")  # fmt: skip
        form, home = _form(options)
        return ReadingForm(inputs={}, form=form), home
    if told := [name for name in (*PAIRS, *LISTS, *SINGLE) if getattr(options, name)]:
        raise ConfigError(
            f"--{told[0].replace('_', '-')}: with --check, {path} says how the tables were read; leave this out"
        )
    reading = validate(ReadingForm, read_yaml(path), str(path))
    listed = {folder / name: recorded for name, recorded in reading.inputs.items()}
    for file, recorded in listed.items():
        if not file.exists():
            raise DataError(f"{file}: missing, so {folder} cannot be tied to its tables; put the file back")
        if sha256_of(file) != recorded:
            raise DataError(f"{file}: not the file that {path} names (another SHA-256); make the results again")
    contributions = folder / reading.contributions if reading.contributions else None
    known = [*listed, *(folder / name for name in reading.form.printed)]
    for file in [*_inputs(reading.form, folder, contributions), *named]:
        if not file.exists() or not any(file.samefile(other) for other in known):
            raise DataError(f"{folder}: its results are about other files than {file}")
    return reading, folder


def _shown_cells(places: Sequence[int], n: int, folder: Path) -> list[int]:
    if any(not 0 <= place < n for place in places):
        raise DataError(f"{folder / READING}: names a cell that the tables do not have; make the results again")
    return list(places)


def _compare(folder: Path, expected: Mapping[str, bytes]) -> None:
    """Every file is what is proved, and there is no other."""
    for name, content in expected.items():
        try:
            stored = regular_file(folder / name).read_bytes()
            if name.endswith(".gz"):  # the bytes of a packed file depend on who packed it
                stored, content = gzip.decompress(stored), gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{folder / name}: missing or broken ({error}); make the results again") from None
        if stored != content:
            raise DataError(f"{folder / name}: shows something else than what is proved; make the results again")
    others = {file.name for file in folder.iterdir() if file.suffix in (".hst", ".csv", ".html")} - set(expected)
    if others - KEPT:
        raise DataError(f"{folder / min(others - KEPT)}: nothing that is proved says so; take it away")


def _compare_cells(folder: Path, answer: Answer) -> None:
    """The ranges of a cells.csv that another program wrote, the page for instance."""
    if not (folder / "cells.csv").exists():
        return
    frame = open_csv(folder / "cells.csv", Expected("cells with their ranges")).frame()
    need_columns(folder / "cells.csv", frame, ("cell", "lower", "upper"))
    proved = neutral_frame(answer.frame("plain")[["cell", "lower", "upper"]]).astype(str)
    rows, told = ({tuple(row) for row in own.to_numpy().tolist()} for own in (proved, frame[["cell", "lower", "upper"]]))
    if rows != told:
        cell = min(rows ^ told)[0]
        raise DataError(f"{folder / 'cells.csv'}: {cell}: shows something else than what is proved")


def _searched(answer: Answer, seconds: float) -> str:
    """What a new search says: no range is narrower than shown, the ends are attained as said, and a proposal protects."""
    exposed, chosen = answer.exposed, answer.complement
    if seconds <= 0:
        return "not searched for again: narrower ranges, attained ends, whether the proposal protects"
    searched = find_intervals(exposed.linked, Work(seconds=seconds))
    again = searched.ranges
    places, names = np.array(list(exposed.printed.values()), dtype=np.int64), exposed.linked.sums.cells
    wider = places[((again.lo > exposed.ranges.lo) | (again.hi < exposed.ranges.hi))[places]]
    if len(wider):
        raise DataError(f"{names[wider[0]]}: more is known of this cell than the results show; make them again")
    if again.limit:
        return f"not searched for again in full ({again.limit})"
    if open_ := set(undecided_cells(searched, answer.fail_on)) - set(answer.undecided):
        raise DataError(f"{names[min(open_)]}: not decided, though the results say so; make them again")
    untrue = places[(exposed.ranges.exact & ~again.exact)[places]]
    if len(untrue):
        raise DataError(f"{names[untrue[0]]}: not attained at both ends, though the results say so; make them again")
    if chosen is None:
        return "searched again: no range is narrower than shown"
    left, limit = still_narrow(exposed, answer.narrow, chosen.cells, answer.fail_on.width, Work(seconds=seconds))
    if limit:
        return f"searched again: no range is narrower than shown; whether the proposal protects, not in full ({limit})"
    if set(left) - set(chosen.left):
        raise DataError(f"{names[left[0]]}: the cells to withhold do not protect this one; make the results again")
    return "searched again: no range is narrower than shown, and the cells to withhold protect as said"


def _talk(line: str) -> None:
    print(line, flush=True)


def _silent(line: str) -> None:
    """Nothing: the answer is printed as JSON."""
