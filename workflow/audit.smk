"""
Reads: the job records in results/ and figures/, and every file that they name.
Writes: results/audit.json and .md, how far each file of the study was checked. `snakemake audit` writes nothing: it looks back at what was
made, and runs no other job; `snakemake everything` asks for the targets of all studies.
"""


rule audit:
    """Walk from every figure and table through each job record to the raw data; fail at the first file that differs."""
    log:
        "logs/audit.log",
    conda:
        "../envs/environment.yaml"
    params:
        study=STUDY.model_dump(),
    script:
        "../scripts/run/audit.py"


rule write_audit:
    """Audit every figure and table of the study: the chain as a file to publish, and how far each file was checked, to read."""
    input:
        results=DEFAULT,
    output:
        summary="results/audit.json",
        readable="results/audit.md",
        record="results/audit.record.json",
    log:
        "logs/write_audit.log",
    benchmark:
        "benchmarks/write_audit.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("write_audit"),
        study=STUDY.model_dump(),
    script:
        "../scripts/run/write_audit.py"


rule published:
    """The study to share: the crate with its audit, and the page of the audit for the report."""
    input:
        "results/crate.zip",
        expand("results/report/{page}.html", page=PAGES["published"]),


rule everything:
    """Every figure and table of all papers."""
    input:
        everything_of_studies,
