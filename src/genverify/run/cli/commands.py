"""Which commands there are and where each comes from, commands about a study's blocks, and completion in bash and zsh."""

import argparse
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genverify.model.errors import DataError
from genverify.run.cli.shell import EXIT_CODES, Group, build
from genverify.run.layout import STUDY
from genverify.run.registry import commands

if TYPE_CHECKING:
    from genverify.model.release import Release


# Which commands there are and where each comes from; the parser of one of them, or of all.

# commands that were renamed: what users typed keeps working. No option was renamed
OLD_NAMES = {"audit-release": "disclose", "rooms": "modules"}
ABOUT = "What must be true of the people behind these tables?"
LINES = {
    "disclose": "audit tables, printed or described by a release file: what do they give away?",
    "protect": "make tables safe: suppress cells at the least cost, round or merge, with a certificate of protection",
    "what-if": "compare the protections that a release file lists, or the usual ones; for tables too",
    "unique": "test whether a reconstruction (an LP or MPS file) has exactly one solution",
    "read": "show how files of tables are read: the role of every cell, totals, symbols, what is left out",
    "page": "write the page that audits a table in a browser, without a network",
    "bounds": "bound every cell count from conditional or marginal tables",
    "check": "check every proof of a study, in exact integers and without a solver",
    "explain": "show which published cells force a claim about a block",
    "probability": "compute how likely a claim about a block is, given its release and a prior",
    "progress": "show the progress of the study that runs in a folder, until it is done",
    "export": "write proofs in the formats of other checkers: VIPR, OPB with VeriPB, SMT-LIB, Coq",
    "check-vipr": "check VIPR certificates of any program, in rational numbers",
    "audit": "walk from results back to the raw data; check every file, setting and proof",
    "reference": "check, without a run, whether docs/reference is current; or make it",
    "ablation": "write a variant or a design into the configuration; say what it would run, and how long",
    "config-schema": "print the JSON schema of files of settings, for editors",
    "new-study": "write the files of a new study, which runs as it is",
    "new-reader": "write a reader of one more kind of files of tables, and its test",
    "modules": "print the packages, what they import, and every module (Markdown)",
    "completion": "print a script that lets bash or zsh complete commands and options",
}


def _group(add: str, *names: str, study: bool = False) -> Group:
    return Group(add, {name: LINES[name] for name in names}, study)


GROUPS = (
    _group("genverify.disclosure.disclose_command:add_parser", "disclose", "unique", "protect", "what-if"),
    _group("genverify.reading.read_command:add_parser", "read"),
    _group("genverify.disclosure.disclose_command:add_page_parser", "page"),
    _group("genverify.bounds.bounds_command:add_parser", "bounds"),
    _group("genverify.run.cli.commands:add_check", "check"),
    _group("genverify.run.cli.commands:add_study_commands", "explain", "probability", "progress", study=True),
    _group("genverify.run.cli.commands:add_export", "export", "check-vipr"),
    _group("genverify.run.provenance.audit:add_audit", "audit", study=True),
    _group("genverify.run.reference:add_parser", "reference", study=True),
    _group("genverify.run.ablation:add_parser", "ablation", study=True),
    _group("genverify.run.config:add_parser", "config-schema"),
    _group("genverify.run.skeletons:add_parser", "new-study", "new-reader", study=True),
    _group("genverify.run.manual:add_parser", "modules"),
    _group("genverify.run.cli.commands:add_completion", "completion"),
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

SHELLS = ("bash", "zsh")
ZSH = "autoload -U +X bashcompinit && bashcompinit\n"  # zsh then reads what bash reads
ABOUT_COMPLETION = """
bash: put this into ~/.bashrc
  eval "$(genverify completion bash)"
zsh: put this into ~/.zshrc, after compinit
  eval "$(genverify completion zsh)"
"""


def add_completion(commands: Any) -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = commands.add_parser("completion", help=LINES["completion"], description=ABOUT_COMPLETION, formatter_class=form)
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(run=_print, prints="script")


def _print(options: argparse.Namespace) -> None:
    print(completion(parser(), options.shell), end="")


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    choices = next(action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return ("" if shell == "bash" else ZSH) + _bash(choices)


def _bash(commands: Mapping[str, argparse.ArgumentParser]) -> str:
    typed = '  local own="${COMP_WORDS[COMP_CWORD]}" last="${COMP_WORDS[COMP_CWORD-1]}" words="" values=""'
    lines = ["_genverify() {", typed]
    lines += ["  if [ $COMP_CWORD -eq 1 ]; then", f'    words="{" ".join([*commands, "--help", "--version"])}"', "  else"]
    lines += ['    case "${COMP_WORDS[1]}" in']
    for name, parser in commands.items():
        actions = parser._actions  # what can stand after a command: its options, its commands, and choices
        words = sorted({str(one) for action in actions for one in action.option_strings or action.choices or ()})
        lines += [f"      {name})", f'        words="{" ".join(words)}"']
        values = [f'          {"|".join(action.option_strings)}) values="{" ".join(map(str, action.choices))}" ;;'
                  for action in actions if action.option_strings and action.choices]  # fmt: skip
        lines += ['        case "$last" in', *values, "        esac"] if values else []
        lines += ["        ;;"]
    lines += ["    esac", "  fi", '  [ -n "$values" ] && words="$values"', '  COMPREPLY=($(compgen -W "$words" -- "$own"))']
    return "\n".join([*lines, "}", "complete -o default -F _genverify genverify", ""])


# Commands about a study's blocks: explain a claim, say how likely it is, check proofs, watch a run.


def add_study_commands(commands: Any) -> None:
    explain = commands.add_parser("explain", help=LINES["explain"])
    explain.add_argument("block", help="15-digit GEOID of the block; of tables, a cell as in cells.csv")
    claim = "for instance TEN=3,HHSIZE=1,THHRACE=2,m=1 (m = 1 if left out)"
    explain.add_argument("claim", nargs="?", default="", help=claim)
    explain.add_argument("--study", "--tracts", type=Path, default=STUDY,
                         help="a folder of results with proofs of any model (%(default)s)")  # fmt: skip
    explain.set_defaults(run=_explain)
    likely = commands.add_parser("probability", help=LINES["probability"])
    likely.add_argument("block", help="15-digit GEOID of the block")
    likely.add_argument("claim", help=claim)
    likely.add_argument("--study", type=Path, default=STUDY, help="results of a variant (%(default)s)")
    weights = "table of records (codes) with a column `weight`, .csv or .parquet (uniform)"
    likely.add_argument("--prior", type=Path, help=weights)
    likely.add_argument("--floor", type=float, default=0.0, help="weight of records that the table lacks (%(default)s)")
    likely.add_argument("--sample", type=Path, help="records of people like these, .csv or .parquet, in place of --prior")
    states = "most states of the count; beyond, an estimate (%(default)s)"
    likely.add_argument("--states", type=int, default=500_000, help=states)
    likely.set_defaults(run=_probability)
    progress = commands.add_parser("progress", help=LINES["progress"])
    started = "where Snakemake was started (%(default)s)"
    progress.add_argument("folder", type=Path, nargs="?", default=Path("."), help=started)
    progress.set_defaults(run=_progress)


def add_check(commands: Any) -> None:
    check = commands.add_parser("check", help=LINES["check"])
    check.add_argument("proofs", type=Path, nargs="+",
                       help="folders of results or proofs of any model, e.g. results/paper, or .jsonl.gz files; after "
                       "proofs about records: the folder of their release (default: release next to them)")  # fmt: skip
    check.add_argument("--claims", type=Path, metavar="FILE",
                       help="the table of claims (default: claims.parquet next to the folder of proofs)")  # fmt: skip
    check.set_defaults(run=_check)


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


def _explain(options: argparse.Namespace) -> None:
    from genverify.run.provenance.recheck import explain_stored

    for line in explain_stored(options.study, options.block, options.claim):
        print(line)


def _probability(options: argparse.Namespace) -> None:
    from dataclasses import replace

    from genverify.attack.explain import probable_claim
    from genverify.solve.counting.diagram import BUDGET

    budget = replace(BUDGET, states=options.states)
    for line in probable_claim(options.study, options.block, options.claim, options.prior, options.floor, budget,
                               options.sample):  # fmt: skip
        print(line)


def _progress(options: argparse.Namespace) -> None:
    from genverify.run.progress import watch

    with suppress(KeyboardInterrupt):
        watch(options.folder)


def _check(options: argparse.Namespace) -> None:
    from genverify.run.provenance.recheck import check_paths

    started = time.monotonic()
    for line in check_paths(options.proofs, options.claims):
        print(line)
    print(f"({time.monotonic() - started:.1f} s)")
