"""What generate-then-verify and the studies around it contribute."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from genverify.run.cli.shell import Group
from genverify.run.registry import ProofKind, Study

STUDY = Study(
    settings={
        "protected": ".settings:Protected",
        "zeros": ".settings:Zeros",
        "generators": ".settings:Generators",
        "excluded": ".settings:Excluded",
        "probability": ".settings:Probability",
        "tracts": ".settings:Tracts",
        "benchmark.ingest": ".settings:IngestBenchmark",
        "benchmark.speed": ".settings:SpeedBenchmark",
        "benchmark.scaling": ".settings:ScalingBenchmark",
        "benchmark.blocks": ".settings:BlocksBenchmark",
        "benchmark.same": ".settings:SameBenchmark",
        "benchmark.counting": ".settings:CountingBenchmark",
        "benchmark.estimate": ".settings:EstimateBenchmark",
    },
    folders=("protected", "zeros", "generators", "probability", "tracts"),
    pages=("probability.md", "tracts.md"),
    names=".configuration:names",
    settings_check=".configuration:check_settings",
    possible=".configuration:can_be_made",
    parts={"protection": ".configuration:protection_of"},
    proofs={
        "tracts": ProofKind(
            ("blocks", "tracts", "block_counts", "tract_counts", "claims", "areas", "whole", "proofs"),
            ".tract_proofs:check_job",
            "{tracts} tracts, {tract_blocks} blocks, {tract_claims} claims",
            {"of_one_level": "that block tables or tract tables alone show {} claims rests on the solver, without proof"},
        )
    },
    extends={"explain": ".study:extend_explain"},
    commands=(
        Group(
            ".impossible_counts:add_parser",
            {"excluded": "say which counts of records of a block cannot exist"},
            study=True,
        ),
    ),
)


def extend_explain(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], Iterator[str] | None]:
    """Add `--tracts`; the lines of the answer where it is given. Here, as `explain` alone needs no pyarrow."""
    parser.add_argument("--tracts", type=Path, help="results about whole tracts, e.g. results/tracts/synthetic_persons/bins")
    return _explain


def _explain(options: argparse.Namespace) -> Iterator[str] | None:
    if not options.tracts:
        return None
    from studies.gtv.tract_proofs import explain_in_tract

    return explain_in_tract(options.tracts, options.block, options.claim)
