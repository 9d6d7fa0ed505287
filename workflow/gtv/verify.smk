"""
Reads: results/{variant}/release/ and results/{variant}/generated/.
Writes: results/{variant}/claims.parquet and blocks.parquet, and results/{variant}/proofs/ with a proof of every verified claim.
"""


rule verify_claims:
    """Decide every candidate claim of a batch of blocks (Problem 3), check the proofs and write them."""
    input:
        schema="results/{variant}/release/schema.json",
        counts="results/{variant}/release/{batch}.parquet",
        datasets="results/{variant}/generated/{batch}.parquet",
    output:
        claims="results/{variant}/claims/{batch}.parquet",
        blocks="results/{variant}/claims/{batch}.blocks.parquet",
        proofs="results/{variant}/proofs/{batch}.jsonl.gz",
        record="results/{variant}/claims/{batch}.record.json",
    log:
        "logs/{variant}/verify_claims/{batch}.log",
    benchmark:
        "benchmarks/{variant}/verify_claims/{batch}.tsv"
    priority: 2
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("verify_claims"),
        program=setting("program"),
        verify=setting("verify"),
    script:
        "../../scripts/gtv/verify_claims.py"


rule collect_claims:
    """Put the batches together: one row per verified claim and design, one row per block and design."""
    input:
        sample=SAMPLE,
        claims=expand("results/{{variant}}/claims/{batch}.parquet", batch=BATCHES),
        verified=expand(
            "results/{{variant}}/claims/{batch}.blocks.parquet", batch=BATCHES
        ),
        generated=expand(
            "results/{{variant}}/generated/{batch}.blocks.parquet", batch=BATCHES
        ),
    output:
        claims="results/{variant}/claims.parquet",
        blocks="results/{variant}/blocks.parquet",
        record="results/{variant}/claims.record.json",
    log:
        "logs/{variant}/collect_claims.log",
    benchmark:
        "benchmarks/{variant}/collect_claims.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("collect_claims"),
    script:
        "../../scripts/gtv/collect_claims.py"


rule write_proofs:
    """Check and summarise the proofs: decided by the linear program or by branching, and how many cells a proof names."""
    input:
        schema="results/{variant}/release/schema.json",
        counts=expand("results/{{variant}}/release/{batch}.parquet", batch=BATCHES),
        proofs=expand("results/{{variant}}/proofs/{batch}.jsonl.gz", batch=BATCHES),
        blocks="results/{variant}/blocks.parquet",
        manifest="results/microdata.json",
    output:
        table="results/{variant}/proofs.csv",
        record="results/{variant}/proofs.record.json",
    log:
        "logs/{variant}/write_proofs.log",
    benchmark:
        "benchmarks/{variant}/write_proofs.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_proofs"),
    script:
        "../../scripts/gtv/write_proofs.py"
