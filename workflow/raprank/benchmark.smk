"""
Reads: results/microdata/, the sampled blocks and results/paper/release/.
Writes: results/benchmark/rap.csv: seconds and errors of RAP on this machine. A target on request, no part of `all`.
"""


rule benchmark_rap:
    """Seconds and final errors of RAP runs: all 2-way marginals of many households, and country-median blocks."""
    input:
        microdata="results/microdata",
        domain=STUDY.microdata.domain,
        sample=SAMPLE,
        schema="results/paper/release/schema.json",
        counts=expand("results/paper/release/{batch}.parquet", batch=BATCHES),
    output:
        table="results/benchmark/rap.csv",
        record="results/benchmark/rap.record.json",
    log:
        "logs/benchmark_rap.log",
    benchmark:
        "benchmarks/benchmark_rap.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_rap"),
        rap=setting("raprank.rap"),
        own=setting("benchmark.rap"),
        universe=setting("sample.universe"),
        seed=setting("seed"),
    script:
        "../../scripts/raprank/benchmark_rap.py"
