"""Which commands there are and where each comes from; the parser of one of them, or of all."""

import argparse
from collections.abc import Sequence
from typing import Any

from genverify.run.shell import EXIT_CODES, Group, build

ABOUT = "What must be true of the people behind these tables?"
GROUPS = (
    Group(
        "genverify.disclosure.command:add_parser",
        {
            "disclose": "say what tables give away: printed ones as they are, or those that a release file describes",
            "what-if": "try the protections that a release file lists",
            "unique": "say whether a reconstruction (an LP or MPS file) has exactly one solution",
        },
        {"audit-release": "disclose"},
    ),
    Group(
        "genverify.reading.command:add_parser",
        {"read": "say what files of tables hold: a role for every cell, totals, symbols, and what is left out"},
    ),
    Group(
        "genverify.disclosure.page_command:add_parser",
        {"page": "write the page that audits a table in a browser, without a network"},
    ),
    Group(
        "genverify.papers.cellbounds.command:add_parser",
        {"bounds": "bound every cell count from conditional or marginal tables"},
    ),
    Group(
        "genverify.run.commands:add_check",
        {"check": "check every proof of a study, in exact integers and without a solver"},
    ),
    Group(
        "genverify.run.commands:add_parser",
        {
            "explain": "say which published cells force a claim about a block",
            "excluded": "say which counts of records of a block cannot exist",
            "check-ppmf": "check a PPMF file against the layout that is read",
            "probability": "say how likely a claim about a block is, given its release and a prior",
            "progress": "say how far the study that runs in a folder is, until it is done",
            "check-housing": "check the proofs of the blocks that must hold a violation",
        },
        study=True,
    ),
    Group(
        "genverify.run.commands:add_export",
        {
            "export": "write proofs in the formats of other checkers: VIPR, OPB with VeriPB, SMT-LIB, Coq",
            "check-vipr": "check VIPR certificates of any program, in rational numbers",
        },
    ),
    Group(
        "genverify.run.provenance.command:add_audit",
        {"audit": "walk from results back to the raw data; check every file, setting and proof"},
        study=True,
    ),
    Group(
        "genverify.run.reference.command:add_parser",
        {"reference": "say, without a run, whether docs/reference is current; or make it"},
        study=True,
    ),
    Group(
        "genverify.run.estimate:add_parser",
        {"estimate": "estimate from surveys what the built-in country is made of"},
        study=True,
    ),
    Group(
        "genverify.run.schema:add_parser",
        {"config-schema": "print the JSON schema of files of settings, for editors"},
    ),
    Group(
        "genverify.run.rooms:add_parser",
        {"rooms": "print the rooms of the library, their imports and every module (Markdown)"},
    ),
    Group(
        "genverify.run.completion:add_parser",
        {"completion": "print what makes bash or zsh complete commands and options"},
    ),
)


def parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """The parser of the command that the words ask for; without words, of all commands."""
    codes = "\n".join(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items())
    made = argparse.ArgumentParser(
        prog="genverify",
        description=ABOUT,
        epilog=f"exit codes:\n{codes}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action=_Version, nargs=0, help="the versions of the program and of its solvers")
    build(made, GROUPS, words)
    return made


class _Version(argparse.Action):
    """Print the versions and end."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from genverify.run.versions import version_lines

        print("\n".join(version_lines()))
        parser.exit()
