"""What every stage shares: the checked configuration, settings per variant, code as input, targets."""

from pathlib import Path

from snakemake.exceptions import WorkflowError

from genverify.code import code_digest
from genverify.config import parse_config, settings_of
from genverify.errors import GenverifyError
from genverify.releases.form import source_of
from genverify.study import check_study
from genverify.textfiles import read_yaml

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
EXAMPLES = (
    ["figures/fig1.pdf", "results/tables/table1.csv"]
    if STUDY.microdata.source == "synthetic"
    else []
)
FIGURES = [
    f"figures/{name}.pdf"
    for name in ("fig2", "fig3", "fig4", "fig5", "solvar", "candidates")
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
]


wildcard_constraints:
    variant="|".join(VARIANTS),
    batch=r"\d\d\d+",
    reading="|".join(STUDY.persons.readings),
    release="|".join(STUDY.releases) or "none",


def setting(section):
    """The settings of a section, as the job's variant has them."""

    def of_job(wildcards):
        return settings_of(STUDY, section, wildcards.get("variant"))

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


def code_of(name):
    """The digest of a script and every module that it imports, so that a change of their content runs the job again."""
    return code_digest(Path(workflow.basedir) / "scripts" / f"{name}.py")


def file_named(path, setting_name):
    """The file that a setting names; if it names none, an error once a job wants it."""

    def of_job(wildcards):
        if not path:
            raise WorkflowError(
                f"config.yaml: {setting_name} must give the path of a file for this target"
            )
        return path

    return of_job
