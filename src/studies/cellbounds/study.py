"""What the paper on cell bounds contributes."""

from genverify.run.registry import Study

STUDY = Study(
    settings={
        "cellbounds": ".settings:Cellbounds",
        "benchmark.cellbounds": ".settings:CellboundsBenchmark",
        "benchmark.marginals": ".settings:MarginalsBenchmark",
    },
)
