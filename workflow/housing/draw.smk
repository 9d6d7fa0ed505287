"""
Reads: data/housing/ (columns, what is published, assumptions, budgets), and the built-in country or results/microdata/; files of both
releases where config/housing.yaml names them.
Writes: results/housing/households.parquet, the private households of the housing study; results/housing/{condition}/, what is published
about the blocks that hold a subsidized property; results/tables/housing_simulation.csv.
"""


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
        "../../envs/environment.yaml"
    params:
        code=code_of("draw_housing"),
        microdata=setting("microdata"),
        households=setting("housing.households"),
        blocks=setting("housing.blocks"),
        smallest_property=setting("housing.smallest_property"),
        alpha=setting("housing.alpha"),
        seed=setting("seed"),
    script:
        "../../scripts/housing/draw_housing.py"


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
        "../../envs/environment.yaml"
    params:
        code=code_of("publish_housing"),
        condition=condition_part(
            "swap", "swap_among", "swap_hud", "noise", "rho", "noise_hud", "blocks"
        ),
        smallest_property=setting("housing.smallest_property"),
        seed=setting("seed"),
    script:
        "../../scripts/housing/publish_housing.py"


rule write_housing_simulation:
    """Compare the simulated properties, and other draws of them, with what the paper says of its own: violations and sizes."""
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
        "../../envs/environment.yaml"
    params:
        code=code_of("write_housing_simulation"),
        blocks=setting("housing.blocks"),
        smallest_property=setting("housing.smallest_property"),
        alpha=setting("housing.alpha"),
        draws=setting("housing.simulation_draws"),
        seed=setting("seed"),
    script:
        "../../scripts/housing/write_housing_simulation.py"
