"""
Reads: results/{variant}/release/ and results/{variant}/generated/.
Writes: results/{variant}/variability/ and figures/solvar.pdf: how far full reconstruction is from unique.
"""


rule measure_variability:
    """Find how far a fitting dataset can be from the first generated one (subsidized housing, equation 3)."""
    input:
        schema="results/{variant}/release/schema.json",
        counts="results/{variant}/release/{batch}.parquet",
        datasets="results/{variant}/generated/{batch}.parquet",
    output:
        variability="results/{variant}/variability/{batch}.parquet",
        record="results/{variant}/variability/{batch}.record.json",
    log:
        "logs/{variant}/measure_variability/{batch}.log",
    benchmark:
        "benchmarks/{variant}/measure_variability/{batch}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("measure_variability"),
        program=setting("program"),
    script:
        "../../scripts/gtv/measure_variability.py"


rule plot_solvar:
    """Share of blocks by how many of their records can differ between datasets that fit (full reconstruction)."""
    input:
        sample=SAMPLE,
        variability=expand("results/paper/variability/{batch}.parquet", batch=BATCHES),
        blocks="results/paper/blocks.parquet",
        manifest="results/microdata.json",
    output:
        pdf="figures/solvar.pdf",
        png=shown("figures/solvar.png", "Solution variability", BEYOND),
        csv="figures/solvar.csv",
        record="figures/solvar.record.json",
    log:
        "logs/plot_solvar.log",
    benchmark:
        "benchmarks/plot_solvar.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_solvar"),
    script:
        "../../scripts/gtv/plot_solvar.py"
