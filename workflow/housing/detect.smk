"""
Reads: results/housing/{condition}/statistics.parquet, all that the attacker sees of both releases.
Writes: results/housing/{condition}/blocks.parquet, which blocks must hold a household in violation, and proofs.jsonl.gz.
"""


rule detect_housing:
    """Find the blocks in which a household must exceed two persons per bedroom (equation 1), and prove it."""
    input:
        statistics="results/housing/{condition}/statistics.parquet",
        housing_domain=STUDY.housing.domain,
        published=STUDY.housing.published,
    output:
        blocks="results/housing/{condition}/blocks.parquet",
        proofs="results/housing/{condition}/proofs.jsonl.gz",
        record="results/housing/{condition}/blocks.record.json",
    log:
        "logs/housing/{condition}/detect_housing.log",
    benchmark:
        "benchmarks/housing/{condition}/detect_housing.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("detect_housing"),
        program=setting("program"),
        condition=condition_part("reading"),
    script:
        "../../scripts/housing/detect_housing.py"
