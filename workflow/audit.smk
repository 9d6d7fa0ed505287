"""
Reads: the job records in results/ and figures/, and every file that they name.
Writes: nothing. `snakemake audit` looks back at what was made, and runs no other job; `snakemake everything` asks for the targets of all
studies.
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


rule everything:
    """Every figure and table of all papers."""
    input:
        everything_of_studies,
