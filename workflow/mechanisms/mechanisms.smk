"""
Reads: the domain and table files; results/microdata/ and results/persons/ for the zeros of blocks, and for what counts are worth.
Writes: figures/rr_*, matrix_mechanism.*, data_utility.*, zeros_removed.*, person_zeros.*, results/privacy/, results/tables/privacy_semantics.csv.
"""

PRIVACY = "Privacy against accuracy"
PRIVACY_FIGURES = [
    f"figures/{name}.pdf"
    for name in (
        "rr_frontier",
        "rr_dial",
        "matrix_mechanism",
        "data_utility",
        "zeros_removed",
        "person_zeros",
    )
]
WHOLE.append("privacy")


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
        sample=SAMPLE,
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
        sample=SAMPLE,
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


rule plot_rr_dial:
    """Draw mu as a dial between the two one-sided guarantees of randomized response (footnote 57)."""
    output:
        pdf="figures/rr_dial.pdf",
        png=shown("figures/rr_dial.png", "Randomized response: mu as a dial", PRIVACY),
        table="figures/rr_dial.csv",
        record="figures/rr_dial.record.json",
    log:
        "logs/plot_rr_dial.log",
    benchmark:
        "benchmarks/plot_rr_dial.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_rr_dial"),
        dial=setting("privacy.dial"),
    script:
        "../../scripts/mechanisms/plot_rr_dial.py"


rule plot_data_utility:
    """Draw expected utility of the published counts against their accuracy (E-15 to E-28), simulated beside the formula."""
    input:
        microdata="results/microdata",
        manifest="results/microdata.json",
        sample=SAMPLE,
        domain=STUDY.microdata.domain,
        tables=STUDY.release.tables_file,
    output:
        pdf="figures/data_utility.pdf",
        png=shown("figures/data_utility.png", "Utility of data", PRIVACY),
        table="figures/data_utility.csv",
        record="figures/data_utility.record.json",
    log:
        "logs/plot_data_utility.log",
    benchmark:
        "benchmarks/plot_data_utility.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_data_utility"),
        release=setting("release"),
        utility=setting("privacy.utility"),
        seed=setting("seed"),
    script:
        "../../scripts/mechanisms/plot_data_utility.py"


rule write_privacy_semantics:
    """Enumerate the databases of a toy population (D-13) and how far noise moves the odds of each pair of hypotheses (D-14)."""
    output:
        table="results/tables/privacy_semantics.csv",
        record="results/tables/privacy_semantics.record.json",
    log:
        "logs/write_privacy_semantics.log",
    benchmark:
        "benchmarks/write_privacy_semantics.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_privacy_semantics"),
        semantics=setting("privacy.semantics"),
    script:
        "../../scripts/mechanisms/write_privacy_semantics.py"


rule count_person_zeros:
    """Count the persons of the person domain that the zeros of a block leave possible, for blocks of several sizes."""
    input:
        persons="results/persons",
        domain=STUDY.persons.domain,
        tables=STUDY.persons.release.tables_file,
    output:
        blocks="results/privacy/person_zeros.parquet",
        record="results/privacy/person_zeros.record.json",
    log:
        "logs/count_person_zeros.log",
    benchmark:
        "benchmarks/count_person_zeros.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("count_person_zeros"),
        release=setting("persons.release"),
        program=setting("program"),
        zeros=setting("privacy.zeros"),
        seed=setting("seed"),
    script:
        "../../scripts/mechanisms/count_person_zeros.py"


rule plot_person_zeros:
    """Draw how many persons the zeros of a block leave of the person domain, by its size (appendix A: 500,000 cells)."""
    input:
        blocks="results/privacy/person_zeros.parquet",
        domain=STUDY.persons.domain,
        manifest="results/persons.json",
    output:
        pdf="figures/person_zeros.pdf",
        png=shown("figures/person_zeros.png", "What zeros rule out, persons", PRIVACY),
        table="figures/person_zeros.csv",
        record="figures/person_zeros.record.json",
    log:
        "logs/plot_person_zeros.log",
    benchmark:
        "benchmarks/plot_person_zeros.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_person_zeros"),
    script:
        "../../scripts/mechanisms/plot_person_zeros.py"


rule privacy:
    """Every figure and table of privacy against accuracy (the randomized-response appendix)."""
    input:
        PRIVACY_FIGURES,
        expand("results/report/{page}.html", page=PAGES["privacy"]),
