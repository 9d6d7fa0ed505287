"""What the built-in country, the census files and the blocks and persons of both contribute."""

from pathlib import Path

from genverify.run.cli.shell import Group
from genverify.run.registry import Study

DATA, DOMAIN = Path("data/synthetic"), Path("data/census/domain.yaml")
BLOCK_LAYOUTS = Path("data/census/block_layouts.yaml")
STORES = {"households": Path("results/microdata"), "persons": Path("results/persons")}

STUDY = Study(
    foundation=True,
    settings={"microdata": ".settings:Microdata", "sample": ".settings:Sample", "persons": ".settings:Persons"},
    folders=("microdata", "sample", "ppmf", "persons", "persons_trial"),
    names=".configuration:names",
    settings_check=".configuration:check_settings",
    files_check=".configuration:check_files",
    private=".configuration:refuse_private",
    commands=(Group(".ppmf:add_parser", {"check-ppmf": "check a PPMF file against the layout that is read"}, study=True),),
)
