"""
Reads: results/{variant}/claims.parquet and baselines/, group by group.
Writes: results/{variant}/baselines.parquet, a row per row of claims.parquet, and summary.json: what figures 3 to 5 show, however many claims there are.
"""


rule summarise_claims:
    """Put the baselines of the batches together; count the claims by design, k and column, and put their probabilities into boxes."""
    input:
        schema="results/{variant}/release/schema.json",
        claims="results/{variant}/claims.parquet",
        sample=SAMPLE,
        baselines=expand("results/{{variant}}/baselines/{batch}.parquet", batch=BATCHES),
        unseen=expand(
            "results/{{variant}}/baselines/{batch}.unseen.parquet", batch=BATCHES
        ),
    output:
        baselines="results/{variant}/baselines.parquet",
        unseen="results/{variant}/unseen.csv",
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
