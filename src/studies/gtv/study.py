"""What generate-then-verify and the studies around it contribute."""

from genverify.run.registry import Study

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
    pages=("ablations.md", "noise.md", "probability.md", "tracts.md"),
    names=".configuration:names",
    settings_check=".configuration:check_settings",
    possible=".configuration:can_be_made",
)
