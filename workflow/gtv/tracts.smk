"""
Reads: results/persons/ and results/microdata/ (synthetic persons and households), and the file of person records that config/tracts.yaml
may name.
Writes: results/tables/tracts.csv and .md, figures/tracts.pdf: what tables of blocks, of the tract, and both say about records;
results/tracts/: what is published, the claims verified from it with their proofs, and how they compare with the records. A target on
request, no part of `all`.
"""

TRACT_BATCHES = {
    "synthetic_persons": STUDY.tracts.synthetic_persons.tracts,
    "synthetic_households": STUDY.tracts.synthetic_households.tracts,
    "records": STUDY.tracts.batches,
}
TRACT_STUDIES = [
    f"{source}/{reading}"
    for source in TRACT_BATCHES
    if source != "records" or STUDY.tracts.records
    for reading in tract_tables_of(source)["readings"]
]


wildcard_constraints:
    source="|".join(TRACT_BATCHES),
    reading="|".join(
        [*STUDY.tracts.persons.readings, *STUDY.tracts.households.readings]
    ),


rule publish_tracts:
    """Publish the counts of some tracts and of their blocks, a column read as it is or in bins."""
    input:
        source=records_of_tracts,
        domain=tract_tables_part("domain"),
        tables=tract_tables_part("tables_files"),
    output:
        blocks="results/tracts/{source}/{reading}/blocks.json",
        tracts="results/tracts/{source}/{reading}/tracts.json",
        block_counts="results/tracts/{source}/{reading}/blocks.parquet",
        tract_counts="results/tracts/{source}/{reading}/tracts.parquet",
        records="results/tracts/{source}/{reading}/records.parquet",
        manifest="results/tracts/{source}/{reading}/manifest.json",
        record="results/tracts/{source}/{reading}/publish.record.json",
    log:
        "logs/publish_tracts/{source}/{reading}.log",
    benchmark:
        "benchmarks/publish_tracts/{source}/{reading}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("publish_tracts"),
        persons=setting("tracts.persons"),
        households=setting("tracts.households"),
        synthetic_persons=setting("tracts.synthetic_persons"),
        synthetic_households=setting("tracts.synthetic_households"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/publish_tracts.py"


rule attack_tracts:
    """Verify claims about the blocks of some tracts from block tables, tract tables, and both, every proof checked."""
    input:
        blocks="results/tracts/{source}/{reading}/blocks.json",
        tracts="results/tracts/{source}/{reading}/tracts.json",
        block_counts="results/tracts/{source}/{reading}/blocks.parquet",
        tract_counts="results/tracts/{source}/{reading}/tracts.parquet",
    output:
        claims="results/tracts/{source}/{reading}/claims/{batch}.parquet",
        areas="results/tracts/{source}/{reading}/areas/{batch}.parquet",
        whole="results/tracts/{source}/{reading}/whole/{batch}.parquet",
        proofs="results/tracts/{source}/{reading}/proofs/{batch}.jsonl.gz",
        record="results/tracts/{source}/{reading}/claims/{batch}.record.json",
    log:
        "logs/attack_tracts/{source}/{reading}/{batch}.log",
    benchmark:
        "benchmarks/attack_tracts/{source}/{reading}/{batch}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("attack_tracts"),
        persons=setting("tracts.persons"),
        households=setting("tracts.households"),
        synthetic_persons=setting("tracts.synthetic_persons"),
        synthetic_households=setting("tracts.synthetic_households"),
        batches=setting("tracts.batches"),
        program=setting("program"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/attack_tracts.py"


rule check_tracts:
    """Check the stored proofs about tracts again, from the files alone: the counts, the proofs, and the claims reported."""
    input:
        blocks="results/tracts/{source}/{reading}/blocks.json",
        tracts="results/tracts/{source}/{reading}/tracts.json",
        block_counts="results/tracts/{source}/{reading}/blocks.parquet",
        tract_counts="results/tracts/{source}/{reading}/tracts.parquet",
        claims=of_tract_batches("claims", "parquet"),
        proofs=of_tract_batches("proofs", "jsonl.gz"),
    output:
        checked="results/tracts/{source}/{reading}/checked.csv",
        record="results/tracts/{source}/{reading}/checked.record.json",
    log:
        "logs/check_tracts/{source}/{reading}.log",
    benchmark:
        "benchmarks/check_tracts/{source}/{reading}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("check_tracts"),
    script:
        "../../scripts/gtv/check_tracts.py"


rule judge_tracts:
    """Compare the claims about tracts with the records: which are true, whom they single out, what is missing."""
    input:
        claims=of_tract_batches("claims", "parquet"),
        areas=of_tract_batches("areas", "parquet"),
        whole=of_tract_batches("whole", "parquet"),
        checked="results/tracts/{source}/{reading}/checked.csv",
        records="results/tracts/{source}/{reading}/records.parquet",
        blocks="results/tracts/{source}/{reading}/blocks.json",
    output:
        missing="results/tracts/{source}/{reading}/missing.csv",
        judged="results/tracts/{source}/{reading}/judged.csv",
        whole="results/tracts/{source}/{reading}/whole.csv",
        record="results/tracts/{source}/{reading}/judged.record.json",
    log:
        "logs/judge_tracts/{source}/{reading}.log",
    benchmark:
        "benchmarks/judge_tracts/{source}/{reading}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("judge_tracts"),
    script:
        "../../scripts/gtv/judge_tracts.py"


rule write_tracts:
    """What block tables, tract tables and both say about persons: singled out, determined, by the number of columns."""
    input:
        judged=expand("results/tracts/{study}/judged.csv", study=TRACT_STUDIES),
        whole=expand("results/tracts/{study}/whole.csv", study=TRACT_STUDIES),
        missing=expand("results/tracts/{study}/missing.csv", study=TRACT_STUDIES),
        manifests=expand("results/tracts/{study}/manifest.json", study=TRACT_STUDIES),
        domain=STUDY.tracts.persons.domain,
        tables=STUDY.tracts.persons.tables_files,
    output:
        table="results/tables/tracts.csv",
        whole="results/tables/tracts_whole.csv",
        missing="results/tracts/missing.csv",
        readable="results/tables/tracts.md",
        record="results/tables/tracts.record.json",
    log:
        "logs/write_tracts.log",
    benchmark:
        "benchmarks/write_tracts.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_tracts"),
        tables=setting("tracts.persons"),
    script:
        "../../scripts/gtv/write_tracts.py"


rule plot_tracts:
    """Persons singled out, by the number of columns of a claim, from block tables, tract tables and both."""
    input:
        table="results/tables/tracts.csv",
    output:
        pdf="figures/tracts.pdf",
        png=shown("figures/tracts.png", "Whole tracts", BEYOND, variant="all"),
        record="figures/tracts.record.json",
    log:
        "logs/plot_tracts.log",
    benchmark:
        "benchmarks/plot_tracts.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_tracts"),
    script:
        "../../scripts/gtv/plot_tracts.py"


rule tracts:
    """Whole tracts: table, page of the report and figure."""
    input:
        "results/tables/tracts.csv",
        "results/tables/tracts_whole.csv",
        "results/tracts/missing.csv",
        "results/report/tracts.html",
        "figures/tracts.pdf",
