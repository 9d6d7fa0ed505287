"""
Reads: results/microdata/ (synthetic households) or the PPMF person file that config.yaml names.
Writes: results/persons/, one Parquet file per state: the private persons; results/tables/person_queries.csv, what is published about them;
results/tables/persons_verified.csv, claims tried on person records that the user has.
"""

PERSON_SOURCE = (
    "results/microdata"
    if STUDY.microdata.source == "synthetic"
    else file_named(STUDY.microdata.ppmf.persons, "microdata.ppmf.persons")
)


rule ingest_persons:
    """Make the private persons: those who fit the synthetic households, or the PPMF person file."""
    input:
        source=PERSON_SOURCE,
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


rule verify_persons:
    """Prove claims from the person tables of small blocks, check them against the records, and rank by RAP-RANK beside them."""
    input:
        records=file_named(STUDY.persons.records, "persons.records"),
        domain=STUDY.persons.domain,
        tables=STUDY.persons.release.tables_file,
    output:
        table="results/tables/persons_verified.csv",
        record="results/tables/persons_verified.record.json",
    log:
        "logs/verify_persons.log",
    benchmark:
        "benchmarks/verify_persons.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("verify_persons"),
        release=setting("persons.release"),
        bands=setting("persons.bands"),
        claims=setting("persons.claims"),
        program=setting("program"),
        rap=setting("raprank.rap"),
        seed=setting("seed"),
    script:
        "../scripts/verify_persons.py"
