"""
Reads: the files of a user that nz names in the configuration (counts of small and of larger areas, which lies in which), data/nz/.
Writes: results/nz/: the exact range of every rounded count, without names of areas, and the proofs; results/tables/rounded_areas.csv: what came
out over all areas. A target on request, no part of `all`.
"""

NZ_BATCHES = [f"{batch:03d}" for batch in range(STUDY.nz.batches)]


rule bound_areas:
    """Find the exact range of every rounded count of some larger areas and their small ones, and prove it."""
    input:
        counts=nz_file("counts"),
        larger=nz_file("larger"),
        areas=nz_file("areas"),
        tables=STUDY.nz.tables,
    output:
        ranges="results/nz/ranges/{batch}.parquet",
        proofs="results/nz/proofs/{batch}.jsonl.gz",
        record="results/nz/ranges/{batch}.record.json",
    log:
        "logs/nz/bound_areas/{batch}.log",
    benchmark:
        "benchmarks/nz/bound_areas/{batch}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("bound_areas"),
        nz=setting("nz"),
    script:
        "../../scripts/disclosure/bound_areas.py"


rule weigh_areas:
    """Work out how likely each count is, given its table and the probabilities of rounding."""
    input:
        counts=nz_file("counts"),
        larger=nz_file("larger"),
        tables=STUDY.nz.tables,
    output:
        chances="results/nz/chances.csv",
        record="results/nz/chances.record.json",
    log:
        "logs/nz/weigh_areas.log",
    benchmark:
        "benchmarks/nz/weigh_areas.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("weigh_areas"),
    script:
        "../../scripts/disclosure/weigh_areas.py"


rule write_rounded_areas:
    """Counts narrower than the rule says, pinned, suppressed ones that follow, contradictions: over all areas."""
    input:
        ranges=expand("results/nz/ranges/{batch}.parquet", batch=NZ_BATCHES),
        chances="results/nz/chances.csv",
        tables=STUDY.nz.tables,
    output:
        table="results/tables/rounded_areas.csv",
        readable="results/tables/rounded_areas.md",
        record="results/tables/rounded_areas.record.json",
    log:
        "logs/nz/write_rounded_areas.log",
    benchmark:
        "benchmarks/nz/write_rounded_areas.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_rounded_areas"),
    script:
        "../../scripts/disclosure/write_rounded_areas.py"


rule nz:
    """Rounded counts of a country's small areas: the table and its page of the report."""
    input:
        "results/tables/rounded_areas.csv",
        "results/report/rounded_areas.html",
