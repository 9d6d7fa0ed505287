"""
Reads: results/{variant}/claims.parquet and baselines.parquet, group by group.
Writes: results/{variant}/summary.json: what figures 3 to 5 show, however many claims there are.
"""


rule summarise_claims:
    """Count the verified claims by design, k and column, and put their probabilities into boxes."""
    input:
        schema="results/{variant}/release/schema.json",
        claims="results/{variant}/claims.parquet",
        baselines="results/{variant}/baselines.parquet",
    output:
        summary="results/{variant}/summary.json",
        record="results/{variant}/summary.record.json",
    log:
        "logs/{variant}/summarise_claims.log",
    benchmark:
        "benchmarks/{variant}/summarise_claims.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("summarise_claims"),
    script:
        "../../scripts/gtv/summarise_claims.py"


rule state:
    """What is shown of all blocks of a state (config/examples/state.yaml): the figures and tables that need no sampled design."""
    input:
        expand("figures/{name}.pdf", name=["fig3", "fig4", "fig5", "solvar"]),
        expand("results/tables/{name}.csv", name=["table3", "table4", "table7"]),
        "results/paper/proofs.csv",
