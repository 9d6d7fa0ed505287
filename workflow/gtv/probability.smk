"""
Reads: results/microdata/ for the priors (fit_priors) and to judge (judge_probabilities); for the attack (weigh_claims) only results/{variant}/release/,
generated/, claims/ and the tables of weights of the priors.
Writes: results/{variant}/probabilities/: claims and rows with their probability under every prior, and how many datasets fit each block;
figures/calibration.pdf, figures/posterior.pdf, figures/reconstructions.pdf, results/tables/singled_out.csv. Targets on request, no part of `all`.
"""

WEIGHED = BATCHES[: STUDY.probability.batches]


rule fit_priors:
    """Count the households of tract, state and nation around the sampled blocks, without these blocks."""
    input:
        microdata="results/microdata",
        blocks="results/sample/blocks.parquet",
        domain=STUDY.microdata.domain,
    output:
        areas="results/{variant}/probabilities/areas.parquet",
        record="results/{variant}/probabilities/areas.record.json",
    log:
        "logs/{variant}/fit_priors.log",
    benchmark:
        "benchmarks/{variant}/fit_priors.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("fit_priors"),
        release=setting("release"),
    script:
        "../../scripts/gtv/fit_priors.py"


rule weigh_claims:
    """The probability of claims and rows of a batch of blocks under every prior; those that are verified must have 1, and only those."""
    input:
        schema="results/{variant}/release/schema.json",
        counts="results/{variant}/release/{batch}.parquet",
        datasets="results/{variant}/generated/{batch}.parquet",
        claims="results/{variant}/claims/{batch}.parquet",
        decided="results/{variant}/claims/{batch}.blocks.parquet",
        areas="results/{variant}/probabilities/areas.parquet",
    output:
        claims="results/{variant}/probabilities/{batch}.parquet",
        rows="results/{variant}/probabilities/{batch}.rows.parquet",
        blocks="results/{variant}/probabilities/{batch}.blocks.parquet",
        record="results/{variant}/probabilities/{batch}.record.json",
    log:
        "logs/{variant}/weigh_claims/{batch}.log",
    benchmark:
        "benchmarks/{variant}/weigh_claims/{batch}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("weigh_claims"),
        probability=setting("probability"),
        program=setting("program"),
        verify=setting("verify"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/weigh_claims.py"
