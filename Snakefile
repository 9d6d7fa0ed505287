"""genverify: what must be true of the people behind published tables, whatever the private data were?"""

from snakemake.utils import min_version

min_version("9.27")


include: "workflow/common.smk"
include: "workflow/microdata.smk"
include: "workflow/persons.smk"
include: "workflow/sample.smk"
include: "workflow/tabulate.smk"
include: "workflow/generate.smk"
include: "workflow/verify.smk"
include: "workflow/variability.smk"
include: "workflow/baselines.smk"
include: "workflow/summary.smk"
include: "workflow/figures.smk"
include: "workflow/paper_figures.smk"
include: "workflow/tables.smk"
include: "workflow/paper_tables.smk"
include: "workflow/raprank_common.smk"
include: "workflow/raprank.smk"
include: "workflow/raprank_figures.smk"
include: "workflow/raprank_certainty.smk"
include: "workflow/cellbounds.smk"
include: "workflow/housing_common.smk"
include: "workflow/housing.smk"
include: "workflow/housing_detect.smk"
include: "workflow/housing_reconstruct.smk"
include: "workflow/housing_results.smk"
include: "workflow/housing_figures.smk"
include: "workflow/privacy.smk"
include: "workflow/explorer.smk"
include: "workflow/benchmark.smk"
include: "workflow/report.smk"
include: "workflow/crate.smk"
include: "workflow/audit.smk"
include: "workflow/raprank_benchmark.smk"
include: "workflow/housing_benchmark.smk"
include: "workflow/releases.smk"
include: "workflow/protected.smk"


rule all:
    """Every figure and table of the study that its settings allow."""
    default_target: True
    input:
        FIGURES,
        TABLES,
        EXAMPLES,
        CELLBOUNDS,
        expand(
            "results/report/{page}.html",
            page=[p for p in PAGES if can_be_made(STUDY, p)],
        ),
