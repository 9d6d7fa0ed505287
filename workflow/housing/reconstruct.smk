"""
Reads: results/housing/households.parquet for the attacker's prior, results/housing/{condition}/statistics.parquet and blocks.parquet.
Writes: results/housing/prior.parquet; results/housing/{condition}/reconstructions/, the most likely datasets of the flagged blocks;
results/housing/{condition}/variability/, how far datasets that fit can be from the first.
"""


rule fit_housing_prior:
    """Count how often each configuration of a household occurs in a sample of each state, the prior of equation 2."""
    input:
        households="results/housing/households.parquet",
    output:
        prior="results/housing/prior.parquet",
        record="results/housing/prior.record.json",
    log:
        "logs/fit_housing_prior.log",
    benchmark:
        "benchmarks/fit_housing_prior.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("fit_housing_prior"),
        share=setting("housing.prior_sample"),
        seed=setting("seed"),
    script:
        "../../scripts/housing/fit_housing_prior.py"


rule reconstruct_housing:
    """Find the most likely datasets of every flagged block of a batch (equation 2), or those nearest to its counts (equation 8)."""
    input:
        statistics="results/housing/{condition}/statistics.parquet",
        blocks="results/housing/{condition}/blocks.parquet",
        prior="results/housing/prior.parquet",
        housing_domain=STUDY.housing.domain,
        published=STUDY.housing.published,
    output:
        datasets="results/housing/{condition}/reconstructions/{batch}.parquet",
        blocks="results/housing/{condition}/reconstructions/{batch}.blocks.parquet",
        record="results/housing/{condition}/reconstructions/{batch}.record.json",
    log:
        "logs/housing/{condition}/reconstruct_housing/{batch}.log",
    benchmark:
        "benchmarks/housing/{condition}/reconstruct_housing/{batch}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("reconstruct_housing"),
        program=setting("program"),
        condition=condition_part("reading", "top"),
        search=setting("housing.search"),
        batches=setting("housing.batches"),
        seed=setting("seed"),
    script:
        "../../scripts/housing/reconstruct_housing.py"


rule measure_housing_variability:
    """Find how far a dataset that fits can be from the most likely one, over all columns and over fewer (equation 3)."""
    input:
        statistics="results/housing/{condition}/statistics.parquet",
        prior="results/housing/prior.parquet",
        housing_domain=STUDY.housing.domain,
        published=STUDY.housing.published,
    output:
        variability="results/housing/{condition}/variability/{batch}.parquet",
        record="results/housing/{condition}/variability/{batch}.record.json",
    log:
        "logs/housing/{condition}/measure_housing_variability/{batch}.log",
    benchmark:
        "benchmarks/housing/{condition}/measure_housing_variability/{batch}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("measure_housing_variability"),
        program=setting("program"),
        condition=condition_part("reading"),
        simple=setting("housing.simple"),
        blocks=setting("housing.variability_blocks"),
        batches=setting("housing.batches"),
    script:
        "../../scripts/housing/measure_housing_variability.py"
