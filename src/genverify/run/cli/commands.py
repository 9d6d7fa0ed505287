"""Which commands there are and where each comes from, commands about a study's blocks, and completion in bash and zsh."""

import argparse
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genverify.model.errors import DataError
from genverify.run.cli.shell import EXIT_CODES, Group, build
from genverify.run.layout import MODULES_TOOL, REFERENCE_TOOL, SKELETONS_TOOL, VIPR_TOOL
from genverify.run.registry import commands

if TYPE_CHECKING:
    from genverify.model.release import Release


# Which commands there are and where each comes from; the parser of one of them, or of all.

# commands that were renamed: what users typed keeps working. No option was renamed
OLD_NAMES = {"audit-release": "disclose", "rooms": "modules"}
ABOUT = "What must be true of the people behind these tables?"
FORMS = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))


def _group(add: str, *names: str, study: bool = False) -> Group:
    return Group(add, {name: FORMS[name]["line"] for name in names}, study, FORMS[names[0]])


GROUPS = (
    _group("genverify.disclosure.disclose_command:add_parser", "disclose", "unique", "protect", "what-if"),
    _group("genverify.reading.read_command:add_parser", "read"),
    _group("genverify.disclosure.disclose_command:add_page_parser", "page"),
    _group("genverify.bounds.bounds_command:add_parser", "bounds"),
    _group("genverify.run.cli.commands:check", "check"),
    _group("genverify.run.cli.commands:explain", "explain", study=True),
    _group("genverify.run.cli.commands:probability", "probability", study=True),
    _group("genverify.run.progress:command", "progress", study=True),
    _group("genverify.run.cli.commands:add_export", "export"),
    _group(f"{VIPR_TOOL}:check_files", "check-vipr"),
    _group("genverify.run.provenance.audit:command", "audit", study=True),
    _group(f"{REFERENCE_TOOL}:add_parser", "reference", study=True),
    _group("genverify.run.ablation:add", "ablation", study=True),
    _group("genverify.run.config:write_schema", "config-schema"),
    _group(f"{SKELETONS_TOOL}:new_study", "new-study", study=True),
    _group(f"{SKELETONS_TOOL}:new_reader", "new-reader", study=True),
    _group(f"{MODULES_TOOL}:print_page", "modules"),
    _group("genverify.run.cli.commands:complete", "completion"),
)


def groups() -> list[Group]:
    return [*GROUPS, *commands()]


def with_new_name(words: Sequence[str]) -> list[str]:
    """
    The words, with the name that their command has today.

    >>> with_new_name(["-q", "audit-release", "rooms"])
    ['-q', 'disclose', 'rooms']
    """
    at = next((index for index, word in enumerate(words) if not word.startswith("-")), len(words))
    return [*words[:at], *(OLD_NAMES.get(word, word) for word in words[at : at + 1]), *words[at + 1 :]]


def parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """The parser of the command that the words ask for; without words, of all commands."""
    codes = "\n".join(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items())
    form, codes = argparse.RawDescriptionHelpFormatter, f"exit codes:\n{codes}"
    made = argparse.ArgumentParser(prog="genverify", description=ABOUT, epilog=codes, formatter_class=form)
    made.add_argument("--version", action=_Version, nargs=0, help="the versions of the program and of its solvers")
    build(made, groups(), words)
    return made


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from genverify.run.jobs import version_lines

        print("\n".join(version_lines()))
        parser.exit()


# Completion of commands and options in bash and zsh, written from the parsers: the script needs no Python when it runs.


def complete(options: argparse.Namespace) -> None:
    print(completion(parser(), options.shell), end="")


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    from jinja2 import Template

    parsers = next(action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    # what can stand after a command: its options, its commands, and choices
    words = {name: {str(word) for action in one._actions for word in action.option_strings or action.choices or ()}
             for name, one in parsers.items()}  # fmt: skip
    text = Path(__file__).with_name("completion.j2").read_text(encoding="utf-8")  # zsh reads what bash reads
    template = Template(text, trim_blocks=True, keep_trailing_newline=True, autoescape=False)
    return str(template.render(shell=shell, parsers=parsers, words={name: sorted(own) for name, own in words.items()}))


# Commands about a study's blocks: explain a claim, say how likely it is, check proofs, watch a run.


def add_export(commands: Any) -> None:
    from genverify.export import export_command
    from genverify.run.provenance.recheck import open_proofs

    export_command.add_parser(commands, open_proofs, _bounds)


def _bounds(release: "Release", text: str) -> dict[str, Any]:
    """The certificate of the least and the most that a count can be, checked."""
    from genverify.attack.verify import Verifier, check_ranges
    from genverify.model.claims import parse_claim
    from genverify.solve.program_settings import DEFAULT

    where = parse_claim(text, release.schema.domain).predicate(release.schema.domain)
    verifier = Verifier(DEFAULT.bounder(release))
    counts = verifier.range_of(where)
    if counts.limit or not counts.statements(where):
        raise DataError(f"block {release.block}: the range of {where} has no proof ({counts.limit or 'it says nothing'})")
    return check_ranges(verifier.bounder.program, [(where, counts)])


def explain(options: argparse.Namespace) -> Iterator[str]:
    from genverify.run.provenance.recheck import explain_stored

    return explain_stored(options.study, options.block, options.claim)


def probability(options: argparse.Namespace) -> Iterator[str]:
    from dataclasses import replace

    from genverify.attack.explain import probable_claim
    from genverify.solve.counting.diagram import BUDGET

    given = options.prior, options.floor, replace(BUDGET, states=options.states), options.sample
    return probable_claim(options.study, options.block, options.claim, *given)


def check(options: argparse.Namespace) -> Iterator[str]:
    from genverify.run.provenance.recheck import check_paths

    started = time.monotonic()
    yield from check_paths(options.proofs, options.claims)
    yield f"({time.monotonic() - started:.1f} s)"
