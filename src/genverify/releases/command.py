"""The commands `audit-release` and `what-if`."""

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from genverify.releases.audit import Attack
    from genverify.releases.describe import Described


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add both commands to the command line."""
    audit = commands.add_parser("audit-release", help="say what the tables of a release give away")
    audit.add_argument(
        "--cells", action="store_true", help="only print the cells that the file describes, as a CSV to fill in"
    )
    audit.set_defaults(run=run_audit)
    tried = commands.add_parser("what-if", help="try the protections that a release file lists")
    tried.set_defaults(run=run_what_if)
    for parser in (audit, tried):
        parser.add_argument("release", type=Path, help="a release file (YAML), see examples/")
        parser.add_argument("--out", type=Path, help="folder of the results (a folder `audit` beside the release file)")


def run_audit(options: argparse.Namespace) -> None:
    """Audit a release and say in a few lines what came out."""
    from genverify.releases.describe import describe
    from genverify.releases.template import template
    from genverify.releases.write import write_audit

    started = time.monotonic()
    if options.cells:
        print(template(options.release), end="")
        return
    described = describe(options.release)
    folder = options.out or options.release.parent / "audit"
    found, search = write_audit(described, attack_of(described), folder)
    one, many = described.form.unit
    print(f"{described.people} {many}, {len(found.claims)} verified claims, {len(found.singles)} about exactly one {one}")
    remaining = f"{search.left} are left" + (f", {search.undecided} undecided" if search.undecided else "")
    print(f"withhold {len(search.steps)} cells: of {search.before} such claims with k >= {search.k}, {remaining}")
    print(f"{folder / 'report.html'} ({time.monotonic() - started:.1f} s)")


def run_what_if(options: argparse.Namespace) -> None:
    """Try the protections of a release and print the table."""
    from genverify.errors import ConfigError
    from genverify.releases.describe import describe
    from genverify.releases.write import write_what_if

    described = describe(options.release)
    if not described.form.protect:
        raise ConfigError(
            f"{options.release}: lists no protections to try; add protect, for instance protect: [{{suppress: 5}}]"
        )
    folder = options.out or options.release.parent / "audit"
    print(write_what_if(described, attack_of(described), folder).to_csv(index=False), end="")


def attack_of(described: "Described") -> "Attack":
    """The attack with the limits of the command line."""
    from genverify.explained import SETTINGS
    from genverify.releases.audit import DATASETS, Attack

    return Attack(SETTINGS, DATASETS, described.form.min_k, described.form.seed)
