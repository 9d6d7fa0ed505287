"""What the paper on subsidized housing contributes."""

from pathlib import Path

from genverify.run.registry import Study

DATA = Path("data/housing")
READINGS = ["appendix_e", "exact"]
STATISTICS = "statistics.parquet"

STUDY = Study(settings={"housing": ".settings:Housing"}, folders=("housing",), settings_check=".sources:check_settings")
