"""Where the repository keeps things: the only module of the library that names its folders and files."""

import os
import shutil
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from genverify.model.errors import DataError

RESULTS, FIGURES, LOGS = Path("results"), Path("figures"), Path("logs")
SETTINGS, PARTS = Path("config.yaml"), Path("config")
SOURCE, STUDIES, STUDY_TESTS = Path("src"), Path("src/studies"), Path("tests/studies")
LIBRARY, READER_CODE, READER_TESTS = Path("src/genverify"), Path("src/genverify/reading"), Path("tests/reading")
SCHEMA, MODULES, ABLATIONS = PARTS / "schema.json", Path("docs/modules.md"), PARTS / "ablations.yaml"
SNAKEFILE, STAGES, SCRIPTS = Path("Snakefile"), Path("workflow"), Path("scripts")
TIMES = STAGES / "times.yaml"
REFERENCE = Path("docs/reference")
# which `load` finds; not in the wheel
REFERENCE_TOOL, MODULES_TOOL, SKELETONS_TOOL = "docs/reference_set.py", "docs/modules.py", "docs/skeletons.py"
VIPR_TOOL = "docs/vipr_checker.py"
LOCK, SOURCES = Path("envs/requirements.lock"), Path("data/sources.csv")

STUDY = RESULTS / "paper"  # the variant that is looked at unless another is named
SAMPLE = RESULTS / "sample" / "blocks.parquet"
TABLES = RESULTS / "tables"
RUNS, OF_STUDY = Path("runs"), Path("study.yaml")  # a folder for each study beside this one; its settings that differ
MADE = (RESULTS, FIGURES, LOGS, Path("benchmarks"), RUNS)
# private data, which studies have in common; Snakemake's notes of what they were made with
PRIVATE, NOTES = ("microdata*", "persons*", "raprank/survey"), Path(".snakemake/metadata")
# what the jobs of a study read by its place in the repository
SHIPPED = (SETTINGS, PARTS, Path("data"), Path("envs"), Path("examples"), SCRIPTS, SNAKEFILE, Path("src"), STAGES)


def link_shipped(root: Path, folder: Path) -> None:
    """Links in a folder of results elsewhere (--directory, a module, snakedeploy) to what is shipped and it lacks."""
    if root.samefile(folder):
        return
    deployed = {SETTINGS: PARTS / SETTINGS, SNAKEFILE: STAGES / SNAKEFILE}  # where snakedeploy puts its own
    has = {path for path, instead in deployed.items() if (folder / instead).exists()}
    for path in (path for path in SHIPPED if path not in has):
        below = folder / path
        inside = below.is_dir() and not below.is_symlink() and not below.samefile(root / path)
        for part in [path / file.name for file in (root / path).iterdir()] if inside else [path]:
            with suppress(FileExistsError):
                (folder / part).symlink_to(root / part)


def start_run(name: str) -> Path:
    """The folder of a study beside others, with links to all files here that no job made, and to the private data."""
    folder = RUNS / name
    # the same files under a second name: jobs delete what they write anew, so neither study changes what the other has
    if not (folder / RESULTS).exists():
        for part in (RESULTS, NOTES.with_name("incomplete")):
            (folder / part).mkdir(parents=True)
        for source in (path for pattern in PRIVATE for path in sorted(RESULTS.glob(pattern))):
            (folder / source).parent.mkdir(exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, folder / source, copy_function=os.link)
            else:
                os.link(source, folder / source)
        if NOTES.is_dir():
            shutil.copytree(NOTES, folder / NOTES)
    for path in Path().iterdir():
        if path not in MADE and not path.name.startswith("."):
            with suppress(FileExistsError):
                (folder / path).symlink_to(path.absolute())
    return folder


def load(name: str) -> Any:
    """What `module:name` stands for, or `docs/file.py:name`: a tool of the repository, which the wheel has not."""
    module, _, value = name.partition(":")
    if module.endswith(".py"):
        tool = Path(__file__).parents[3] / module  # where the library is installed from its source, src/genverify/run
        if not tool.is_file():
            raise DataError(
                f"{module} does not belong to the package: do this in a clone of the repository, installed from it"
            )
        sys.path += {str(tool.parent)}.difference(sys.path)
        module = tool.stem
    return getattr(import_module(module), value)


def repository() -> Path:
    """The folder of the repository, also where the current folder has links to it."""
    return SOURCE.resolve().parent
