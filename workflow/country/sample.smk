"""
Reads: results/microdata/.
Writes: results/sample/blocks.parquet, the blocks of the designs that the study began with, and designs/ with those of each one that was added.
"""


rule sample_blocks:
    """Draw the blocks of the study: for each state, some of its median size and some of the country's (section 3.1.1)."""
    input:
        microdata="results/microdata",
        domain=STUDY.microdata.domain,
    output:
        blocks="results/sample/blocks.parquet",
        sizes="results/sample/sizes.parquet",
        record="results/sample/blocks.record.json",
    log:
        "logs/sample_blocks.log",
    benchmark:
        "benchmarks/sample_blocks.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("sample_blocks"),
        sample=FIRST_PART.sample.model_dump(),
        seed=setting("seed"),
    script:
        "../../scripts/country/sample_blocks.py"


rule sample_added:
    """Draw the blocks of a design that was added; the lists of the others stay as they are, and so do their jobs."""
    input:
        sizes="results/sample/sizes.parquet",
    output:
        blocks="results/sample/designs/{design}.parquet",
        record="results/sample/designs/{design}.record.json",
    log:
        "logs/sample_added/{design}.log",
    benchmark:
        "benchmarks/sample_added/{design}.tsv"
    wildcard_constraints:
        design="|".join(list(DEALT)[1:]) or "none",
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("sample_added"),
        sample=part_of_design,
        seed=setting("seed"),
    script:
        "../../scripts/country/sample_added.py"
