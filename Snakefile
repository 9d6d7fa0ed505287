"""genverify: what must be true of the people behind published tables, whatever the private data were?"""

from snakemake.utils import min_version

min_version("9.27")


configfile: "config.yaml"


include: "workflow/common.smk"
include: "workflow/microdata.smk"
include: "workflow/persons.smk"
include: "workflow/sample.smk"
include: "workflow/tabulate.smk"
include: "workflow/generate.smk"
include: "workflow/verify.smk"
include: "workflow/variability.smk"
include: "workflow/baselines.smk"
include: "workflow/figures.smk"
include: "workflow/paper_figures.smk"
include: "workflow/tables.smk"
include: "workflow/paper_tables.smk"
include: "workflow/raprank_common.smk"
include: "workflow/raprank.smk"
include: "workflow/raprank_figures.smk"
include: "workflow/raprank_certainty.smk"
include: "workflow/benchmark.smk"
include: "workflow/raprank_benchmark.smk"


rule all:
    """Every figure and table of the study; examples in words only from synthetic data."""
    default_target: True
    input:
        FIGURES,
        TABLES,
        EXAMPLES,
