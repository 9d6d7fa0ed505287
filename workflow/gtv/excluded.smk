"""
Reads: results/paper/release/ and results/paper/generated/.
Writes: results/tables/excluded.csv: how many (claim, m) pairs no dataset that fits can have. A target on request, no part of `all`.
"""


rule write_excluded:
    """Count the (claim, m) pairs that cannot exist (footnote 9), each proved and the proof checked."""
    input:
        schema="results/paper/release/schema.json",
        counts=expand("results/paper/release/{batch}.parquet", batch=BATCHES),
        datasets=expand("results/paper/generated/{batch}.parquet", batch=BATCHES),
        manifest="results/microdata.json",
    output:
        table="results/tables/excluded.csv",
        record="results/tables/excluded.record.json",
    log:
        "logs/write_excluded.log",
    benchmark:
        "benchmarks/write_excluded.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_excluded"),
        program=setting("program"),
        excluded=setting("excluded"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/write_excluded.py"
