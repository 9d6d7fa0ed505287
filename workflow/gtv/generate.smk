"""
Reads: results/{variant}/release/, and nothing else.
Writes: results/{variant}/generated/: K datasets per block that fit its release, and what is known of their number.
"""


rule generate_datasets:
    """Find K distinct datasets that fit the release of each block (Problem 1), by walks or exact draws: `generate.method`."""
    input:
        schema="results/{variant}/release/schema.json",
        counts="results/{variant}/release/{batch}.parquet",
    output:
        datasets="results/{variant}/generated/{batch}.parquet",
        blocks="results/{variant}/generated/{batch}.blocks.parquet",
        record="results/{variant}/generated/{batch}.record.json",
    log:
        "logs/{variant}/generate_datasets/{batch}.log",
    benchmark:
        "benchmarks/{variant}/generate_datasets/{batch}.tsv"
    priority: 1
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("generate_datasets"),
        program=setting("program"),
        generate=setting("generate"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/generate_datasets.py"
