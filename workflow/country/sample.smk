"""
Reads: results/microdata/.
Writes: results/sample/: the blocks of every design, the batch of each block, and the distinct records of the nation.
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
        sample=setting("sample"),
        seed=setting("seed"),
    script:
        "../../scripts/country/sample_blocks.py"
