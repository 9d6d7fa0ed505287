"""genverify: what must be true of the people behind published tables, whatever the private data were?"""

from snakemake.utils import min_version

min_version("9.27")


include: "workflow/common.smk"
include: "workflow/microdata.smk"
include: "workflow/persons.smk"
include: "workflow/gtv/sample.smk"
include: "workflow/gtv/tabulate.smk"
include: "workflow/gtv/generate.smk"
include: "workflow/gtv/verify.smk"
include: "workflow/gtv/variability.smk"
include: "workflow/gtv/baselines.smk"
include: "workflow/gtv/summary.smk"
include: "workflow/gtv/figures.smk"
include: "workflow/gtv/paper_figures.smk"
include: "workflow/gtv/tables.smk"
include: "workflow/gtv/paper_tables.smk"
include: "workflow/raprank/common.smk"
include: "workflow/raprank/experiments.smk"
include: "workflow/raprank/figures.smk"
include: "workflow/raprank/certainty.smk"
include: "workflow/cellbounds/cellbounds.smk"
include: "workflow/housing/common.smk"
include: "workflow/housing/draw.smk"
include: "workflow/housing/detect.smk"
include: "workflow/housing/reconstruct.smk"
include: "workflow/housing/results.smk"
include: "workflow/housing/figures.smk"
include: "workflow/mechanisms/mechanisms.smk"
include: "workflow/export.smk"
include: "workflow/explorer.smk"
include: "workflow/gtv/benchmark.smk"
include: "workflow/report.smk"
include: "workflow/crate.smk"
include: "workflow/audit.smk"
include: "workflow/raprank/benchmark.smk"
include: "workflow/housing/benchmark.smk"
include: "workflow/disclosure.smk"
include: "workflow/nz.smk"
include: "workflow/gtv/beyond.smk"
include: "workflow/reference.smk"


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
            page=[p for p in PAGES["all"] if can_be_made(STUDY, p)],
        ),
