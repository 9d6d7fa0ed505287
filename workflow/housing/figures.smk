"""
Reads: results/housing/.
Writes: figures/housing_*.pdf, .png and .csv: the figures of the paper about subsidized housing.
"""

SHOWN_CURVES = expand(
    "results/housing/{condition}/reidentified.parquet", condition=SHOWN_CONDITIONS
)


rule plot_housing_fig1:
    """Figure 1: the experiment as a drawing, with the numbers of this run."""
    input:
        judged="results/housing/none/evaluation.parquet",
        curves="results/housing/none/reidentified.parquet",
        totals="results/housing/none/totals.parquet",
        manifest="results/housing/manifest.json",
        drawing="data/housing/drawing.yaml",
    output:
        pdf="figures/housing_fig1.pdf",
        png=shown("figures/housing_fig1.png", "Figure 1", HOUSING),
        csv="figures/housing_fig1.csv",
        record="figures/housing_fig1.record.json",
    log:
        "logs/plot_housing_fig1.log",
    benchmark:
        "benchmarks/plot_housing_fig1.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_housing_fig1"),
        match_keys=setting("housing.match_keys"),
    script:
        "../../scripts/housing/plot_housing_fig1.py"


rule plot_housing_variability:
    """Figures 2 and A.2: how many records may differ between feasible reconstructions, and what blocks they are in which few may."""
    input:
        variability=expand(
            "results/housing/none/variability/{batch}.parquet", batch=HOUSING_BATCHES
        ),
        manifest="results/housing/manifest.json",
    output:
        pdf="figures/housing_{spread}.pdf",
        png=shown(
            "figures/housing_{spread}.png", number_of, HOUSING, "housing_variability"
        ),
        csv="figures/housing_{spread}.csv",
        record="figures/housing_{spread}.record.json",
    log:
        "logs/plot_housing_variability/{spread}.log",
    benchmark:
        "benchmarks/plot_housing_variability/{spread}.tsv"
    wildcard_constraints:
        spread="fig2|a2",
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_housing_variability"),
    script:
        "../../scripts/housing/plot_housing_variability.py"


rule plot_housing_curves:
    """Figures 3 and A.4 to A.6: precision and recall of re-identified households, unique in their block or all, for several match keys."""
    input:
        curves=[*SHOWN_CURVES, "results/housing/sampling.parquet"],
        totals="results/housing/none/totals.parquet",
        manifest="results/housing/manifest.json",
    output:
        pdf="figures/housing_{curve}.pdf",
        png=shown("figures/housing_{curve}.png", number_of, HOUSING, "housing_curves"),
        csv="figures/housing_{curve}.csv",
        record="figures/housing_{curve}.record.json",
    log:
        "logs/plot_housing_curves/{curve}.log",
    benchmark:
        "benchmarks/plot_housing_curves/{curve}.tsv"
    wildcard_constraints:
        curve="fig3|a4|a5|a6",
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_housing_curves"),
    script:
        "../../scripts/housing/plot_housing_curves.py"


rule plot_housing_a1:
    """Figure A.1: flagged blocks by number and by share of subsidized households."""
    input:
        judged="results/housing/none/judged.parquet",
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
