"""
Reads: results/{variant}/ (release, proofs, claims, baselines, households, vipr, probabilities).
Writes: results/{variant}/explained/, the proofs laid out cell by cell, and results/explorer/, a page about the blocks of one variant
that needs no server and no network, once more as one file for Snakemake's report. Data that are not synthetic: aggregates only, unless explorer.show_households is set.
"""

EXPLORED = STUDY.explorer.variant
LISTED = STUDY.microdata.source == "synthetic" or STUDY.explorer.show_households


rule explain_claims:
    """Check the proofs of a batch of blocks and lay them out: the published cells that force each group of claims."""
    input:
        schema="results/{variant}/release/schema.json",
        counts="results/{variant}/release/{batch}.parquet",
        proofs="results/{variant}/proofs/{batch}.jsonl.gz",
    output:
        explained="results/{variant}/explained/{batch}.jsonl.gz",
        record="results/{variant}/explained/{batch}.record.json",
    log:
        "logs/{variant}/explain_claims/{batch}.log",
    benchmark:
        "benchmarks/{variant}/explain_claims/{batch}.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("explain_claims"),
    script:
        "../scripts/show/explain_claims.py"


rule build_explorer:
    """The block explorer: states, blocks, published tables, verified claims in words, their proofs and baselines; what is likely beside."""
    input:
        schema=f"results/{EXPLORED}/release/schema.json",
        sample=SAMPLE,
        blocks=f"results/{EXPLORED}/blocks.parquet",
        households=f"results/{EXPLORED}/households.parquet",
        claims=f"results/{EXPLORED}/claims.parquet",
        baselines=f"results/{EXPLORED}/baselines.parquet",
        counts=expand(f"results/{EXPLORED}/release/{{batch}}.parquet", batch=BATCHES),
        proofs=expand(
            f"results/{EXPLORED}/proofs/{{batch}}.jsonl.gz",
            batch=BATCHES if LISTED else [],
        ),
        explained=expand(
            f"results/{EXPLORED}/explained/{{batch}}.jsonl.gz",
            batch=BATCHES if LISTED else [],
        ),
        vipr=expand(
            f"results/{EXPLORED}/vipr/{{batch}}.zip",
            batch=BATCHES if LISTED and STUDY.explorer.certificates else [],
        ),
        weighed=expand(
            f"results/{EXPLORED}/probabilities/{{batch}}.parquet",
            batch=BATCHES if LISTED and STUDY.explorer.likely else [],
        ),
        manifest="results/microdata.json",
        domain=STUDY.microdata.domain,
        tables=settings_of(STUDY, "release", EXPLORED)["tables_file"],
        places=STUDY.explorer.places,
        phrases=STUDY.explorer.phrases or [],
    output:
        page="results/explorer/index.html",
        inside=report(
            "results/explorer/all_in_one.html",
            caption="captions/explorer.rst",
            category="Beyond the papers",
            subcategory="Explorer",
            labels={"result": "Block explorer", **LABELS},
        ),
        pieces=directory("results/explorer/pieces"),
        record="results/explorer/record.json",
    log:
        "logs/build_explorer.log",
    benchmark:
        "benchmarks/build_explorer.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("build_explorer"),
        explorer=setting("explorer"),
        verify=settings_of(STUDY, "verify", EXPLORED),
    script:
        "../scripts/show/build_explorer.py"
