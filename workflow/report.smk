"""
Reads: the tables of results/, and of every folder of workflow/ report.yaml and captions/.
Writes: results/report/, each table as a page; `snakemake --report report.html` puts them and the figures into one file that opens offline.
A figure joins the report by shown(...) around its PNG, a table by an entry of report.yaml; figures have their captions in captions/.
"""

TABLE_PAGES = {name: page for group in PAGES.values() for name, page in group.items()}


wildcard_constraints:
    page="|".join(TABLE_PAGES),


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
        "../scripts/show/show_table.py"
