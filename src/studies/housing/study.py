"""What the paper on subsidized housing contributes."""

from pathlib import Path

from genverify.model.proof_form import HOUSING
from genverify.run.cli.shell import Group
from genverify.run.registry import ProofKind, Study

DATA = Path("data/housing")
READINGS = ["appendix_e", "exact"]
STATISTICS = "statistics.parquet"
ESTIMATE = "estimate from surveys what the built-in country is made of"

STUDY = Study(
    settings={"housing": ".settings:Housing", "benchmark.housing": ".settings:HousingBenchmark"},
    folders=("housing",),
    settings_check=".sources:check_settings",
    proofs={
        "housing": ProofKind(
            HOUSING,
            ("statistics", "housing_domain", "published", "blocks", "proofs"),
            ".check:check_job",
            ".check:open_job",
            "{flagged} flagged blocks of {conditions} conditions",
            explain=".check:explain_job",
        )
    },
    commands=(
        Group(
            ".check:add_parser", {"check-housing": "check the proofs of the blocks that must hold a violation"}, study=True
        ),
        Group(".estimate_command:add_parser", {"estimate": ESTIMATE}, study=True),
    ),
)
