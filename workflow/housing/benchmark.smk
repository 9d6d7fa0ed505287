"""
Reads: results/housing/none/statistics.parquet and the prior.
Writes: results/benchmark/housing.csv: blocks per core-second on this machine. A target on request, no part of `all`.
"""


rule benchmark_housing:
    """Seconds of one core for detection, proofs checked, and for the most likely reconstructions of flagged blocks."""
    input:
        statistics="results/housing/none/statistics.parquet",
        prior="results/housing/prior.parquet",
        housing_domain=STUDY.housing.domain,
        published=STUDY.housing.published,
        paper="data/papers/subsidized_housing.yaml",
    output:
        table="results/benchmark/housing.csv",
        record="results/benchmark/housing.record.json",
    log:
        "logs/benchmark_housing.log",
    benchmark:
        "benchmarks/benchmark_housing.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_housing"),
        program=setting("program"),
        own=setting("benchmark.housing"),
        condition=setting("housing.condition"),
        search=setting("housing.search"),
        seed=setting("seed"),
    script:
        "../../scripts/housing/benchmark_housing.py"
