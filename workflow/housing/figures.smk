"""
Reads: results/housing/.
Writes: figures/housing_*.pdf, .png and .csv: the figures of the paper about subsidized housing.
"""

SHOWN_CURVES = expand(
    "results/housing/{condition}/reidentified.parquet", condition=SHOWN_CONDITIONS
)


rule plot_housing_fig2:
    """Figure 2: how many records may differ between feasible reconstructions, over blocks and over households."""
    input:
        variability=expand(
            "results/housing/none/variability/{batch}.parquet", batch=HOUSING_BATCHES
        ),
        manifest="results/housing/manifest.json",
    output:
        pdf="figures/housing_fig2.pdf",
        png=shown("figures/housing_fig2.png", "Figure 2", HOUSING),
        csv="figures/housing_fig2.csv",
        record="figures/housing_fig2.record.json",
    log:
        "logs/plot_housing_fig2.log",
    benchmark:
        "benchmarks/plot_housing_fig2.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_housing_fig2"),
    script:
        "../../scripts/housing/plot_housing_fig2.py"


rule plot_housing_fig3:
    """Figure 3: precision on households unique in their block, against k, for two match keys."""
    input:
        curves=[*SHOWN_CURVES, "results/housing/sampling.parquet"],
        totals="results/housing/none/totals.parquet",
        manifest="results/housing/manifest.json",
    output:
        pdf="figures/housing_fig3.pdf",
        png=shown("figures/housing_fig3.png", "Figure 3", HOUSING),
        csv="figures/housing_fig3.csv",
        record="figures/housing_fig3.record.json",
    log:
        "logs/plot_housing_fig3.log",
    benchmark:
        "benchmarks/plot_housing_fig3.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_housing_fig3"),
    script:
        "../../scripts/housing/plot_housing_fig3.py"


rule plot_housing_a1:
    """Figure A.1: flagged blocks by number and by share of subsidized households."""
    input:
        judged="results/housing/none/evaluation.parquet",
        manifest="results/housing/manifest.json",
    output:
        pdf="figures/housing_a1.pdf",
        png=shown("figures/housing_a1.png", "Figure A.1", HOUSING),
        csv="figures/housing_a1.csv",
        record="figures/housing_a1.record.json",
    log:
        "logs/plot_housing_a1.log",
    benchmark:
        "benchmarks/plot_housing_a1.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_housing_a1"),
    script:
        "../../scripts/housing/plot_housing_a1.py"


rule plot_housing_a2:
    """Figure A.2: share subsidized of the blocks in which less than 5 % of records may differ."""
    input:
        variability=expand(
            "results/housing/none/variability/{batch}.parquet", batch=HOUSING_BATCHES
        ),
        manifest="results/housing/manifest.json",
    output:
        pdf="figures/housing_a2.pdf",
        png=shown("figures/housing_a2.png", "Figure A.2", HOUSING),
        csv="figures/housing_a2.csv",
        record="figures/housing_a2.record.json",
    log:
        "logs/plot_housing_a2.log",
    benchmark:
        "benchmarks/plot_housing_a2.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_housing_a2"),
    script:
        "../../scripts/housing/plot_housing_a2.py"


rule plot_housing_a3:
    """Figure A.3: putative against true violations of each block, after swapping."""
    input:
        judged="results/housing/swapping/evaluation.parquet",
        manifest="results/housing/manifest.json",
    output:
        pdf="figures/housing_a3.pdf",
        png=shown("figures/housing_a3.png", "Figure A.3", HOUSING),
        csv="figures/housing_a3.csv",
        record="figures/housing_a3.record.json",
    log:
        "logs/plot_housing_a3.log",
    benchmark:
        "benchmarks/plot_housing_a3.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_housing_a3"),
    script:
        "../../scripts/housing/plot_housing_a3.py"


rule plot_housing_a4:
    """Figure A.4: precision against recall on households unique in their block."""
    input:
        curves=[*SHOWN_CURVES, "results/housing/sampling.parquet"],
        totals="results/housing/none/totals.parquet",
        manifest="results/housing/manifest.json",
    output:
        pdf="figures/housing_a4.pdf",
        png=shown("figures/housing_a4.png", "Figure A.4", HOUSING),
        csv="figures/housing_a4.csv",
        record="figures/housing_a4.record.json",
    log:
        "logs/plot_housing_a4.log",
    benchmark:
        "benchmarks/plot_housing_a4.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_housing_a4"),
    script:
        "../../scripts/housing/plot_housing_a4.py"


rule plot_housing_a5:
    """Figure A.5: precision and recall over all identified households."""
    input:
        curves=[*SHOWN_CURVES, "results/housing/sampling.parquet"],
        totals="results/housing/none/totals.parquet",
        manifest="results/housing/manifest.json",
    output:
        pdf="figures/housing_a5.pdf",
        png=shown("figures/housing_a5.png", "Figure A.5", HOUSING),
        csv="figures/housing_a5.csv",
        record="figures/housing_a5.record.json",
    log:
        "logs/plot_housing_a5.log",
    benchmark:
        "benchmarks/plot_housing_a5.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_housing_a5"),
    script:
        "../../scripts/housing/plot_housing_a5.py"


rule plot_housing_a6:
    """Figure A.6: precision and recall on unique households where it is known who is subsidized."""
    input:
        curves=[*SHOWN_CURVES, "results/housing/sampling.parquet"],
        totals="results/housing/none/totals.parquet",
        manifest="results/housing/manifest.json",
    output:
        pdf="figures/housing_a6.pdf",
        png=shown("figures/housing_a6.png", "Figure A.6", HOUSING),
        csv="figures/housing_a6.csv",
        record="figures/housing_a6.record.json",
    log:
        "logs/plot_housing_a6.log",
    benchmark:
        "benchmarks/plot_housing_a6.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_housing_a6"),
    script:
        "../../scripts/housing/plot_housing_a6.py"


rule plot_housing_g7:
    """Figure G.7: match rate of the most frequent reconstructed violations."""
    input:
        curves=SHOWN_CURVES,
        manifest="results/housing/manifest.json",
    output:
        pdf="figures/housing_g7.pdf",
        png=shown("figures/housing_g7.png", "Figure G.7", HOUSING),
        csv="figures/housing_g7.csv",
        record="figures/housing_g7.record.json",
    log:
        "logs/plot_housing_g7.log",
    benchmark:
        "benchmarks/plot_housing_g7.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_housing_g7"),
    script:
        "../../scripts/housing/plot_housing_g7.py"
