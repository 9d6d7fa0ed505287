"""What the paper on subsidized housing contributes."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genverify.run.cli.shell import Group
from genverify.run.registry import ProofKind, Study

if TYPE_CHECKING:
    from genverify.model.release import Release

DATA = Path("data/housing")
READINGS = ["appendix_e", "exact"]
STATISTICS = "statistics.parquet"
Blocks = Iterator[tuple["Release", Mapping[str, Any]]]

STUDY = Study(
    settings={"housing": ".settings:Housing", "benchmark.housing": ".settings:HousingBenchmark"},
    folders=("housing",),
    settings_check=".configuration:check_settings",
    parts={"condition": ".configuration:condition_of"},
    proofs={
        "housing": ProofKind(
            ("statistics", "housing_domain", "published", "blocks", "proofs"),
            ".check:check_job",
            "{flagged} flagged blocks of {conditions} conditions",
        )
    },
    extends={"export": ".study:extend_export"},
    commands=(
        Group(
            ".check:add_parser", {"check-housing": "check the proofs of the blocks that must hold a violation"}, study=True
        ),
        Group(
            ".estimate_command:add_parser",
            {"estimate": "estimate from surveys what the built-in country is made of"},
            study=True,
        ),
    ),
)


def extend_export(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], "Blocks | None"]:
    """Add `--reading`; the blocks where the proofs are of violations in housing. Here, as `export` needs no pyarrow."""
    parser.add_argument("--reading", choices=READINGS, default=READINGS[0],
                        help="of housing statistics, if proofs lie by statistics.parquet (%(default)s)")  # fmt: skip
    return _certified


def _certified(options: argparse.Namespace) -> "Blocks | None":
    """The certificates of the blocks that must hold a violation, each with its release."""
    if options.proofs.is_dir() or not options.proofs.with_name(STATISTICS).exists():
        return None
    from studies.housing.check import certified_parts, detection_in

    return certified_parts(detection_in(options.proofs.parent, DATA, options.reading))
