"""
Reads: results/microdata/ and the verified claims of a variant.
Writes: results/{variant}/baselines.parquet, a row per row of claims.parquet: its probability under every prior (section 3.2).
"""


rule fit_baselines:
    """The probability of every verified claim in a block drawn at random from a prior (equation 4)."""
    input:
        claims="results/{variant}/claims.parquet",
        blocks="results/{variant}/blocks.parquet",
        microdata="results/microdata",
        domain=STUDY.microdata.domain,
    output:
        baselines="results/{variant}/baselines.parquet",
        unseen="results/{variant}/unseen.csv",
        record="results/{variant}/baselines.record.json",
    log:
        "logs/{variant}/fit_baselines.log",
    benchmark:
        "benchmarks/{variant}/fit_baselines.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("fit_baselines"),
        release=setting("release"),
    script:
        "../../scripts/gtv/fit_baselines.py"
