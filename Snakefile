"""genverify: what must be true of the people behind published tables, whatever the private data were?"""

from snakemake.utils import min_version

min_version("9.27")


include: "workflow/common.smk"


# The studies. Each has a folder in workflow/, in which its stages are found: common.smk first, which says what they share.
#
#   country      the built-in country or census files: households, persons, and the blocks that are sampled
#   gtv          generate-then-verify, and what goes beyond it: protected counts, zeros, probabilities, whole tracts
#   raprank      RAP-RANK, the ranking that the attack is compared with
#   cellbounds   bounds of cells from conditional tables
#   housing      subsidized housing
#   mechanisms   randomized response, the matrix mechanism
#   disclosure   tables of your own, rounded tables of areas, benchmarks of audits
for stage in stage_files(HERE):

    include: stage


# What is about any study: proofs for other checkers, the page of blocks, the report, the crate, the audit, the paper.
include: "workflow/export.smk"
include: "workflow/explorer.smk"
include: "workflow/report.smk"
include: "workflow/crate.smk"
include: "workflow/audit.smk"
include: "workflow/reference.smk"
include: "workflow/paper.smk"


rule all:
    """Every figure and table of the study that its settings allow."""
    default_target: True
    input:
        DEFAULT,
        expand(
            "results/report/{page}.html",
            page=[p for p in PAGES["all"] if can_be_made(STUDY, p)],
        ),
