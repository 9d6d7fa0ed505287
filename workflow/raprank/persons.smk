"""
Reads: data/census/, and the file of person records that persons.records names.
Writes: results/tables/person_queries.csv, what is published about persons; results/persons_trial/*.ranked.csv, persons that the user has
records of, ranked by RAP-RANK.
"""


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
        "../../envs/environment.yaml"
    params:
        code=code_of("write_person_queries"),
        release=setting("persons.release"),
        tract_tables=setting("persons.tract_tables"),
    script:
        "../../scripts/raprank/write_person_queries.py"


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
        "../../envs/environment.yaml"
    params:
        code=code_of("rank_persons"),
        release=setting("persons.release"),
        readings=setting("persons.readings"),
        claims=setting("persons.claims"),
        rap=setting("raprank.rap"),
        seed=setting("seed"),
    script:
        "../../scripts/raprank/rank_persons.py"
