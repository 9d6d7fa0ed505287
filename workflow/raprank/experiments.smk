"""
Reads: the private stores (results/microdata/, results/persons/, results/raprank/survey/, results/raprank/records/) to draw, halve and judge areas; the attack
(rank_areas) reads only results/raprank/{experiment}/seen/ and, for a start at the holdout, results/raprank/{experiment}/holdout.parquet.
Writes: results/raprank/{experiment}/: areas, private and holdout halves, published counts, ranked rows per start, match curves.
"""


rule ingest_records:
    """Make a store of the person records that a setting names, so that experiments can be about them."""
    input:
        records=file_named(STUDY.persons.records, "persons.records"),
        domain=STUDY.persons.domain,
    output:
        microdata=directory("results/raprank/records"),
        manifest="results/raprank/records.json",
        record="results/raprank/records.record.json",
    log:
        "logs/raprank/ingest_records.log",
    benchmark:
        "benchmarks/raprank/ingest_records.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("ingest_records"),
    script:
        "../../scripts/raprank/ingest_records.py"


rule draw_areas:
    """Draw the areas of an experiment: sampled blocks, six blocks of each state by size, a tract of each state, or states."""
    input:
        microdata=store_of,
        domain=domain_of,
        sample=sample_of,
    output:
        areas="results/raprank/{experiment}/areas.parquet",
        record="results/raprank/{experiment}/areas.record.json",
    log:
        "logs/raprank/{experiment}/draw_areas.log",
    benchmark:
        "benchmarks/raprank/{experiment}/draw_areas.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("draw_areas"),
        experiment=experiment_part(
            "keeps", "data", "areas", "states", "tracts", "limit"
        ),
        seed=setting("seed"),
    script:
        "../../scripts/raprank/draw_areas.py"


rule split_areas:
    """Halve every area into D and the holdout, and publish the counts of D: all that the attack sees."""
    input:
        microdata=store_of,
        domain=domain_of,
        areas="results/raprank/{experiment}/areas.parquet",
    output:
        private="results/raprank/{experiment}/private.parquet",
        holdout="results/raprank/{experiment}/holdout.parquet",
        schema="results/raprank/{experiment}/seen/schema.json",
        counts=expand(
            "results/raprank/{{experiment}}/seen/{batch}.parquet", batch=RAP_BATCHES
        ),
        record="results/raprank/{experiment}/seen/record.json",
    log:
        "logs/raprank/{experiment}/split_areas.log",
    benchmark:
        "benchmarks/raprank/{experiment}/split_areas.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("split_areas"),
        experiment=experiment_part(
            "keeps",
            "data",
            "areas",
            "limit",
            "fivefold",
            "tables",
            "block_tables",
            "marginals",
            "release",
        ),
        seed=setting("seed"),
    script:
        "../../scripts/raprank/split_areas.py"


rule rank_areas:
    """RAP-RANK on every area of a batch (Algorithm 1): K reconstructions, their rows ranked by frequency."""
    input:
        schema="results/raprank/{experiment}/seen/schema.json",
        counts="results/raprank/{experiment}/seen/{batch}.parquet",
        start=start_of,
    output:
        ranked="results/raprank/{experiment}/{start}/{batch}.parquet",
        runs="results/raprank/{experiment}/{start}/{batch}.runs.parquet",
        record="results/raprank/{experiment}/{start}/{batch}.record.json",
    log:
        "logs/raprank/{experiment}/{start}/rank_areas/{batch}.log",
    benchmark:
        "benchmarks/raprank/{experiment}/{start}/rank_areas/{batch}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("rank_areas"),
        experiment=experiment_part("name", "blocks", "runs", "rap"),
        seed=setting("seed"),
    script:
        "../../scripts/raprank/rank_areas.py"


rule match_areas:
    """Match rates of the rankings and of every baseline against D, area by area."""
    input:
        microdata=store_of,
        domain=domain_of,
        areas="results/raprank/{experiment}/areas.parquet",
        private="results/raprank/{experiment}/private.parquet",
        holdout="results/raprank/{experiment}/holdout.parquet",
        schema="results/raprank/{experiment}/seen/schema.json",
        ranked=ranked_of,
    output:
        curves="results/raprank/{experiment}/curves.parquet",
        record="results/raprank/{experiment}/curves.record.json",
    log:
        "logs/raprank/{experiment}/match_areas.log",
    benchmark:
        "benchmarks/raprank/{experiment}/match_areas.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("match_areas"),
        experiment=experiment_part("keeps", "block_tables", "starts"),
        grid=setting("raprank.grid"),
        seed=setting("seed"),
    script:
        "../../scripts/raprank/match_areas.py"
