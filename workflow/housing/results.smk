"""
Reads: results/housing/households.parquet (private), and of every condition the verdicts, reconstructions and variability of its blocks.
Writes: results/housing/{condition}/judged.parquet (blocks), evaluation.parquet (blocks with what was reconstructed), reidentified.parquet
(curves) and totals.parquet; results/tables/housing_*.csv.
"""

HOUSING_PAPER = "data/papers/subsidized_housing.yaml"
JUDGED = [
    f"results/housing/{name}/{'evaluation' if name in RECONSTRUCTED else 'judged'}.parquet"
    for name in CONDITIONS
]
HOUSING_FIGURES = [
    f"figures/housing_{name}.pdf"
    for name in ("fig1", "fig2", "fig3", "a1", "a2", "a3", "a4", "a5", "a6", "g7")
]


rule housing:
    """Every figure and table of the housing study."""
    input:
        HOUSING_FIGURES,
        expand("results/report/{page}.html", page=PAGES["housing"]),


rule judge_housing:
    """Judge the flagged blocks of a condition: which of them truly hold a violation."""
    input:
        households="results/housing/households.parquet",
        manifest="results/housing/{condition}/manifest.json",
        blocks="results/housing/{condition}/blocks.parquet",
        domain=STUDY.housing.domain,
    output:
        judged="results/housing/{condition}/judged.parquet",
        record="results/housing/{condition}/judged.record.json",
    log:
        "logs/housing/{condition}/judge_housing.log",
    benchmark:
        "benchmarks/housing/{condition}/judge_housing.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("judge_housing"),
        protection=condition_part("swap", "swap_hud", "noise", "noise_hud", "blocks"),
    script:
        "../../scripts/housing/judge_housing.py"


rule evaluate_housing:
    """Re-identify the households of the violations that the reconstructions of flagged blocks have (section 4.1)."""
    input:
        households="results/housing/households.parquet",
        judged="results/housing/{condition}/judged.parquet",
        reconstructions=expand(
            "results/housing/{{condition}}/reconstructions/{batch}.parquet",
            batch=HOUSING_BATCHES,
        ),
        found=expand(
            "results/housing/{{condition}}/reconstructions/{batch}.blocks.parquet",
            batch=HOUSING_BATCHES,
        ),
        domain=STUDY.housing.domain,
    output:
        curves="results/housing/{condition}/reidentified.parquet",
        totals="results/housing/{condition}/totals.parquet",
        evaluation="results/housing/{condition}/evaluation.parquet",
        record="results/housing/{condition}/evaluation.record.json",
    log:
        "logs/housing/{condition}/evaluate_housing.log",
    benchmark:
        "benchmarks/housing/{condition}/evaluate_housing.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("evaluate_housing"),
        blocks=condition_part("blocks"),
        match_keys=setting("housing.match_keys"),
        seed=setting("seed"),
    script:
        "../../scripts/housing/evaluate_housing.py"


rule evaluate_sampling:
    """Re-identify households with the sampling attack: configurations that a sample of each state shows in violation."""
    input:
        households="results/housing/households.parquet",
        domain=STUDY.housing.domain,
    output:
        curves="results/housing/sampling.parquet",
        record="results/housing/sampling.record.json",
    log:
        "logs/housing/evaluate_sampling.log",
    benchmark:
        "benchmarks/housing/evaluate_sampling.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("evaluate_sampling"),
        conditions=setting("housing.conditions"),
        match_keys=setting("housing.match_keys"),
        share=setting("housing.baseline_sample"),
        seed=setting("seed"),
    script:
        "../../scripts/housing/evaluate_sampling.py"


rule write_housing_table1:
    """Table 1: block-level precision and recall with no protection, swapping and differential privacy, beside the paper."""
    input:
        judged=expand(
            "results/housing/{condition}/judged.parquet",
            condition=["none_all", "swapping_all", "dp_all"],
        ),
        manifest="results/housing/manifest.json",
        paper=HOUSING_PAPER,
    output:
        table="results/tables/housing_table1.csv",
        readable="results/tables/housing_table1.md",
        record="results/tables/housing_table1.record.json",
    log:
        "logs/write_housing_table1.log",
    benchmark:
        "benchmarks/write_housing_table1.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_housing_table1"),
    script:
        "../../scripts/housing/write_housing_table1.py"


rule write_housing_conditions:
    """Every condition of the study: blocks flagged, contradictions, chance, and households found with each match key."""
    input:
        judged=JUDGED,
        curves=expand(
            "results/housing/{condition}/reidentified.parquet", condition=RECONSTRUCTED
        ),
        totals=expand(
            "results/housing/{condition}/totals.parquet", condition=RECONSTRUCTED
        ),
        manifest="results/housing/manifest.json",
    output:
        table="results/tables/housing_conditions.csv",
        readable="results/tables/housing_conditions.md",
        record="results/tables/housing_conditions.record.json",
    log:
        "logs/write_housing_conditions.log",
    benchmark:
        "benchmarks/write_housing_conditions.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_housing_conditions"),
        conditions=setting("housing.conditions"),
    script:
        "../../scripts/housing/write_housing_conditions.py"


rule write_housing_numbers:
    """The numbers that the paper prints (sections 3.2 and 4.2), ours beside them, and the difference."""
    input:
        judged=JUDGED,
        curves=expand(
            "results/housing/{condition}/reidentified.parquet", condition=RECONSTRUCTED
        ),
        totals=expand(
            "results/housing/{condition}/totals.parquet", condition=RECONSTRUCTED
        ),
        sampling="results/housing/sampling.parquet",
        variability=expand(
            "results/housing/none/variability/{batch}.parquet", batch=HOUSING_BATCHES
        ),
        households="results/housing/households.parquet",
        manifest="results/housing/manifest.json",
        domain=STUDY.housing.domain,
        paper=HOUSING_PAPER,
        computed="data/housing/numbers.yaml",
    output:
        table="results/tables/housing_numbers.csv",
        readable="results/tables/housing_numbers.md",
        record="results/tables/housing_numbers.record.json",
    log:
        "logs/write_housing_numbers.log",
    benchmark:
        "benchmarks/write_housing_numbers.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_housing_numbers"),
        simple=setting("housing.simple"),
    script:
        "../../scripts/housing/write_housing_numbers.py"
