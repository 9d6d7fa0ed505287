"""What every stage shares: the checked configuration, settings per variant, code as input, targets."""

from pathlib import Path

from snakemake.exceptions import WorkflowError

from genverify.run.code import code_digest, find_script
from genverify.run.config import config_files, parse_config, settings_of
from genverify.core.errors import GenverifyError
from genverify.disclosure.form import source_of
from genverify.run.check import can_be_made, check_study
from genverify.core.files import read_yaml

for path in config_files(Path()):

    configfile: str(path)


try:
    for path in workflow.configfiles:
        read_yaml(
            Path(path)
        )  # Snakemake takes the last of two equal keys; this says so
    STUDY = parse_config(config)
    check_study(STUDY)
except GenverifyError as error:
    raise WorkflowError(str(error)) from None

VARIANTS = sorted(STUDY.variants)
BATCHES = [f"{batch:03d}" for batch in range(STUDY.sample.batches)]
EXAMPLES = [
    path
    for path in ("figures/fig1.pdf", "results/tables/table1.csv")
    if can_be_made(STUDY, Path(path).stem)
]
FIGURES = [
    f"figures/{name}.pdf"
    for name in ("fig2", "fig3", "fig4", "fig5", "solvar", "candidates")
    if can_be_made(STUDY, name)
]
TABLES = [
    f"results/tables/{name}.csv"
    for name in (
        "calibration",
        "table2",
        "table3",
        "table4",
        "table5",
        "table6",
        "table7",
        "numbers",
    )
    if can_be_made(STUDY, name)
]


IN_PAPER, RAP_RANK, CELL_BOUNDS = "Generate-then-verify", "RAP-RANK", "Cell bounds"
HOUSING, BEYOND, BENCHMARKS = "Subsidized housing", "Beyond the papers", "Benchmarks"
# the folder of this file, whichever of the two Snakefiles is the main one
HERE = Path(workflow.current_basedir.get_path_or_uri(secret_free=False))
CAPTIONS = HERE / "captions"
LABELS = {"variant": "paper", "data": STUDY.microdata.source}
# the tables of the report: file, name, category and, unless it is `paper`, variant
PAGES = {
    "table1": ("results/tables/table1.md", "Table 1", IN_PAPER),
    "table2": ("results/tables/table2.md", "Table 2", IN_PAPER),
    "table3": ("results/tables/table3.md", "Table 3", IN_PAPER),
    "table4": ("results/tables/table4.md", "Table 4", IN_PAPER),
    "table5": ("results/tables/table5.md", "Table 5", IN_PAPER, "all"),
    "table6": ("results/tables/table6.md", "Table 6", IN_PAPER),
    "table7": ("results/tables/table7.md", "Table 7", IN_PAPER),
    "numbers": ("results/tables/numbers.md", "Numbers of the text", IN_PAPER),
    "calibration": ("results/tables/calibration.csv", "Calibration", BEYOND),
    "proofs": ("results/paper/proofs.csv", "Proofs", BEYOND),
}
for number in (5, 8, 9):
    PAGES[f"cellbounds_table{number}"] = (
        f"results/tables/cellbounds_table{number}.csv",
        f"Cell bounds, Table {number}",
        CELL_BOUNDS,
    )
# tables that need runs of their own: asked for by rule raprank, not by rule all
RAPRANK_PAGES = {
    "person_queries": ("results/tables/person_queries.md", "Queries", RAP_RANK),
    "raprank": ("results/tables/raprank.md", "Match rates", RAP_RANK),
}
# tables of the housing study: asked for by rule housing
HOUSING_PAGES = {
    "housing_table1": ("results/tables/housing_table1.md", "Table 1", HOUSING),
    "housing_conditions": (
        "results/tables/housing_conditions.md",
        "All conditions",
        HOUSING,
    ),
    "housing_numbers": (
        "results/tables/housing_numbers.md",
        "Numbers of the text",
        HOUSING,
    ),
}
if STUDY.persons.records:
    RAPRANK_PAGES["persons_verified"] = (
        "results/tables/persons_verified.md",
        "Claims about persons",
        BEYOND,
    )


wildcard_constraints:
    variant="|".join(VARIANTS),
    batch=r"\d\d\d+",
    reading="|".join(STUDY.persons.readings),
    release="|".join(STUDY.releases) or "none",
    page="|".join([*PAGES, *RAPRANK_PAGES, *HOUSING_PAGES]),


def setting(section):
    """The settings of a section, as the job's variant has them."""

    def of_job(wildcards):
        return settings_of(STUDY, section, wildcards.get("variant"))

    return of_job


def protection_part(*names):
    """Some settings of the job's protection."""

    def of_job(wildcards):
        protection = STUDY.protected.protections[wildcards.protection].model_dump()
        return {name: protection[name] for name in names}

    return of_job


def tables_file(wildcards):
    """The table file of the job's variant."""
    return setting("release")(wildcards)["tables_file"]


def release_file(wildcards):
    """The file that describes a release."""
    return STUDY.releases[wildcards.release]


def release_source(wildcards):
    """The microdata or counts that it names."""
    return str(source_of(Path(STUDY.releases[wildcards.release])))


def shown(path, label, category, caption=None, **labels):
    """A figure that stands in the report, with the caption of its name or the one named; the label may depend on the job."""

    def of_job(wildcards):
        return {"result": label(wildcards), **LABELS, **labels}

    return report(
        path,
        caption=str(CAPTIONS / f"{caption or Path(path).stem}.rst"),
        category=category,
        subcategory="Figures",
        labels=of_job if callable(label) else {"result": label, **LABELS, **labels},
    )


def code_of(name):
    """The digest of a script and every module that it imports, so that a change of their content runs the job again."""
    return code_digest(find_script(HERE.parent / "scripts", name))


def file_named(path, setting_name):
    """The file that a setting names; if it names none, an error once a job wants it."""

    def of_job(wildcards):
        if not path:
            raise WorkflowError(
                f"config.yaml: {setting_name} must give the path of a file for this target"
            )
        return path

    return of_job


def page_of(wildcards):
    """File, name, category and variant of a page."""
    return {**PAGES, **RAPRANK_PAGES, **HOUSING_PAGES}[wildcards.page]


def file_of_page(wildcards):
    """The table that a page shows."""
    return page_of(wildcards)[0]


def labels_of_page(wildcards):
    """What the report says of a table in its list."""
    _, label, _, *variant = page_of(wildcards)
    return {"result": label, **LABELS, **({"variant": variant[0]} if variant else {})}


def category_of_page(wildcards):
    """The part of the report that a table stands in."""
    return page_of(wildcards)[2]


def caption_of_page(wildcards):
    """The caption of a table."""
    return (CAPTIONS / f"{wildcards.page}.rst").read_text()
