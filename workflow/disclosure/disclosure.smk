"""
Reads: the release files of config.yaml (releases) and the data or counts that they name.
Writes: results/disclosure/{release}/: claims, ranges, proofs, the report, and what protections buy; results/benchmark/audits.csv, suppression.csv, tables.csv and auditors.csv; figures/auditors.pdf.
"""

from genverify.disclosure.release_form import prior_files, source_of


wildcard_constraints:
    release="|".join(STUDY.releases) or "none",


rule disclose_release:
    """Verify what the tables of a release give away, prove it, and write a report."""
    input:
        described=release_file,
        source=release_source,
    output:
        report="results/disclosure/{release}/report.html",
        claims="results/disclosure/{release}/claims.parquet",
        texts="results/disclosure/{release}/claims.csv",
        answer="results/disclosure/{release}/answer.json",
        cells="results/disclosure/{release}/cells.csv",
        suppress="results/disclosure/{release}/suppress.csv",
        reading="results/disclosure/{release}/reading.yaml",
        bounds="results/disclosure/{release}/cells.proofs.gz",
        schema="results/disclosure/{release}/release/schema.json",
        counts="results/disclosure/{release}/release/000.parquet",
        proofs="results/disclosure/{release}/proofs/000.jsonl.gz",
        record="results/disclosure/{release}/report.record.json",
    log:
        "logs/disclose_release/{release}.log",
    benchmark:
        "benchmarks/disclose_release/{release}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("disclose_release"),
        program=setting("program"),
        generate=setting("generate"),
    script:
        "../../scripts/disclosure/disclose_release.py"


rule try_protections:
    """Run the attack on a release under each of its protections and show what they buy."""
    input:
        described=release_file,
        source=release_source,
    output:
        table="results/disclosure/{release}/whatif.csv",
        pdf="results/disclosure/{release}/whatif.pdf",
        png=shown(
            "results/disclosure/{release}/whatif.png",
            "What protections buy: {release}",
            BEYOND,
            "whatif",
        ),
        record="results/disclosure/{release}/whatif.record.json",
    log:
        "logs/try_protections/{release}.log",
    benchmark:
        "benchmarks/try_protections/{release}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("try_protections"),
        program=setting("program"),
        generate=setting("generate"),
    script:
        "../../scripts/disclosure/try_protections.py"


rule benchmark_audits:
    """CPU seconds of audits of synthetic surveys, and of answers about synthetic tracts in MPS files."""
    output:
        table="results/benchmark/audits.csv",
        record="results/benchmark/audits.record.json",
    log:
        "logs/benchmark_audits.log",
    benchmark:
        "benchmarks/benchmark_audits.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_audits"),
        audits=setting("benchmark.audits"),
        seed=setting("seed"),
    script:
        "../../scripts/disclosure/benchmark_audits.py"


rule benchmark_suppression:
    """Cells that a rule of minimum frequency costs on synthetic tables: exact search, heuristic, and G-Confid if it is installed."""
    output:
        table="results/benchmark/suppression.csv",
        record="results/benchmark/suppression.record.json",
    log:
        "logs/benchmark_suppression.log",
    benchmark:
        "benchmarks/benchmark_suppression.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_suppression"),
        suppression=setting("benchmark.suppression"),
        seed=setting("seed"),
    script:
        "../../scripts/disclosure/benchmark_suppression.py"


rule benchmark_tables:
    """CPU seconds of audits of two-way tables by their cells, by this version and an earlier one, and of plain linear programs."""
    output:
        table="results/benchmark/tables.csv",
        record="results/benchmark/tables.record.json",
    log:
        "logs/benchmark_tables.log",
    benchmark:
        "benchmarks/benchmark_tables.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_tables"),
        tables=setting("benchmark.tables"),
        seed=setting("seed"),
    script:
        "../../scripts/disclosure/benchmark_tables.py"


rule benchmark_auditors:
    """Cells of synthetic tables that integers pin, with proofs, and that auditors by linear programs call protected."""
    output:
        table="results/benchmark/auditors.csv",
        pdf="figures/auditors.pdf",
        png=shown("figures/auditors.png", "What auditors miss", BENCHMARKS),
        record="results/benchmark/auditors.record.json",
    log:
        "logs/benchmark_auditors.log",
    benchmark:
        "benchmarks/benchmark_auditors.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_auditors"),
        suppression=setting("benchmark.suppression"),
        seed=setting("seed"),
    script:
        "../../scripts/disclosure/benchmark_auditors.py"
