"""What generate-then-verify and the studies around it contribute."""

from genverify.model.proof_form import AREAS
from genverify.run.cli.shell import Group
from genverify.run.registry import ProofKind, Study

STUDY = Study(
    settings={
        "protected": ".settings:Protected",
        "zeros": ".settings:Zeros",
        "generators": ".settings:Generators",
        "hierarchical": ".settings:HierarchicalNoise",
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
    folders=("protected", "zeros", "generators", "hierarchical", "probability", "tracts"),
    pages=("noise.md", "probability.md", "tracts.md"),
    names=".configuration:names",
    settings_check=".configuration:check_settings",
    possible=".configuration:can_be_made",
    proofs={
        "tracts": ProofKind(
            AREAS,
            ("blocks", "tracts", "block_counts", "tract_counts", "claims", "areas", "whole", "proofs"),
            ".tract_proofs:check_job",
            ".tract_proofs:open_job",
            "{tracts} tracts, {tract_blocks} blocks, {tract_claims} claims",
            {"of_one_level": "that block tables or tract tables alone show {} claims rests on the solver, without proof"},
            ".tract_proofs:explain_job",
        )
    },
    commands=(
        Group(
            ".impossible_counts:add_parser",
            {"excluded": "say which counts of records of a block cannot exist"},
            study=True,
        ),
    ),
)
