"""
Reads: benchmarks/ of earlier runs, workflow/times.yaml.
Writes: nothing. `snakemake plan` looks ahead at what would be made, and runs no other job; `--config target=figures/fig3.pdf`: at that alone.
"""


rule plan:
    """Say about how long a run would take, and one of all five papers; then its blocks, batches and jobs, and disk."""
    log:
        "logs/plan.log",
    conda:
        "../../envs/environment.yaml"
    params:
        study=STUDY.model_dump(),
        batches=len(BATCHES),
        target=CHOICES["target"],
        times=str(HERE / "times.yaml"),
    script:
        "../../scripts/country/plan.py"
