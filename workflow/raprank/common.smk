"""
Reads: the section raprank of config/raprank.yaml.
Writes: nothing; what the stages of RAP-RANK share: the settings of an experiment, its files, and the targets.
"""

from studies.raprank.configuration import (
    can_be_drawn,
    can_be_run,
    domain_path,
    experiment_of,
    experiment_settings,
    figure_experiments,
    figure_panels,
    store_path,
)
from genverify.model.files import read_yaml

RAP_RANK = "RAP-RANK"
WHOLE.append("raprank")
RAP_BATCHES = [f"{batch:03d}" for batch in range(STUDY.raprank.batches)]
TASKS = sorted(read_yaml(Path(STUDY.raprank.survey.tasks_file))["tasks"])
# where no file of a survey is named, its persons are drawn from a model
DRAWN_SURVEY = "results/raprank/survey/synthetic_persons.csv"
SURVEY_LABEL = (
    f"survey files {', '.join(Path(path).name for path in STUDY.raprank.survey.files)}"
    if STUDY.raprank.survey.files
    else f"synthetic persons drawn from {STUDY.raprank.survey.model}"
)
EXPERIMENTS = sorted(STUDY.raprank.experiments)
RAP_FIGURES = sorted(STUDY.raprank.figures)
# experiments on person records are left out unless persons.records names a file
RUN = [name for name in EXPERIMENTS if can_be_run(STUDY, name)]
DRAWN = [figure for figure in RAP_FIGURES if can_be_drawn(STUDY, figure)]
CONVERGENCE = [
    name for name in RUN if experiment_of(STUDY, name).block_tables is not None
]
MANIFESTS = sorted({f"{store_path(experiment_of(STUDY, name))}.json" for name in RUN})


wildcard_constraints:
    experiment="|".join(EXPERIMENTS),
    figure="|".join(RAP_FIGURES),
    start="random|holdout",
    task="|".join(TASKS),


def experiment_part(*names):
    """Some settings of the job's experiment."""

    def of_job(wildcards):
        settings = experiment_settings(STUDY, wildcards.experiment).model_dump()
        return {name: settings[name] for name in names}

    return of_job


def store_of(wildcards):
    """The private records that the experiment is about."""
    return store_path(experiment_of(STUDY, wildcards.experiment))


def manifest_of(wildcards):
    """What they are called."""
    return f"{store_of(wildcards)}.json"


def domain_of(wildcards):
    """Their domain file."""
    return domain_path(STUDY, experiment_of(STUDY, wildcards.experiment))


def sample_of(wildcards):
    """The blocks of the study, where an experiment is about them."""
    wanted = experiment_of(STUDY, wildcards.experiment).areas == "sample"
    return list(SAMPLES.values()) if wanted else []


def manifests_of(wildcards):
    """What the data of a figure's panels are called."""
    experiments = figure_experiments(STUDY, wildcards.figure)
    return sorted(
        {f"{store_path(experiment_of(STUDY, name))}.json" for name in experiments}
    )


def panels_of(wildcards):
    """What each panel of a figure is about."""
    return figure_panels(STUDY, wildcards.figure)


def start_of(wildcards):
    """The baseline at which the attack starts, if any."""
    holdout = f"results/raprank/{wildcards.experiment}/holdout.parquet"
    return [holdout] if wildcards.start == "holdout" else []


def ranked_of(wildcards):
    """The ranked rows of an experiment, start by start."""
    return expand(
        "results/raprank/{experiment}/{start}/{batch}.parquet",
        experiment=wildcards.experiment,
        start=experiment_of(STUDY, wildcards.experiment).starts,
        batch=RAP_BATCHES,
    )


def curves_of(wildcards):
    """The match curves of a figure's panels."""
    return [
        f"results/raprank/{name}/curves.parquet"
        for name in figure_experiments(STUDY, wildcards.figure)
    ]
