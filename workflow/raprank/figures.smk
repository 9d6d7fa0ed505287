"""
Reads: results/raprank/{experiment}/curves.parquet.
Writes: the figures of RAP-RANK that config/raprank.yaml names (PDF, PNG, csv), state by state too, and results/tables/raprank.*.
"""


rule plot_curves:
    """Match rate against k/u, averaged over areas: RAP-RANK and its baselines (RAP-RANK, figures 1 to 4)."""
    input:
        curves=curves_of,
        manifests=manifests_of,
    output:
        pdf="figures/{figure}.pdf",
        png=shown("figures/{figure}.png", "{figure}", RAP_RANK, "curves"),
        csv="figures/{figure}.csv",
        record="figures/{figure}.record.json",
    log:
        "logs/plot_curves/{figure}.log",
    benchmark:
        "benchmarks/plot_curves/{figure}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_curves"),
        panels=panels_of,
        seed=setting("seed"),
    script:
        "../../scripts/raprank/plot_curves.py"


rule plot_curves_states:
    """The same curves state by state (RAP-RANK, figures S1 to S8)."""
    input:
        curves=curves_of,
        manifests=manifests_of,
        states="data/synthetic/states.yaml",
    output:
        pdf="figures/{figure}_states.pdf",
        png=shown(
            "figures/{figure}_states.png",
            "{figure}, by state",
            RAP_RANK,
            "curves_states",
        ),
        csv="figures/{figure}_states.csv",
        record="figures/{figure}_states.record.json",
    log:
        "logs/plot_curves_states/{figure}.log",
    benchmark:
        "benchmarks/plot_curves_states/{figure}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_curves_states"),
        panels=panels_of,
    script:
        "../../scripts/raprank/plot_curves_states.py"


rule plot_convergence:
    """Errors and match rates after more and more steps, on the area of an experiment with the most blocks, or the most rows."""
    input:
        schema="results/raprank/{experiment}/seen/schema.json",
        counts=expand(
            "results/raprank/{{experiment}}/seen/{batch}.parquet", batch=RAP_BATCHES
        ),
        private="results/raprank/{experiment}/private.parquet",
        holdout="results/raprank/{experiment}/holdout.parquet",
        manifest=manifest_of,
    output:
        pdf="figures/convergence_{experiment}.pdf",
        png=shown(
            "figures/convergence_{experiment}.png",
            "convergence of {experiment}",
            RAP_RANK,
            "convergence",
        ),
        csv="figures/convergence_{experiment}.csv",
        record="figures/convergence_{experiment}.record.json",
    log:
        "logs/plot_convergence/{experiment}.log",
    benchmark:
        "benchmarks/plot_convergence/{experiment}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_convergence"),
        experiment=experiment_part("name", "rap"),
        convergence=setting("raprank.convergence"),
        seed=setting("seed"),
    script:
        "../../scripts/raprank/plot_convergence.py"


rule plot_fivefold:
    """Match rates against the share of persons in rows that stand exactly five times in their block."""
    input:
        curves=expand(
            "results/raprank/{experiment}/curves.parquet",
            experiment=STUDY.raprank.dose,
        ),
        manifests=sorted(
            {
                f"{store_path(experiment_of(STUDY, name))}.json"
                for name in STUDY.raprank.dose
            }
        ),
    output:
        pdf="figures/fivefold.pdf",
        png=shown(
            "figures/fivefold.png", "rows that stand five times", RAP_RANK, "fivefold"
        ),
        csv="figures/fivefold.csv",
        record="figures/fivefold.record.json",
    log:
        "logs/plot_fivefold.log",
    benchmark:
        "benchmarks/plot_fivefold.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_fivefold"),
        shares=[experiment_of(STUDY, name).fivefold for name in STUDY.raprank.dose],
        seed=setting("seed"),
    script:
        "../../scripts/raprank/plot_fivefold.py"


rule write_raprank:
    """Mean match rates of every experiment and source, and whether the orders that the paper reports are seen."""
    input:
        curves=expand("results/raprank/{experiment}/curves.parquet", experiment=RUN),
        areas=expand("results/raprank/{experiment}/areas.parquet", experiment=RUN),
        manifests=MANIFESTS,
        paper="data/papers/rap_rank.yaml",
    output:
        rates="results/tables/raprank.csv",
        orders="results/tables/raprank_orders.csv",
        readable="results/tables/raprank.md",
        record="results/tables/raprank.record.json",
    log:
        "logs/write_raprank.log",
    benchmark:
        "benchmarks/write_raprank.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_raprank"),
        seed=setting("seed"),
    script:
        "../../scripts/raprank/write_raprank.py"


rule draw_survey:
    """Draw synthetic persons of some states from the model of a survey, where no file of a survey is named."""
    input:
        model=expand(
            "{folder}/{file}",
            folder=STUDY.raprank.survey.model,
            file=["model.yaml", "counts.csv"],
        ),
    output:
        persons=DRAWN_SURVEY,
        record="results/raprank/survey/synthetic_persons.record.json",
    log:
        "logs/draw_survey.log",
    benchmark:
        "benchmarks/draw_survey.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("draw_survey"),
        states=setting("raprank.survey.states"),
        seed=setting("seed"),
    script:
        "../../scripts/raprank/draw_survey.py"


rule ingest_survey:
    """Make a discrete table of a survey's files: the columns of a task, numerical ones in bins."""
    input:
        files=STUDY.raprank.survey.files or [DRAWN_SURVEY],
        tasks=STUDY.raprank.survey.tasks_file,
    output:
        microdata=directory("results/raprank/survey/{task}"),
        domain="results/raprank/survey/{task}.domain.yaml",
        manifest="results/raprank/survey/{task}.json",
        record="results/raprank/survey/{task}.record.json",
    log:
        "logs/ingest_survey/{task}.log",
    benchmark:
        "benchmarks/ingest_survey/{task}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("ingest_survey"),
        about=SURVEY_LABEL,
    script:
        "../../scripts/raprank/ingest_survey.py"


rule write_survey_tasks:
    """The attributes, codes and marginal queries of each task of the survey, beside those of the paper's Table 1."""
    input:
        domains=expand("results/raprank/survey/{task}.domain.yaml", task=TASKS),
        paper="data/papers/rap_rank.yaml",
    output:
        table="results/tables/survey_tasks.csv",
        readable="results/tables/survey_tasks.md",
        record="results/tables/survey_tasks.record.json",
    log:
        "logs/write_survey_tasks.log",
    benchmark:
        "benchmarks/write_survey_tasks.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_survey_tasks"),
        about=SURVEY_LABEL,
    script:
        "../../scripts/raprank/write_survey_tasks.py"
