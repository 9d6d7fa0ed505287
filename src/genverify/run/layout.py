"""Where the repository keeps things: the only module of the library that names its folders and files."""

from contextlib import suppress
from pathlib import Path

RESULTS, FIGURES, LOGS = Path("results"), Path("figures"), Path("logs")
SETTINGS, PARTS = Path("config.yaml"), Path("config")
SOURCE, STUDIES, STUDY_TESTS = Path("src"), Path("src/studies"), Path("tests/studies")
LIBRARY, READER_CODE, READER_TESTS = Path("src/genverify"), Path("src/genverify/reading"), Path("tests/reading")
SCHEMA, MODULES = PARTS / "schema.json", Path("docs/modules.md")
SNAKEFILE, STAGES, SCRIPTS = Path("Snakefile"), Path("workflow"), Path("scripts")
TIMES = STAGES / "times.yaml"
REFERENCE = Path("docs/reference")
LOCK, SOURCES = Path("envs/requirements.lock"), Path("data/sources.csv")

STUDY = RESULTS / "paper"  # the variant that is looked at unless another is named
SAMPLE = RESULTS / "sample" / "blocks.parquet"
TABLES = RESULTS / "tables"
# what the jobs of a study read by its place in the repository
SHIPPED = (SETTINGS, PARTS, Path("data"), Path("envs"), Path("examples"), SCRIPTS, SNAKEFILE, Path("src"), STAGES)


def link_shipped(root: Path, folder: Path) -> None:
    """Links in a folder of results elsewhere to what the repository ships; what stands there already is left."""
    if root.samefile(folder):
        return
    for path in SHIPPED:
        with suppress(FileExistsError):
            (folder / path).symlink_to(root / path)


def repository() -> Path:
    """The folder of the repository, also where the current folder has links to it."""
    return SNAKEFILE.resolve().parent
