"""What every stage shares: the checked configuration, settings per variant, code as input, targets."""

import gc
from pathlib import Path

from snakemake.exceptions import WorkflowError

from genverify.run.code import code_digest, find_script, keep_digests
from genverify.model.errors import GenverifyError
from genverify.run.config import can_be_made, complete, run_folder, settings_of
from genverify.run.registry import stage_files
from genverify.model.files import read_yaml
from genverify.run.layout import REFERENCE_TOOL, link_shipped, load

# what Snakemake and the stages build stays until the end: looked through less often, which is a tenth of their time
gc.set_threshold(50_000, 20, 100)
# the folder of this file, whichever of the two Snakefiles is the main one
HERE = Path(workflow.current_basedir.get_path_or_uri(secret_free=False))
# what --config says besides settings: the folder of the study, what `plan` is about, the variants that are compared
CHOICES = {
    name: config.pop(name, None) for name in ("study", "target", "first", "second")
}

try:
    for path in workflow.configfiles:
        # Snakemake takes the last of two equal keys; this says so
        read_yaml(Path(path))
    if folder := run_folder(CHOICES["study"], workflow.overwrite_workdir):
        workflow.workdir(str(folder))
    link_shipped(HERE.parent, Path())
    STUDY = complete(config, workflow.config_settings.config or {})
except GenverifyError as error:
    raise WorkflowError(str(error)) from None

VARIANTS = sorted(STUDY.variants)
# categories of the report; a study names its own
BEYOND, BENCHMARKS = "Beyond the papers", "Benchmarks"
# what studies add: targets of rule all, and names of rules that ask for all that a study makes
DEFAULT, WHOLE = [], []
CAPTIONS = load(f"{REFERENCE_TOOL}:find_captions")(HERE)
SCRIPTS = HERE.parent / "scripts"
keep_digests(SCRIPTS)
# the tables of the report by what asks for their pages, from report.yaml of every folder
PAGES = load(f"{REFERENCE_TOOL}:read_pages")(HERE)
LABELS = {"variant": "paper", "data": STUDY.microdata.source}


wildcard_constraints:
    variant="|".join(VARIANTS),
    batch=r"\d\d\d+",


def setting(section):
    """The settings of a section, as the job's variant has them."""

    def of_job(wildcards):
        return settings_of(STUDY, section, wildcards.get("variant"))

    return of_job


def tables_file(wildcards):
    """The table file of the job's variant."""
    return setting("release")(wildcards)["tables_file"]


def shown(path, label, category, caption=None, **labels):
    """A figure that stands in the report, with the caption of its name or the one named; the label may depend on the job."""

    def of_job(wildcards):
        variant = Path(wildcards.get("folder", "")).name or LABELS["variant"]
        return {"result": label(wildcards), **LABELS, "variant": variant, **labels}

    return report(
        path,
        caption=str(CAPTIONS[caption or Path(path).stem]),
        category=category,
        subcategory="Figures",
        labels=of_job if callable(label) else {"result": label, **LABELS, **labels},
    )


def code_of(name):
    """The digest of a script and of every definition that it reaches, so that a change of one runs the job again."""
    return code_digest(find_script(SCRIPTS, name))


include: "inputs.smk"
