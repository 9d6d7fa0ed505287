"""
Reads: the file of person records that persons.records names.
Writes: results/persons_trial/ and results/tables/persons_verified.csv, claims tried on person records that the user has.
"""


wildcard_constraints:
    reading="|".join(STUDY.persons.readings),


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
        "../../envs/environment.yaml"
    params:
        code=code_of("verify_persons"),
        release=setting("persons.release"),
        readings=setting("persons.readings"),
        claims=setting("persons.claims"),
        program=setting("program"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/verify_persons.py"


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
        "../../envs/environment.yaml"
    params:
        code=code_of("weigh_persons"),
        release=setting("persons.release"),
        readings=setting("persons.readings"),
        claims=setting("persons.claims"),
        probability=setting("probability"),
        program=setting("program"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/weigh_persons.py"


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
        "../../envs/environment.yaml"
    params:
        code=code_of("write_persons_verified"),
        records=setting("persons.records"),
    script:
        "../../scripts/gtv/write_persons_verified.py"
