"""
Reads: the figures and tables of all five papers (reference.yaml of every study lists them), and the job records behind them.
Writes: docs/reference/, which is kept with the code, so the rule always runs: in a fresh clone its files would pass for newer than any result.
`genverify reference --write gtv cellbounds` makes the part of these papers from what is there, without asking for more.
"""

from genverify.run.layout import REFERENCE_TOOL, load


rule reference:
    """Put the figures and tables of all papers into docs/reference, with a page and a manifest of what they were made from."""
    input:
        results=[
            target
            for target in load(f"{REFERENCE_TOOL}:read_listing")(HERE).targets
            if can_be_made(STUDY, Path(target).stem)
        ],
    log:
        "logs/reference.log",
    conda:
        "../envs/environment.yaml"
    params:
        study=STUDY.model_dump(),
    script:
        "../scripts/run/reference.py"
