"""
Reads: the tables of results/, and workflow/captions/.
Writes: results/report/, each table as a page; `snakemake --report report.html` puts them and the figures into one file that opens offline.
A figure joins the report by shown(...) around its PNG, a table by a line below; both by a caption of their name in captions/.
"""

PAGES = {
    "table2": ("results/tables/table2.md", "Table 2", IN_PAPER),
    "table3": ("results/tables/table3.md", "Table 3", IN_PAPER),
    "table4": ("results/tables/table4.md", "Table 4", IN_PAPER),
    "table5": ("results/tables/table5.md", "Table 5", IN_PAPER, "all"),
    "table6": ("results/tables/table6.md", "Table 6", IN_PAPER),
    "table7": ("results/tables/table7.md", "Table 7", IN_PAPER),
    "numbers": ("results/tables/numbers.md", "Numbers of the text", IN_PAPER),
    "calibration": ("results/tables/calibration.csv", "Calibration", BEYOND),
    "proofs": ("results/paper/proofs.csv", "Proofs", BEYOND),
}
if STUDY.microdata.source == "synthetic":
    PAGES["table1"] = ("results/tables/table1.md", "Table 1", IN_PAPER)


wildcard_constraints:
    page="|".join(PAGES),


def file_of_page(wildcards):
    """The table that a page shows."""
    return PAGES[wildcards.page][0]


def labels_of_page(wildcards):
    """What the report says of a table in its list."""
    _, label, _, *variant = PAGES[wildcards.page]
    return {"result": label, **LABELS, **({"variant": variant[0]} if variant else {})}


def category_of_page(wildcards):
    """The part of the report that a table stands in."""
    return PAGES[wildcards.page][2]


def caption_of_page(wildcards):
    """The caption of a table."""
    return (CAPTIONS / f"{wildcards.page}.rst").read_text()


rule show_table:
    """Show a table as a page of the report."""
    input:
        table=file_of_page,
    output:
        page=report(
            "results/report/{page}.html",
            caption="captions/page.rst",
            category=category_of_page,
            subcategory="Tables",
            labels=labels_of_page,
        ),
        record="results/report/{page}.record.json",
    log:
        "logs/show_table/{page}.log",
    benchmark:
        "benchmarks/show_table/{page}.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("show_table"),
        caption=caption_of_page,
    script:
        "../scripts/show_table.py"
