"""
Reads: results/microdata/ and the sampled blocks; the last stage of the attack that does.
Writes: results/{variant}/release/: schema.json (what the counts mean) and the counts of each batch of blocks. The attack reads
nothing else.
"""


rule tabulate_release:
    """Publish the counts of every sampled block (equation 2), less those that the variant withholds."""
    input:
        microdata="results/microdata",
        blocks="results/sample/blocks.parquet",
        domain=STUDY.microdata.domain,
        tables=tables_file,
    output:
        schema="results/{variant}/release/schema.json",
        counts=expand("results/{{variant}}/release/{batch}.parquet", batch=BATCHES),
        record="results/{variant}/release/record.json",
    log:
        "logs/{variant}/tabulate_release.log",
    benchmark:
        "benchmarks/{variant}/tabulate_release.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("tabulate_release"),
        release=setting("release"),
        sample=setting("sample"),
    script:
        "../../scripts/gtv/tabulate_release.py"
