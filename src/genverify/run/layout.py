"""Where the repository keeps things: the only module of the library that names its folders and files."""

from pathlib import Path

RESULTS, FIGURES, LOGS = Path("results"), Path("figures"), Path("logs")
SETTINGS, PARTS = Path("config.yaml"), Path("config")
SOURCE, STUDIES, STUDY_TESTS = Path("src"), Path("src/genverify/papers"), Path("tests/papers")
SCHEMA, ROOMS = PARTS / "schema.json", Path("docs/rooms.md")
SNAKEFILE, STAGES, SCRIPTS = Path("Snakefile"), Path("workflow"), Path("scripts")
REFERENCE = Path("docs/reference")
LOCK, SOURCES = Path("envs/requirements.lock"), Path("data/sources.csv")

STUDY = RESULTS / "paper"  # the variant that is looked at unless another is named
SAMPLE = RESULTS / "sample" / "blocks.parquet"
TABLES = RESULTS / "tables"
