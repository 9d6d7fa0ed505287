"""
Reads: results/microdata/ and the verified claims of a variant.
Writes: results/{variant}/baselines/, a row per verified claim: its probability under every prior (section 3.2).
"""


rule fit_baselines:
    """The probability of every verified claim of a batch in a block drawn at random from a prior (equation 4)."""
    input:
        claims="results/{variant}/claims/{batch}.parquet",
        blocks="results/{variant}/generated/{batch}.blocks.parquet",
        microdata="results/microdata",
        nation="results/sample/nation.parquet",
        domain=STUDY.microdata.domain,
    output:
        baselines="results/{variant}/baselines/{batch}.parquet",
        unseen="results/{variant}/baselines/{batch}.unseen.parquet",
        record="results/{variant}/baselines/{batch}.record.json",
    log:
        "logs/{variant}/fit_baselines/{batch}.log",
    benchmark:
        "benchmarks/{variant}/fit_baselines/{batch}.tsv"
    priority: 3
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("fit_baselines"),
        release=setting("release"),
    script:
        "../../scripts/gtv/fit_baselines.py"
