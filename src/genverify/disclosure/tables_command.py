"""`disclose` for printed tables: read, say what was understood, answer, search for cells to withhold, write the results."""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from genverify.core.closed import validate
from genverify.core.csvtext import neutral_frame
from genverify.core.errors import ConfigError, DataError
from genverify.core.limits import LIMITS
from genverify.core.sums import sums_of
from genverify.disclosure.answer import Answer, read_fail_on
from genverify.disclosure.complement import complement
from genverify.disclosure.contributions import Broken, broken_rules, read_contributions, read_rules
from genverify.disclosure.exposed import expose
from genverify.disclosure.printed import PrintedForm, Understood, is_printed, read_printed, summary, understand, written
from genverify.disclosure.tables_report import tables_report
from genverify.solve.sums.work import Work

SAY_EVERY = 5.0
SYSTEM, PROOFS = "system.json.gz", "proofs.jsonl.gz"
PAIRS = {"mark": "marks", "total": "totals", "hierarchy": "hierarchies", "inside": "inside"}


def run_tables(options: argparse.Namespace) -> int:
    """Audit printed tables; 1 where they are unsafe by --fail-on."""
    if options.check:
        return _check(_folder(options))
    talk = _silent if options.json else _talk
    started = time.monotonic()
    asked = input if sys.stdin.isatty() and sys.stdout.isatty() else None
    form, home = _form(options)
    understood = understand(form, home, asked)
    for line in summary(understood):
        talk(line)
    if options.write:
        _write_reading(understood, options.write, home)
        talk(f"{options.write}: what was understood; correct it and give it to disclose")
    folder = _folder(options)
    folder.mkdir(parents=True, exist_ok=True)
    answer = _answer(understood, options, talk)
    write_tables(understood, answer, options.dialect, folder)
    talk(f"{folder / 'report.html'}, cells.csv, proofs ({time.monotonic() - started:.1f} s)")
    if options.json:
        print(answer.as_json())
    partial = bool(answer.left_out) and not options.allow_partial
    return int(bool(options.fail_on and (answer.unsafe or answer.broken or partial)))


def _answer(understood: Understood, options: argparse.Namespace, talk: Callable[[str], None]) -> Answer:
    """The answer, said before the search for cells to withhold begins."""
    work = Work(seconds=options.seconds)
    answer = Answer(expose(understood.linked, work, _Progress(options.json)), read_fail_on(options.fail_on))
    answer = replace(answer, broken=_broken(answer, options), left_out=understood.left_out)
    talk("")
    for line in (*answer.lines(), *answer.reasons()):
        talk(line)
    if answer.narrow and not answer.fail_on.singled_out and options.search_seconds > 0:
        search = replace(work, seconds=options.search_seconds)
        answer = replace(answer, complement=complement(answer.exposed, answer.narrow, answer.fail_on.width, search))
    for line in answer.advice():
        talk(line)
    return answer


def _broken(answer: Answer, options: argparse.Namespace) -> tuple[Broken, ...]:
    """What breaks a rule about contributions, where they are given."""
    if (options.contributions is None) != (not options.sensitive):
        raise ConfigError("--contributions and --sensitive go together: the contributions, and the rule for them")
    if options.contributions is None:
        return ()
    rules = read_rules(options.sensitive)
    contributions = read_contributions(options.contributions, answer.exposed.linked, LIMITS)
    return tuple(broken_rules(answer.exposed, contributions, rules))


def _form(options: argparse.Namespace) -> tuple[PrintedForm, Path]:
    """The release of the command line, or of a release file changed by it; paths are relative to the second value."""
    told: dict[str, Any] = {name: _pairs(getattr(options, option), option) for option, name in PAIRS.items()}
    told |= {"rule": options.rule, "facts": options.fact, "labels": options.label, "no_totals": options.no_total}
    told |= {"decimal": options.decimal, "same_people": options.same_people}
    told |= {name: getattr(options, name) for name in ("max_rows", "max_bytes")}
    told = {name: own for name, own in told.items() if own}
    paths: Sequence[Path] = options.release
    if len(paths) == 1 and is_printed(paths[0]):
        return read_printed(paths[0], told), paths[0].parent
    return validate(PrintedForm, {"printed": [str(path) for path in paths], **told}, "the command line"), Path()


def _pairs(words: Sequence[str], option: str) -> dict[str, str]:
    found = {}
    for word in words:
        name, equals, value = (word[:1] + word[1:].partition("=")[0], *word[1:].partition("=")[1:]) if word else ("", "", "")
        if not equals or not value:
            raise ConfigError(f"--{option} {word}: write two parts with = between them")
        found[name] = value
    return found


def _folder(options: argparse.Namespace) -> Path:
    first: Path = options.release[0]
    folder: Path = options.out or (first if first.is_dir() else first.parent) / "audit"
    return folder


def _write_reading(understood: Understood, path: Path, home: Path) -> None:
    from os.path import relpath

    named = [relpath(home / name, path.parent) for name in understood.form.printed]
    form = understood.form.model_copy(update={"printed": named})
    path.write_text(written(replace(understood, form=form), path.parent), encoding="utf-8")


def write_tables(understood: Understood, answer: Answer, dialect: str, folder: Path) -> None:
    """Cells with ranges, cells to withhold, a-priori files, the system with its proofs, the answer, the report."""
    neutral_frame(answer.frame(dialect)).to_csv(folder / "cells.csv", index=False)
    if answer.complement:
        neutral_frame(answer.withhold(dialect)).to_csv(folder / "withhold.csv", index=False)
    for name, text in answer.apriori().items():
        (folder / f"{name}.hst").write_text(text, encoding="utf-8")
    (folder / "answer.json").write_text(answer.as_json() + "\n", encoding="utf-8")
    sums = answer.exposed.linked.sums
    packed = json.dumps(sums.as_dict(), separators=(",", ":")).encode()
    (folder / SYSTEM).write_bytes(gzip.compress(packed, mtime=0))
    lines = [{"system": sums.digest}, *answer.exposed.ranges.statements]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (folder / PROOFS).write_bytes(gzip.compress(text.encode(), mtime=0))
    (folder / "report.html").write_text(tables_report(understood, answer), encoding="utf-8")


def _check(folder: Path) -> int:
    """Read the system and the proofs of a folder, and check every statement again, without a solver."""
    from genverify.checker.sums import check_sums

    try:
        sums = sums_of(json.loads(gzip.decompress((folder / SYSTEM).read_bytes())))
        head, *lines = gzip.decompress((folder / PROOFS).read_bytes()).splitlines()
        about = json.loads(head)["system"]
        statements = [json.loads(line) for line in lines]
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{folder}: holds no results of printed tables ({error})") from None
    if about != sums.digest:
        raise DataError(f"{folder}: the proofs are about another system than {SYSTEM}")
    shown = check_sums(sums, statements)
    exact = sum(lo == hi for lo, hi in zip(shown.lo, shown.hi, strict=True))
    print(f"{len(statements)} statements about {len(sums.cells)} cells: all proofs right; {exact} cells known exactly")
    return 0


class _Progress:
    """How far the search for ranges is, now and then, on the standard error."""

    def __init__(self, quiet: bool) -> None:
        self.quiet, self.last = quiet, time.monotonic()

    def __call__(self, done: int, of: int) -> None:
        now = time.monotonic()
        if not self.quiet and now - self.last > SAY_EVERY:
            self.last = now
            print(f"{done} of {of} cells ...", file=sys.stderr)


def _talk(line: str) -> None:
    print(line, flush=True)


def _silent(line: str) -> None:
    """Nothing: the answer is printed as JSON."""
