"""
Reads: the job records in results/ and figures/, every file that they name, and benchmarks/ of earlier runs.
Writes: nothing. `snakemake audit` looks back at what was made, `snakemake plan` ahead at what would be; neither runs another job.
`snakemake everything` asks for the targets of all five papers.
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


rule plan:
    """Say about how long a run would take, and one of all five papers; then its blocks, batches and jobs, and disk."""
    log:
        "logs/plan.log",
    conda:
        "../envs/environment.yaml"
    params:
        study=STUDY.model_dump(),
        batches=len(BATCHES),
        times=str(HERE / "times.yaml"),
    script:
        "../scripts/microdata/plan.py"


rule everything:
    """Every figure and table of all five papers."""
    input:
        all_papers,
