"""
Reads: results/microdata/ (synthetic households) or the PPMF person file that config.yaml names.
Writes: results/persons/, one Parquet file per state: the private persons.
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
        "../../envs/environment.yaml"
    params:
        code=code_of("ingest_persons"),
        synthetic=setting("persons.synthetic"),
        group_quarters=setting("persons.group_quarters"),
        seed=setting("seed"),
    script:
        "../../scripts/country/ingest_persons.py"


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
        "../../envs/environment.yaml"
    params:
        code=code_of("write_person_file"),
    script:
        "../../scripts/country/write_person_file.py"
