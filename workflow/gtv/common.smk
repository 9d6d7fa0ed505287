"""
Reads: the sections of generate-then-verify and of the studies around it in config/.
Writes: nothing; what their stages share: targets of `all`, and inputs where a name is not enough, as functions of wildcards.
"""

from genverify.model.errors import nearest

IN_PAPER = "Generate-then-verify"
# what a target can name besides its number: a variant as a folder, a design behind it (figures/no_ones/fig3_state_median.pdf)
DESIGNS = [
    name
    for names in (STUDY.sample.designs, STUDY.sample.all_blocks)
    for name, design in names.items()
    if design
]


wildcard_constraints:
    folder="|".join(["", *(f"{name}/" for name in VARIANTS)]),
    only="|".join(["", *(f"_{name}" for name in DESIGNS)]),
    first="|".join(VARIANTS),
    second="|".join(VARIANTS),


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
DEFAULT += [*FIGURES, *TABLES, *EXAMPLES]
WHOLE.append("all")


def of_variant(name):
    """A file of the variant that a target names as a folder; of the study itself where it names none."""

    def of_job(wildcards):
        return f"results/{wildcards.folder or 'paper/'}{name}"

    return of_job


def figure_of(wildcards):
    """The figure in words, and the one design that it shows."""
    only = wildcards.only.replace("_", " ").strip()
    return f"Figure {wildcards.get('number', 4)}{f', {only}' if only else ''}"


def both_of(wildcards):
    """The two variants that a figure compares."""
    return f"{wildcards.first} and {wildcards.second}"


def compared(wildcards):
    """The two variants that `snakemake compare --config first=paper second=no_ones` names."""
    for name in ("first", "second"):
        if CHOICES[name] not in VARIANTS:
            known = nearest(CHOICES[name], VARIANTS)
            raise WorkflowError(
                f"compare: {name}={CHOICES[name]} is no variant: {known}. Two are compared: "
                "snakemake compare --config first=paper second=no_ones"
            )
    return f"results/tables/compare/{CHOICES['first']}/{CHOICES['second']}.csv"


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
