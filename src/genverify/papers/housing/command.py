"""The command `check-housing`, and what `export` does with the proofs of a condition."""

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genverify.papers.housing.study import DATA

if TYPE_CHECKING:
    from genverify.core.release import Release
    from genverify.papers.housing.attack.check import Detection

READINGS = ["appendix_e", "exact"]
STATISTICS = "statistics.parquet"
Blocks = Iterator[tuple["Release", Mapping[str, Any]]]


def add_parser(commands: Any) -> None:
    """Add `check-housing` to the commands."""
    housing = commands.add_parser("check-housing", help="check the proofs of the blocks that must hold a violation")
    housing.add_argument("folder", type=Path, help="results of a condition, e.g. results/housing/none")
    housing.add_argument("--reading", choices=READINGS, default=READINGS[0], help="(%(default)s)")
    housing.add_argument("--data", type=Path, default=DATA, help="domain and published (%(default)s)")
    housing.set_defaults(run=_check_housing)


def extend_export(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], "Blocks | None"]:
    """Add `--reading`; the blocks where the proofs are of violations in housing."""
    parser.add_argument("--reading", choices=READINGS, default=READINGS[0],
                        help="of housing statistics, if proofs lie by statistics.parquet (%(default)s)")  # fmt: skip
    return _certified


def _certified(options: argparse.Namespace) -> "Blocks | None":
    """The certificates of the blocks that must hold a violation, each with its release."""
    from genverify.papers.housing.attack.check import certified_parts

    if options.proofs.is_dir() or not options.proofs.with_name(STATISTICS).exists():
        return None
    return certified_parts(_detection(options.proofs.parent, DATA, options.reading))


def _check_housing(options: argparse.Namespace) -> None:
    from genverify.papers.housing.attack.check import check_detection

    started = time.monotonic()
    total = check_detection(_detection(options.folder, options.data, options.reading))
    proved = f"{total['violation']} blocks with a violation, {total['contradiction']} with counts that contradict each other"
    print(f"{proved}: all proofs right ({time.monotonic() - started:.1f} s)")
    print(f"{total['possible']} blocks possible, {total['undecided']} undecided: without a proof, as they claim nothing")


def _detection(home: Path, data: Path, reading: str) -> "Detection":
    from genverify.papers.housing.attack.check import Detection

    statistics, blocks, proofs = (home / name for name in (STATISTICS, "blocks.parquet", "proofs.jsonl.gz"))
    return Detection(statistics, blocks, proofs, data / "domain.yaml", data / "published.yaml", reading)
