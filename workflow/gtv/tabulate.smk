"""
Reads: results/microdata/ and the sampled blocks; the last stage of the attack that does.
Writes: results/{variant}/release/: schema.json (what the counts mean) and the counts of each batch of blocks. The attack reads
nothing else.
"""


rule describe_release:
    """Say what the published counts of a variant mean: columns, codes, rules and queries."""
    input:
        domain=STUDY.microdata.domain,
        tables=tables_file,
    output:
        schema="results/{variant}/release/schema.json",
        record="results/{variant}/release/record.json",
    log:
        "logs/{variant}/describe_release.log",
    benchmark:
        "benchmarks/{variant}/describe_release.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("describe_release"),
        release=setting("release"),
    script:
        "../../scripts/gtv/describe_release.py"


rule tabulate_release:
    """Publish the counts of every block of a batch (equation 2), less those that the variant withholds."""
    input:
        microdata="results/microdata",
        batches=batches_of_part,
        domain=STUDY.microdata.domain,
        schema="results/{variant}/release/schema.json",
    output:
        counts="results/{variant}/release/{batch}.parquet",
        record="results/{variant}/release/{batch}.record.json",
    log:
        "logs/{variant}/tabulate_release/{batch}.log",
    benchmark:
        "benchmarks/{variant}/tabulate_release/{batch}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("tabulate_release"),
        release=setting("release"),
    script:
        "../../scripts/gtv/tabulate_release.py"
