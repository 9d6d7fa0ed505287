"""
Reads: results/microdata/ (synthetic households) or the PPMF person file that config.yaml names.
Writes: results/persons/, one Parquet file per state: the private persons; results/tables/person_queries.csv, what is published about them;
results/persons_trial/ and results/tables/persons_verified.csv, claims tried on person records that the user has.
"""


wildcard_constraints:
    reading="|".join(STUDY.persons.readings),


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
        "../scripts/microdata/ingest_persons.py"


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
        "../scripts/microdata/write_person_file.py"


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
        "../scripts/raprank/write_person_queries.py"


rule verify_persons:
    """Prove claims from the person tables of small blocks, and check them against the records, with a column read in one way."""
    input:
        records=file_named(STUDY.persons.records, "persons.records"),
        domain=STUDY.persons.domain,
        tables=STUDY.persons.release.tables_file,
    output:
        claims="results/persons_trial/{reading}.claims.csv",
        record="results/persons_trial/{reading}.claims.record.json",
    log:
        "logs/verify_persons/{reading}.log",
    benchmark:
        "benchmarks/verify_persons/{reading}.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("verify_persons"),
        release=setting("persons.release"),
        readings=setting("persons.readings"),
        claims=setting("persons.claims"),
        program=setting("program"),
        seed=setting("seed"),
    script:
        "../scripts/gtv/verify_persons.py"


rule weigh_persons:
    """The probability of claims about the persons of some of these blocks under each prior, and how well it is calibrated."""
    input:
        records=file_named(STUDY.persons.records, "persons.records"),
        domain=STUDY.persons.domain,
        tables=STUDY.persons.release.tables_file,
    output:
        table="results/persons_trial/{reading}.probabilities.csv",
        record="results/persons_trial/{reading}.probabilities.record.json",
    log:
        "logs/weigh_persons/{reading}.log",
    benchmark:
        "benchmarks/weigh_persons/{reading}.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("weigh_persons"),
        release=setting("persons.release"),
        readings=setting("persons.readings"),
        claims=setting("persons.claims"),
        probability=setting("probability"),
        program=setting("program"),
        seed=setting("seed"),
    script:
        "../scripts/gtv/weigh_persons.py"


rule rank_persons:
    """Rank the persons of some of these blocks by RAP-RANK, and compare with the records."""
    input:
        records=file_named(STUDY.persons.records, "persons.records"),
        domain=STUDY.persons.domain,
        tables=STUDY.persons.release.tables_file,
    output:
        rates="results/persons_trial/{reading}.ranked.csv",
        record="results/persons_trial/{reading}.ranked.record.json",
    log:
        "logs/rank_persons/{reading}.log",
    benchmark:
        "benchmarks/rank_persons/{reading}.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("rank_persons"),
        release=setting("persons.release"),
        readings=setting("persons.readings"),
        claims=setting("persons.claims"),
        rap=setting("raprank.rap"),
        seed=setting("seed"),
    script:
        "../scripts/raprank/rank_persons.py"


rule write_persons_verified:
    """What the tables prove about known persons, by the number of columns, beside RAP-RANK's mean match rate."""
    input:
        claims=expand(
            "results/persons_trial/{reading}.claims.csv",
            reading=STUDY.persons.readings,
        ),
        ranked=expand(
            "results/persons_trial/{reading}.ranked.csv",
            reading=STUDY.persons.readings,
        ),
    output:
        table="results/tables/persons_verified.csv",
        readable="results/tables/persons_verified.md",
        record="results/tables/persons_verified.record.json",
    log:
        "logs/write_persons_verified.log",
    benchmark:
        "benchmarks/write_persons_verified.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("write_persons_verified"),
        records=setting("persons.records"),
    script:
        "../scripts/gtv/write_persons_verified.py"
