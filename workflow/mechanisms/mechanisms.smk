"""
Reads: the domain and table files, and results/microdata/ for the zeros of blocks.
Writes: figures/rr_frontier.*, figures/matrix_mechanism.*, figures/zeros_removed.* and results/privacy/ (privacy against accuracy).
"""

PRIVACY = "Privacy against accuracy"
PRIVACY_FIGURES = [
    f"figures/{name}.pdf"
    for name in ("rr_frontier", "matrix_mechanism", "zeros_removed")
]


rule plot_rr_frontier:
    """Draw accuracy against privacy loss of randomized response (B-4 to B-12), simulated surveys on the curve."""
    output:
        pdf="figures/rr_frontier.pdf",
        png=shown("figures/rr_frontier.png", "Randomized response", PRIVACY),
        table="figures/rr_frontier.csv",
        record="figures/rr_frontier.record.json",
    log:
        "logs/plot_rr_frontier.log",
    benchmark:
        "benchmarks/plot_rr_frontier.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_rr_frontier"),
        response=setting("privacy.randomized_response"),
        seed=setting("seed"),
    script:
        "../../scripts/mechanisms/plot_rr_frontier.py"


rule plot_matrix_mechanism:
    """Draw the error of the matrix mechanism (theorem 3, E-27) on the queries of the study, by strategy."""
    input:
        domain=STUDY.microdata.domain,
        tables=STUDY.release.tables_file,
    output:
        pdf="figures/matrix_mechanism.pdf",
        png=shown("figures/matrix_mechanism.png", "Matrix mechanism", PRIVACY),
        table="figures/matrix_mechanism.csv",
        queries="results/privacy/matrix_mechanism.csv",
        record="figures/matrix_mechanism.record.json",
    log:
        "logs/plot_matrix_mechanism.log",
    benchmark:
        "benchmarks/plot_matrix_mechanism.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_matrix_mechanism"),
        release=setting("release"),
        mechanism=setting("privacy.matrix_mechanism"),
    script:
        "../../scripts/mechanisms/plot_matrix_mechanism.py"


rule count_zeros:
    """Count the record types that the zeros of a block leave open, for the sampled blocks and blocks of other sizes."""
    input:
        microdata="results/microdata",
        sizes="results/sample/sizes.parquet",
        sample="results/sample/blocks.parquet",
        domain=STUDY.microdata.domain,
        tables=STUDY.release.tables_file,
    output:
        blocks="results/privacy/zeros.parquet",
        record="results/privacy/zeros.record.json",
    log:
        "logs/count_zeros.log",
    benchmark:
        "benchmarks/count_zeros.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("count_zeros"),
        release=setting("release"),
        program=setting("program"),
        zeros=setting("privacy.zeros"),
        seed=setting("seed"),
    script:
        "../../scripts/mechanisms/count_zeros.py"


rule plot_zeros_removed:
    """Draw how many record types the zeros of a block, published and implied, leave of the domain, by its size (appendix A)."""
    input:
        blocks="results/privacy/zeros.parquet",
        sample="results/sample/blocks.parquet",
        domain=STUDY.microdata.domain,
        tables=STUDY.release.tables_file,
        manifest="results/microdata.json",
    output:
        pdf="figures/zeros_removed.pdf",
        png=shown("figures/zeros_removed.png", "What zeros rule out", PRIVACY),
        table="figures/zeros_removed.csv",
        record="figures/zeros_removed.record.json",
    log:
        "logs/plot_zeros_removed.log",
    benchmark:
        "benchmarks/plot_zeros_removed.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_zeros_removed"),
        release=setting("release"),
        program=setting("program"),
    script:
        "../../scripts/mechanisms/plot_zeros_removed.py"


rule privacy:
    """Every figure of privacy against accuracy (the randomized-response appendix)."""
    input:
        PRIVACY_FIGURES,
