"""
Reads: results/{variant}/release/ and results/{variant}/proofs/.
Writes: results/{variant}/vipr.zip, every proof of a variant as VIPR 1.0 certificates that other people's programs check, with an index;
results/{variant}/vipr/, the same by batch. A target on request, no part of `all` but for the explorer.
"""

# the checker is a param and no input: it lies beside the Snakefile, which need not be the folder of the run
from genverify.run.jobs import digest
from genverify.run.layout import VIPR_TOOL, repository


rule export_proofs:
    """Write the proofs of a batch of blocks as VIPR certificates over the whole domain; each stored proof is checked first, and each file by the VIPR checker."""
    input:
        schema="results/{variant}/release/schema.json",
        counts="results/{variant}/release/{batch}.parquet",
        proofs="results/{variant}/proofs/{batch}.jsonl.gz",
        manifest="results/microdata.json",
    output:
        archive="results/{variant}/vipr/{batch}.zip",
        record="results/{variant}/vipr/{batch}.record.json",
    log:
        "logs/{variant}/export_proofs/{batch}.log",
    benchmark:
        "benchmarks/{variant}/export_proofs/{batch}.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("export_proofs"),
        checker=digest(repository() / VIPR_TOOL),
    script:
        "../scripts/show/export_proofs.py"


rule collect_exports:
    """Put the certificates of all batches into one archive, with an index: claim, files, published cells."""
    input:
        archives=expand("results/{{variant}}/vipr/{batch}.zip", batch=BATCHES),
        manifest="results/microdata.json",
    output:
        archive="results/{variant}/vipr.zip",
        record="results/{variant}/vipr.record.json",
    log:
        "logs/{variant}/collect_exports.log",
    benchmark:
        "benchmarks/{variant}/collect_exports.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("collect_exports"),
    script:
        "../scripts/show/collect_exports.py"
