"""
Reads: the section housing of config/housing.yaml.
Writes: nothing; what the stages of the housing study share: its source, the settings of a condition, and the files that it needs.
"""

HOUSING = "Subsidized housing"
WHOLE.append("housing")
CONDITIONS = sorted(STUDY.housing.conditions)
# those whose flagged blocks are reconstructed
RECONSTRUCTED = [name for name in CONDITIONS if STUDY.housing.conditions[name].top]
# from which figures are drawn: the paper's reading of the counts
SHOWN_CONDITIONS = [
    name
    for name, condition in STUDY.housing.conditions.items()
    if condition.reading == "appendix_e" and condition.top
]
HOUSING_BATCHES = [f"{batch:03d}" for batch in range(STUDY.housing.batches)]
HOUSING_SOURCE = (
    COUNTRY
    if STUDY.microdata.source == "synthetic"
    else ["results/microdata", "results/microdata.json"]
)


wildcard_constraints:
    condition="|".join(CONDITIONS),


def condition_part(*names):
    """Some settings of the job's condition."""

    def of_job(wildcards):
        condition = STUDY.housing.conditions[wildcards.condition].model_dump()
        return {name: condition[name] for name in names}

    return of_job


def has_noise(wildcards):
    """Whether the job's condition adds noise."""
    condition = STUDY.housing.conditions[wildcards.condition]
    return condition.noise != "none" or condition.noise_hud


def is_real(wildcards):
    """Whether the job publishes the files of a user: a condition without protection, and the files are named."""
    swapped = STUDY.housing.conditions[wildcards.condition].swap > 0
    return bool(STUDY.housing.picture) and not swapped and not has_noise(wildcards)


def simulated_households(wildcards):
    """The private households and their manifest, unless a user's files are published."""
    made = [
        "results/housing/households.parquet",
        "results/housing/manifest.json",
    ]
    return [] if is_real(wildcards) else made


def user_files(wildcards):
    """The files of a user, and what their columns are called, if they are published."""
    files = [STUDY.housing.picture, STUDY.housing.sf1]
    columns = ["data/housing/picture.yaml", "data/housing/sf1.yaml"]
    return files + columns if is_real(wildcards) else []


def budget_file(wildcards):
    """The budgets of appendix F, if the condition adds noise."""
    return STUDY.housing.budget if has_noise(wildcards) else []


def number_of(wildcards):
    """What the paper calls a figure: fig3 is Figure 3, a4 is Figure A.4."""
    name = wildcards.get("curve") or wildcards.spread
    return {"fig2": "Figure 2", "fig3": "Figure 3"}.get(
        name, f"Figure {name[0].upper()}.{name[1:]}"
    )
