"""What audits of tables contribute: releases of users, rounded tables of areas, and benchmarks of audits."""

from genverify.run.registry import Study

STUDY = Study(
    settings={
        "nz": ".settings:AreaSettings",
        "benchmark.audits": ".settings:DisclosureBenchmark",
        "benchmark.suppression": ".settings:SuppressionBenchmark",
        "benchmark.tables": ".settings:TablesBenchmark",
    },
    folders=("disclosure", "nz"),
)
