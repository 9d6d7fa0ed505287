"""What generate-then-verify and the studies around it contribute."""

from genverify.run.registry import ProofKind, Study
from genverify.run.shell import Group

STUDY = Study(
    settings={
        "protected": ".protected.settings:Protected",
        "zeros": ".zeros.settings:Zeros",
        "generators": ".generators.settings:Generators",
        "excluded": ".excluded.settings:Excluded",
        "probability": ".probability.settings:Probability",
        "tracts": ".tracts.settings:Tracts",
        "benchmark.ingest": ".benchmark.settings:IngestBenchmark",
        "benchmark.speed": ".benchmark.settings:SpeedBenchmark",
        "benchmark.scaling": ".benchmark.settings:ScalingBenchmark",
        "benchmark.blocks": ".benchmark.settings:BlocksBenchmark",
        "benchmark.same": ".benchmark.settings:SameBenchmark",
        "benchmark.counting": ".probability.settings:CountingBenchmark",
        "benchmark.estimate": ".probability.settings:EstimateBenchmark",
    },
    folders=("protected", "zeros", "generators", "probability", "tracts"),
    names=".configuration:names",
    settings_check=".configuration:check_settings",
    possible=".configuration:can_be_made",
    parts={"protection": ".configuration:protection_of"},
    proofs={
        "tracts": ProofKind(
            ("blocks", "tracts", "block_counts", "tract_counts", "claims", "areas", "whole", "proofs"),
            ".tracts.recheck:check_job",
            "{tracts} tracts, {tract_blocks} blocks, {tract_claims} claims",
            {"of_one_level": "that block tables or tract tables alone show {} claims rests on the solver, without proof"},
        )
    },
    extends={"explain": ".tracts.explain_command:extend"},
    commands=(
        Group(
            ".excluded.command:add_parser",
            {"excluded": "say which counts of records of a block cannot exist"},
            study=True,
        ),
    ),
)
