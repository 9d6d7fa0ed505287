"""What the paper on subsidized housing contributes."""

from pathlib import Path

from genverify.run.cli.shell import Group
from genverify.run.registry import ProofKind, Study

DATA = Path("data/housing")

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
    extends={"export": ".check:extend_export"},
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
