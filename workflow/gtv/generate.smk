"""
Reads: results/{variant}/release/, and nothing else.
Writes: results/{variant}/generated/: K datasets per block that fit its release, and what is known of their number.
"""

# The one-hot program has its own way of finding datasets.
DRAWN_EXACTLY = [
    v
    for v in VARIANTS
    if settings_of(STUDY, "generate", v)["method"] == "exact"
    and settings_of(STUDY, "program", v)["formulation"] == "compact"
]
NONE = "(?!)"  # matches no variant


rule generate_datasets:
    """Find K distinct datasets that fit the release of each block (Problem 1)."""
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
    wildcard_constraints:
        variant="|".join(v for v in VARIANTS if v not in DRAWN_EXACTLY) or NONE,
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("generate_datasets"),
        program=setting("program"),
        generate=setting("generate"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/generate_datasets.py"


rule draw_datasets:
    """Draw K distinct datasets that fit the release of each block, for variants with `generate: {method: exact}`."""
    input:
        schema="results/{variant}/release/schema.json",
        counts="results/{variant}/release/{batch}.parquet",
    output:
        datasets="results/{variant}/generated/{batch}.parquet",
        blocks="results/{variant}/generated/{batch}.blocks.parquet",
        record="results/{variant}/generated/{batch}.record.json",
    log:
        "logs/{variant}/draw_datasets/{batch}.log",
    benchmark:
        "benchmarks/{variant}/draw_datasets/{batch}.tsv"
    wildcard_constraints:
        variant="|".join(DRAWN_EXACTLY) or NONE,
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("draw_datasets"),
        program=setting("program"),
        generate=setting("generate"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/draw_datasets.py"
