"""
Reads: results/microdata/ for the priors (fit_priors) and to judge (judge_probabilities); for the attack (weigh_claims) only results/{variant}/release/,
generated/, claims/ and the tables of weights of the priors.
Writes: results/{variant}/probabilities/: claims and rows with their probability under every prior, and how many datasets fit each block;
figures/calibration.pdf, figures/posterior.pdf, figures/reconstructions.pdf, results/tables/singled_out.csv. Targets on request, no part of `all`.
"""


rule fit_priors:
    """Count the households of tract, state and nation around the sampled blocks, without these blocks."""
    input:
        microdata="results/microdata",
        blocks=SAMPLE,
        domain=STUDY.microdata.domain,
    output:
        areas="results/{variant}/probabilities/areas.parquet",
        record="results/{variant}/probabilities/areas.record.json",
    log:
        "logs/{variant}/fit_priors.log",
    benchmark:
        "benchmarks/{variant}/fit_priors.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("fit_priors"),
        release=setting("release"),
    script:
        "../../scripts/gtv/fit_priors.py"


rule choose_smoothing:
    """How many households of the wider area a prior needs: what predicts the blocks outside the sample best."""
    input:
        microdata="results/microdata",
        blocks=SAMPLE,
        domain=STUDY.microdata.domain,
    output:
        table="results/{variant}/probabilities/smoothing.csv",
        record="results/{variant}/probabilities/smoothing.record.json",
    log:
        "logs/{variant}/choose_smoothing.log",
    benchmark:
        "benchmarks/{variant}/choose_smoothing.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("choose_smoothing"),
        release=setting("release"),
        probability=setting("probability"),
    script:
        "../../scripts/gtv/choose_smoothing.py"


rule weigh_claims:
    """The probability of claims and rows of a batch of blocks under every prior; those that are verified must have 1, and only those."""
    input:
        schema="results/{variant}/release/schema.json",
        counts="results/{variant}/release/{batch}.parquet",
        datasets="results/{variant}/generated/{batch}.parquet",
        claims="results/{variant}/claims/{batch}.parquet",
        decided="results/{variant}/claims/{batch}.blocks.parquet",
        areas="results/{variant}/probabilities/areas.parquet",
        smoothing="results/{variant}/probabilities/smoothing.csv",
    output:
        claims="results/{variant}/probabilities/{batch}.parquet",
        rows="results/{variant}/probabilities/{batch}.rows.parquet",
        blocks="results/{variant}/probabilities/{batch}.blocks.parquet",
        record="results/{variant}/probabilities/{batch}.record.json",
    log:
        "logs/{variant}/weigh_claims/{batch}.log",
    benchmark:
        "benchmarks/{variant}/weigh_claims/{batch}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("weigh_claims"),
        probability=setting("probability"),
        program=setting("program"),
        verify=setting("verify"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/weigh_claims.py"


rule judge_probabilities:
    """Hold the probabilities against the private blocks: reliability, scores, match rates, households singled out."""
    input:
        schema="results/paper/release/schema.json",
        claims=expand("results/paper/probabilities/{batch}.parquet", batch=BATCHES),
        rows=expand("results/paper/probabilities/{batch}.rows.parquet", batch=BATCHES),
        ranked=expand(
            "results/paper/raprank/{batch}.parquet",
            batch=BATCHES[: STUDY.probability.raprank],
        ),
        areas="results/paper/probabilities/areas.parquet",
        microdata="results/microdata",
        domain=STUDY.microdata.domain,
    output:
        reliability="results/probability/reliability.csv",
        scores="results/probability/scores.csv",
        rates="results/probability/match_rates.csv",
        singled_out="results/probability/singled_out.csv",
        record="results/probability/record.json",
    log:
        "logs/judge_probabilities.log",
    benchmark:
        "benchmarks/judge_probabilities.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("judge_probabilities"),
        release=setting("release"),
        runs=setting("raprank.release.runs"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/judge_probabilities.py"


rule plot_calibration:
    """Of the claims and rows given a probability, how many are true of the private block, for every source."""
    input:
        reliability="results/probability/reliability.csv",
        scores="results/probability/scores.csv",
        manifest="results/microdata.json",
    output:
        pdf="figures/calibration.pdf",
        png=shown("figures/calibration.png", "Calibration of probabilities", BEYOND),
        record="figures/calibration.record.json",
    log:
        "logs/plot_calibration.log",
    benchmark:
        "benchmarks/plot_calibration.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_calibration"),
        verify=setting("verify"),
    script:
        "../../scripts/gtv/plot_calibration.py"


rule plot_posterior:
    """Match rate of the likeliest rows, beside RAP-RANK and guesses without the release, on the same whole blocks."""
    input:
        rates="results/probability/match_rates.csv",
        manifest="results/microdata.json",
    output:
        pdf="figures/posterior.pdf",
        png=shown("figures/posterior.png", "Posterior ranking of rows", BEYOND),
        record="figures/posterior.record.json",
    log:
        "logs/plot_posterior.log",
    benchmark:
        "benchmarks/plot_posterior.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_posterior"),
    script:
        "../../scripts/gtv/plot_posterior.py"


rule plot_reconstructions:
    """How many datasets fit each block, by its number of households."""
    input:
        blocks=expand(
            "results/paper/probabilities/{batch}.blocks.parquet", batch=BATCHES
        ),
        manifest="results/microdata.json",
    output:
        pdf="figures/reconstructions.pdf",
        png=shown("figures/reconstructions.png", "Datasets that fit a block", BEYOND),
        record="figures/reconstructions.record.json",
    log:
        "logs/plot_reconstructions.log",
    benchmark:
        "benchmarks/plot_reconstructions.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_reconstructions"),
    script:
        "../../scripts/gtv/plot_reconstructions.py"


rule write_singled_out:
    """Households singled out at certainty, 99 %, 90 % and 50 %, with the share of these statements that are false."""
    input:
        singled_out="results/probability/singled_out.csv",
        scores="results/probability/scores.csv",
        blocks=expand(
            "results/paper/probabilities/{batch}.blocks.parquet", batch=BATCHES
        ),
        manifest="results/microdata.json",
    output:
        table="results/tables/singled_out.csv",
        readable="results/tables/singled_out.md",
        record="results/tables/singled_out.record.json",
    log:
        "logs/write_singled_out.log",
    benchmark:
        "benchmarks/write_singled_out.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_singled_out"),
    script:
        "../../scripts/gtv/write_singled_out.py"


rule probability:
    """How likely is what is not certain: probabilities, their calibration, and who is singled out with which probability."""
    input:
        "figures/calibration.pdf",
        "figures/posterior.pdf",
        "figures/reconstructions.pdf",
        expand("results/report/{page}.html", page=PAGES["probability"]),
