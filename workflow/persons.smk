"""
Reads: results/microdata/ (synthetic households) or the PPMF person file that config.yaml names.
Writes: results/persons/, one Parquet file per state: the private persons; results/tables/person_queries.csv, what is published about them;
results/tables/persons_verified.csv, claims tried on person records that the user has.
"""


def person_source(wildcards):
    """The synthetic households, or the person file."""
    if STUDY.microdata.source == "synthetic":
        return "results/microdata"
    if not STUDY.microdata.ppmf.persons:
        raise WorkflowError(
            "config.yaml: microdata.source is ppmf, so microdata.ppmf.persons must give the path of the person file"
        )
    return STUDY.microdata.ppmf.persons


rule ingest_persons:
    """Make the private persons: those who fit the synthetic households, or the PPMF person file."""
    input:
        source=person_source,
        domain=STUDY.persons.domain,
        synthetic=STUDY.persons.synthetic,
    output:
        persons=directory("results/persons"),
        manifest="results/persons.json",
        record="results/persons.record.json",
    log:
        "logs/ingest_persons.log",
    benchmark:
        "benchmarks/ingest_persons.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("ingest_persons"),
        synthetic=setting("persons.synthetic"),
        group_quarters=setting("persons.group_quarters"),
        seed=setting("seed"),
    script:
        "../scripts/ingest_persons.py"


rule write_person_file:
    """Write the persons in the layout of the PPMF person file, so that the other source can be tried on them."""
    input:
        persons="results/persons",
    output:
        persons="results/ppmf/persons.csv.gz",
        record="results/ppmf/persons.record.json",
    log:
        "logs/write_person_file.log",
    benchmark:
        "benchmarks/write_person_file.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("write_person_file"),
    script:
        "../scripts/write_person_file.py"


rule write_person_queries:
    """Count the published lines of the person tables by their number of columns, beside the paper's."""
    input:
        domain=STUDY.persons.domain,
        tables=STUDY.persons.release.tables_file,
        paper="data/papers/rap_rank.yaml",
    output:
        table="results/tables/person_queries.csv",
        readable="results/tables/person_queries.md",
        record="results/tables/person_queries.record.json",
    log:
        "logs/write_person_queries.log",
    benchmark:
        "benchmarks/write_person_queries.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("write_person_queries"),
        release=setting("persons.release"),
        tract_tables=setting("persons.tract_tables"),
    script:
        "../scripts/write_person_queries.py"
