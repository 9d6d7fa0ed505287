"""
Reads: results/{variant}/release/ (the attack: rank_release), then results/paper/ and results/microdata/ to judge it.
Writes: results/{variant}/raprank/: the rows of each whole block ranked by RAP-RANK, and figures/certainty.pdf: what a ranking suggests beside what is proved.
figures/intuition.pdf: equations 3 and 4 on tiny domains, from the settings alone; on request.
"""


rule rank_release:
    """RAP-RANK on the whole blocks of the study: K reconstructions from the release of each, their rows ranked by frequency."""
    input:
        schema="results/{variant}/release/schema.json",
        counts="results/{variant}/release/{batch}.parquet",
    output:
        ranked="results/{variant}/raprank/{batch}.parquet",
        runs="results/{variant}/raprank/{batch}.runs.parquet",
        record="results/{variant}/raprank/{batch}.record.json",
    log:
        "logs/{variant}/rank_release/{batch}.log",
    benchmark:
        "benchmarks/{variant}/rank_release/{batch}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("rank_release"),
        raprank=setting("raprank.release"),
        rap=setting("raprank.rap"),
        seed=setting("seed"),
    script:
        "../../scripts/raprank/rank_release.py"


rule plot_certainty:
    """What the rankings suggest and what the proofs guarantee, on the same whole blocks."""
    input:
        sample=SAMPLE,
        microdata="results/microdata",
        domain=STUDY.microdata.domain,
        schema="results/paper/release/schema.json",
        counts=expand("results/paper/release/{batch}.parquet", batch=BATCHES),
        ranked=expand("results/paper/raprank/{batch}.parquet", batch=BATCHES),
        datasets=expand("results/paper/generated/{batch}.parquet", batch=BATCHES),
        claims="results/paper/claims.parquet",
        manifest="results/microdata.json",
    output:
        pdf="figures/certainty.pdf",
        png=shown("figures/certainty.png", "Certainty against confidence", BEYOND),
        csv="figures/certainty.csv",
        record="figures/certainty.record.json",
    log:
        "logs/plot_certainty.log",
    benchmark:
        "benchmarks/plot_certainty.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_certainty"),
        release=setting("release"),
        runs=setting("raprank.release.runs"),
        grid=setting("raprank.grid"),
        seed=setting("seed"),
    script:
        "../../scripts/raprank/plot_certainty.py"


rule plot_intuition:
    """Equations 3 and 4, computed exactly on a tiny domain; does the frequency over RAP's runs follow the posterior?"""
    output:
        pdf="figures/intuition.pdf",
        png=shown(
            "figures/intuition.png",
            "Equations 3 and 4",
            RAP_RANK,
            data="tiny domains",
        ),
        csv="figures/intuition.csv",
        record="figures/intuition.record.json",
    log:
        "logs/plot_intuition.log",
    benchmark:
        "benchmarks/plot_intuition.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_intuition"),
        intuition=setting("raprank.intuition"),
        rap=setting("raprank.rap"),
        seed=setting("seed"),
    script:
        "../../scripts/raprank/plot_intuition.py"


rule raprank:
    """Every figure and table of RAP-RANK, and what it suggests beside what is proved: about half an hour of one core, besides the claims of the study."""
    input:
        expand("figures/{figure}{by}.pdf", figure=DRAWN, by=["", "_states"]),
        "figures/fivefold.pdf",
        "results/tables/survey_tasks.csv",
        expand("figures/convergence_{experiment}.pdf", experiment=CONVERGENCE),
        "figures/certainty.pdf",
        expand("results/report/{page}.html", page=PAGES["raprank"]),
        expand(
            "results/report/{page}.html",
            page=PAGES["persons"] if STUDY.persons.records else [],
        ),
