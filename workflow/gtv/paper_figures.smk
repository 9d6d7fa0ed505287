"""
Reads: results/.
Writes: figures/fig1, fig3, fig4, fig5 and candidates: the figures about verified claims; of another variant and of one design
figures/no_ones/fig3_state_median.pdf.
"""


rule plot_fig1:
    """Figure 1: verified claims about a small synthetic block, on its private table and in words."""
    input:
        claims="results/paper/claims.parquet",
        sample=SAMPLE,
        microdata="results/microdata",
        domain=STUDY.microdata.domain,
        schema="results/paper/release/schema.json",
        counts=expand("results/paper/release/{batch}.parquet", batch=BATCHES),
        proofs=expand("results/paper/proofs/{batch}.jsonl.gz", batch=BATCHES),
        manifest="results/microdata.json",
    output:
        pdf="figures/fig1.pdf",
        png=shown("figures/fig1.png", "Figure 1", IN_PAPER),
        record="figures/fig1.record.json",
    log:
        "logs/plot_fig1.log",
    benchmark:
        "benchmarks/plot_fig1.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_fig1"),
        release=setting("release"),
    script:
        "../../scripts/gtv/plot_fig1.py"


rule plot_verified:
    """Figures 3 and 5: blocks with a verified claim by k, of one household or any number, and how likely the claims would be by chance."""
    input:
        blocks=of_variant("blocks.parquet"),
        summary=of_variant("summary.json"),
        manifest="results/microdata.json",
    output:
        pdf="figures/{folder}fig{number}{only}.pdf",
        svg="figures/{folder}fig{number}{only}.svg",
        png=shown(
            "figures/{folder}fig{number}{only}.png", figure_of, IN_PAPER, "verified"
        ),
        record="figures/{folder}fig{number}{only}.record.json",
    log:
        "logs/plot_verified/{folder}fig{number}{only}.log",
    benchmark:
        "benchmarks/plot_verified/{folder}fig{number}{only}.tsv"
    wildcard_constraints:
        number="3|5",
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_verified"),
    script:
        "../../scripts/gtv/plot_verified.py"


rule plot_fig4:
    """Figure 4: the share of verified singleton claims that contain each column, by k."""
    input:
        summary=of_variant("summary.json"),
        blocks=of_variant("blocks.parquet"),
        schema=of_variant("release/schema.json"),
        manifest="results/microdata.json",
    output:
        pdf="figures/{folder}fig4{only}.pdf",
        svg="figures/{folder}fig4{only}.svg",
        png=shown("figures/{folder}fig4{only}.png", figure_of, IN_PAPER, "fig4"),
        record="figures/{folder}fig4{only}.record.json",
    log:
        "logs/plot_fig4/{folder}fig4{only}.log",
    benchmark:
        "benchmarks/plot_fig4/{folder}fig4{only}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_fig4"),
    script:
        "../../scripts/gtv/plot_fig4.py"


rule plot_candidates:
    """How the number of candidate claims falls with the number K of generated datasets (section 5.4.2)."""
    input:
        claims="results/paper/claims.parquet",
        schema="results/paper/release/schema.json",
        counts=expand("results/paper/release/{batch}.parquet", batch=BATCHES),
        datasets=expand("results/paper/generated/{batch}.parquet", batch=BATCHES),
        manifest="results/microdata.json",
    output:
        pdf="figures/candidates.pdf",
        png=shown("figures/candidates.png", "Candidates", BEYOND),
        table="figures/candidates.csv",
        record="figures/candidates.record.json",
    log:
        "logs/plot_candidates.log",
    benchmark:
        "benchmarks/plot_candidates.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_candidates"),
        verify=setting("verify"),
    script:
        "../../scripts/gtv/plot_candidates.py"
