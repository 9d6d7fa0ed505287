"""
Reads: docs/paper/ (the text) and docs/reference/ (figures and tables of all five papers, with their manifest).
Writes: paper.pdf and paper.html, the replication report; every number of it is looked up in a table by name, so it needs no run of its own.
"""


rule write_paper:
    """Set the replication report of the five papers as PDF and HTML; a number without a source, or a file that was altered, stops it."""
    input:
        text="docs/paper/paper.typ",
        template="docs/paper/template.typ",
        tool="docs/paper/manuscript.py",
        manifest="docs/reference/manifest.json",
        results=sorted(map(str, Path("docs/reference").glob("*.*"))),
    output:
        pdf="paper.pdf",
        html="paper.html",
        record="paper.record.json",
    log:
        "logs/write_paper.log",
    benchmark:
        "benchmarks/write_paper.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("write_paper"),
    script:
        "../scripts/show/write_paper.py"
