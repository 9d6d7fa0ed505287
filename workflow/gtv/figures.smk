"""
Reads: results/.
Writes: figures/, each figure of the papers as one target, PDF and PNG.
"""


rule plot_fig2:
    """Figure 2: sizes of the blocks that have their state's median size."""
    input:
        blocks=SAMPLE,
        manifest="results/microdata.json",
    output:
        pdf="figures/fig2.pdf",
        png=shown("figures/fig2.png", "Figure 2", IN_PAPER),
        record="figures/fig2.record.json",
    log:
        "logs/plot_fig2.log",
    benchmark:
        "benchmarks/plot_fig2.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_fig2"),
    script:
        "../../scripts/gtv/plot_fig2.py"
