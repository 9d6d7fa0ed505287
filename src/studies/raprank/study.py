"""What RAP-RANK contributes."""

from pathlib import Path

from genverify.run.registry import Study

RECORDS, SURVEY = Path("results/raprank/records"), Path("results/raprank/survey")
TASKS = Path("data/acs/tasks.yaml")

STUDY = Study(
    settings={"raprank": ".settings:RapRank", "benchmark.rap": ".settings:RapBenchmark"},
    folders=("raprank",),
    files_check=".configuration:check_experiments",
    left_out=".configuration:left_out",
)
