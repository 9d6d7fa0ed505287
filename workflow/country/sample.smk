"""
Reads: results/microdata/.
Writes: results/sample/: the blocks of the designs that the study began with, the batch of each block, the distinct records of the nation; designs/ with the same of each design that was added.
"""


rule sample_blocks:
    """Draw the blocks of the study: for each state, some of its median size and some of the country's (section 3.1.1)."""
    input:
        microdata="results/microdata",
        domain=STUDY.microdata.domain,
    output:
        blocks="results/sample/blocks.parquet",
        sizes="results/sample/sizes.parquet",
        batches="results/sample/batches.parquet",
        nation="results/sample/nation.parquet",
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
    """Draw the blocks of a design that was added; its batches have those that no earlier design has, whose jobs stay as they are."""
    input:
        sizes="results/sample/sizes.parquet",
        earlier=earlier_samples,
    output:
        blocks="results/sample/designs/{design}.parquet",
        batches="results/sample/designs/{design}.batches.parquet",
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
        first=first_batch_of_design,
        seed=setting("seed"),
    script:
        "../../scripts/country/sample_added.py"
