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


def number_of(wildcards):
    """What the paper calls a figure: fig3 is Figure 3, a4 is Figure A.4."""
    name = wildcards.get("curve") or wildcards.spread
    return {"fig2": "Figure 2", "fig3": "Figure 3"}.get(
        name, f"Figure {name[0].upper()}.{name[1:]}"
    )


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


def all_papers(wildcards):
    """The targets of the five papers; looked up when asked for, since `all` comes last."""
    papers = (rules.all, rules.raprank, rules.cellbounds, rules.housing, rules.privacy)
    return [target for paper in papers for target in paper.input]


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


def protection_part(*names):
    """Some settings of the job's protection."""

    def of_job(wildcards):
        protection = STUDY.protected.protections[wildcards.protection].model_dump()
        return {name: protection[name] for name in names}

    return of_job


def of_countries(name):
    """A file of every country."""
    return [
        f"results/generators/{likeness}/{seed}/{name}" for likeness, seed in COUNTRIES
    ]


def records_of_tracts(wildcards):
    """The synthetic persons or households, or the file of records that the settings name."""
    if wildcards.source == "records":
        return file_named(STUDY.tracts.records, "tracts.records")(wildcards)
    return (
        "results/persons"
        if wildcards.source == "synthetic_persons"
        else "results/microdata"
    )


def tract_tables_of(source):
    """What is published about the records of a source."""
    households = source == "synthetic_households"
    return (
        STUDY.tracts.households if households else STUDY.tracts.persons
    ).model_dump()


def tract_tables_part(name):
    """One setting of what is published about the records of a job's source."""

    def of_job(wildcards):
        return tract_tables_of(wildcards.source)[name]

    return of_job


def of_tract_batches(folder, suffix):
    """A file of every batch of tracts of a job's source."""

    def of_job(wildcards):
        where = f"results/tracts/{wildcards.source}/{wildcards.reading}/{folder}"
        return [
            f"{where}/{batch:03d}.{suffix}"
            for batch in range(TRACT_BATCHES[wildcards.source])
        ]

    return of_job
