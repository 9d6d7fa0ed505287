"""
Reads: every figure and table of the study, the job records behind them, and the audit of both.
Writes: results/crate.zip, the study as a Workflow Run RO-Crate, to be shared. No microdata in it.
"""


rule write_crate:
    """Pack the study as a Workflow Run RO-Crate: workflow, settings, figures, tables and the record of every job."""
    input:
        results=DEFAULT,
        audit=["results/audit.json", "results/audit.md"],
        workflow=["Snakefile", *sorted(map(str, Path("workflow").rglob("*.smk")))],
        lock="envs/requirements.lock",
        sources="data/sources.csv",
        licence="LICENSE",
        tool="docs/crate.py",
    output:
        crate="results/crate.zip",
        record="results/crate.record.json",
    log:
        "logs/write_crate.log",
    benchmark:
        "benchmarks/write_crate.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("write_crate"),
        study=STUDY.model_dump(),
    script:
        "../scripts/run/write_crate.py"
