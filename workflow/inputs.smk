"""
Reads: nothing.
Writes: nothing: what a rule takes where a name is not enough, as functions of its wildcards. Rules stand elsewhere, as Snakemake advises.
"""


def file_named(path, setting_name):
    """The file that a setting names; if it names none, an error once a job wants it."""
    # microdata.ppmf.persons is microdata={ppmf: {persons: ...}} on the command line
    section, *names = setting_name.split(".")
    inner = ": {".join(names) + ": mine.csv" + "}" * len(names)
    remedy = f"--config '{section}={{{inner}'"

    def of_job(wildcards):
        if not path:
            raise WorkflowError(
                f"{setting_name} is not set: this target needs a file of yours; give its path, {remedy}"
            )
        return path

    return of_job


def file_of_page(wildcards):
    """The table that a page shows."""
    return TABLE_PAGES[wildcards.page]["file"]


def labels_of_page(wildcards):
    """What the report says of a table in its list."""
    page = TABLE_PAGES[wildcards.page]
    variant = page.get("variant", LABELS["variant"])
    return {**LABELS, "result": page["label"], "variant": variant}


def category_of_page(wildcards):
    """The part of the report that a table stands in."""
    return TABLE_PAGES[wildcards.page]["category"]


def caption_of_page(wildcards):
    """The caption of a table."""
    return TABLE_PAGES[wildcards.page]["caption"]


def everything_of_studies(wildcards):
    """The targets of all studies; looked up when asked for, since rules come later."""
    return [target for name in WHOLE for target in getattr(rules, name).input]


def release_file(wildcards):
    """The file that describes a release."""
    return STUDY.releases[wildcards.release]


def release_source(wildcards):
    """The microdata or counts that it names, and the tables of weights of its priors."""
    path = Path(STUDY.releases[wildcards.release])
    return [str(source_of(path)), *map(str, prior_files(path))]


def nz_file(name):
    """A file of the user, by its setting."""

    def of_job(wildcards):
        path = getattr(STUDY.nz, name)
        if not path:
            raise WorkflowError(
                f"nz.{name} is not set: give the paths of your files, snakemake nz --configfile mine.yaml (see config/nz.yaml)"
            )
        return path

    return of_job
