"""
Reads: results/persons/ (synthetic persons), and the file of person records that config/tracts.yaml may name.
Writes: results/tables/tracts.csv and .md, figures/tracts.pdf: what tables of blocks, of the tract, and both say about persons;
results/tracts/: what is published, the claims verified from it, and how they compare with the records. A target on request, no part of `all`.
"""

TRACT_SOURCES = ["synthetic", *(["records"] if STUDY.tracts.records else [])]
TRACT_BATCHES = [f"{batch:03d}" for batch in range(STUDY.tracts.claims.batches)]


wildcard_constraints:
    source="synthetic|records",
    age="|".join(STUDY.tracts.readings),


rule publish_tracts:
    """Publish the counts of some tracts and of their blocks, age read as it is or in bins."""
    input:
        source=persons_of_tracts,
        domain=STUDY.tracts.domain,
        tables=STUDY.tracts.tables_files,
    output:
        blocks="results/tracts/{source}/{age}/blocks.json",
        tracts="results/tracts/{source}/{age}/tracts.json",
        block_counts="results/tracts/{source}/{age}/blocks.parquet",
        tract_counts="results/tracts/{source}/{age}/tracts.parquet",
        records="results/tracts/{source}/{age}/records.parquet",
        manifest="results/tracts/{source}/{age}/manifest.json",
        record="results/tracts/{source}/{age}/publish.record.json",
    log:
        "logs/publish_tracts/{source}/{age}.log",
    benchmark:
        "benchmarks/publish_tracts/{source}/{age}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("publish_tracts"),
        block_tables=setting("tracts.block_tables"),
        tract_tables=setting("tracts.tract_tables"),
        synthetic=setting("tracts.synthetic"),
        readings=setting("tracts.readings"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/publish_tracts.py"


rule attack_tracts:
    """Verify claims about the blocks of some tracts from block tables, tract tables, and both, every proof checked."""
    input:
        blocks="results/tracts/{source}/{age}/blocks.json",
        tracts="results/tracts/{source}/{age}/tracts.json",
        block_counts="results/tracts/{source}/{age}/blocks.parquet",
        tract_counts="results/tracts/{source}/{age}/tracts.parquet",
    output:
        claims="results/tracts/{source}/{age}/claims/{batch}.parquet",
        areas="results/tracts/{source}/{age}/areas/{batch}.parquet",
        record="results/tracts/{source}/{age}/claims/{batch}.record.json",
    log:
        "logs/attack_tracts/{source}/{age}/{batch}.log",
    benchmark:
        "benchmarks/attack_tracts/{source}/{age}/{batch}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("attack_tracts"),
        claims=setting("tracts.claims"),
        program=setting("program"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/attack_tracts.py"


rule judge_tracts:
    """Compare the claims about tracts with the records: which are true, whom they single out, what they determine."""
    input:
        claims=expand(
            "results/tracts/{{source}}/{{age}}/claims/{batch}.parquet",
            batch=TRACT_BATCHES,
        ),
        areas=expand(
            "results/tracts/{{source}}/{{age}}/areas/{batch}.parquet",
            batch=TRACT_BATCHES,
        ),
        records="results/tracts/{source}/{age}/records.parquet",
    output:
        judged="results/tracts/{source}/{age}/judged.csv",
        record="results/tracts/{source}/{age}/judged.record.json",
    log:
        "logs/judge_tracts/{source}/{age}.log",
    benchmark:
        "benchmarks/judge_tracts/{source}/{age}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("judge_tracts"),
    script:
        "../../scripts/gtv/judge_tracts.py"


rule write_tracts:
    """What block tables, tract tables and both say about persons: singled out, determined, by the number of columns."""
    input:
        judged=expand(
            "results/tracts/{source}/{age}/judged.csv",
            source=TRACT_SOURCES,
            age=STUDY.tracts.readings,
        ),
        manifests=expand(
            "results/tracts/{source}/{age}/manifest.json",
            source=TRACT_SOURCES,
            age=STUDY.tracts.readings,
        ),
        domain=STUDY.tracts.domain,
        tables=STUDY.tracts.tables_files,
    output:
        table="results/tables/tracts.csv",
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
        block_tables=setting("tracts.block_tables"),
        tract_tables=setting("tracts.tract_tables"),
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
        "results/report/tracts.html",
        "figures/tracts.pdf",
