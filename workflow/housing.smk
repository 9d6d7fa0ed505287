"""
Reads: data/housing/ (columns, what is published, assumptions, budgets), and the built-in country or results/microdata/; files of both
releases where config.yaml names them.
Writes: results/housing/households.parquet, the private households of the housing study; results/housing/{condition}/, what is published
about the blocks that hold a subsidized property; results/tables/housing_simulation.csv.
"""

CONDITIONS = sorted(STUDY.housing.conditions)
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
    return "data/housing/budget.yaml" if has_noise(wildcards) else []


rule draw_housing:
    """Draw the households of the housing study: exact sizes, children, subsidized properties and bedrooms (appendix B)."""
    input:
        source=HOUSING_SOURCE,
        domain=STUDY.microdata.domain,
        housing_domain=STUDY.housing.domain,
        simulation=STUDY.housing.simulation,
        pums=STUDY.housing.pums or [],
    output:
        households="results/housing/households.parquet",
        manifest="results/housing/manifest.json",
        record="results/housing/households.record.json",
    log:
        "logs/draw_housing.log",
    benchmark:
        "benchmarks/draw_housing.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("draw_housing"),
        microdata=setting("microdata"),
        households=setting("housing.households"),
        blocks=setting("housing.blocks"),
        smallest_property=setting("housing.smallest_property"),
        alpha=setting("housing.alpha"),
        seed=setting("seed"),
    script:
        "../scripts/draw_housing.py"


rule publish_housing:
    """Publish the census counts and HUD's percentages of every block that holds a property, protected as a condition says."""
    input:
        households=simulated_households,
        files=user_files,
        budget=budget_file,
        published=STUDY.housing.published,
    output:
        statistics="results/housing/{condition}/statistics.parquet",
        manifest="results/housing/{condition}/manifest.json",
        record="results/housing/{condition}/statistics.record.json",
    log:
        "logs/housing/{condition}/publish_housing.log",
    benchmark:
        "benchmarks/housing/{condition}/publish_housing.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("publish_housing"),
        condition=condition_part("swap", "swap_hud", "noise", "rho", "noise_hud"),
        smallest_property=setting("housing.smallest_property"),
        seed=setting("seed"),
    script:
        "../scripts/publish_housing.py"


rule write_housing_simulation:
    """Compare the simulated properties with what the paper says of its own: households, share subsidized, violations."""
    input:
        households="results/housing/households.parquet",
        manifest="results/housing/manifest.json",
        housing_domain=STUDY.housing.domain,
        simulation=STUDY.housing.simulation,
    output:
        table="results/tables/housing_simulation.csv",
        record="results/tables/housing_simulation.record.json",
    log:
        "logs/write_housing_simulation.log",
    benchmark:
        "benchmarks/write_housing_simulation.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("write_housing_simulation"),
    script:
        "../scripts/write_housing_simulation.py"
