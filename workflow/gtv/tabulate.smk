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
        counts=expand(
            "results/{{variant}}/release/{batch}.parquet", batch=FIRST_PART.batches
        ),
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
        sample=FIRST_PART.sample.model_dump(),
    script:
        "../../scripts/gtv/tabulate_release.py"


rule tabulate_added:
    """Publish the counts of a batch of blocks of a design that was added; a block of an earlier design is published with that one."""
    input:
        microdata="results/microdata",
        blocks=samples_of_batch,
        domain=STUDY.microdata.domain,
        schema="results/{variant}/release/schema.json",
    output:
        counts="results/{variant}/release/{batch}.parquet",
        record="results/{variant}/release/{batch}.record.json",
    log:
        "logs/{variant}/tabulate_added/{batch}.log",
    benchmark:
        "benchmarks/{variant}/tabulate_added/{batch}.tsv"
    wildcard_constraints:
        batch="|".join(BATCHES[len(FIRST_PART.batches) :]) or "none",
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("tabulate_added"),
        release=setting("release"),
        sample=part_of_batch,
        place=place_in_part,
    script:
        "../../scripts/gtv/tabulate_added.py"
