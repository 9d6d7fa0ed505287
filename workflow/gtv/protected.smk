"""
Reads: results/microdata/ and the sampled blocks.
Writes: results/protected/{protection}/: protected counts of some blocks, the claims verified from them and their proofs, how many
of the claims are false of the private blocks; figures/gtv_protected.*, results/tables/protected_baselines.csv. A target on request, no part of `all`.
"""

PROTECTIONS = list(STUDY.protected.protections)
PARTS = [f"{batch:03d}" for batch in range(STUDY.protected.batches)]


wildcard_constraints:
    protection="|".join(PROTECTIONS),


rule protect_counts:
    """Publish the counts of some blocks of the study after households were swapped, or with noise."""
    input:
        microdata="results/microdata",
        blocks=SAMPLE,
        domain=STUDY.microdata.domain,
        tables=STUDY.release.tables_file,
    output:
        schema="results/protected/{protection}/release/schema.json",
        possible="results/protected/{protection}/release/possible.json",
        counts=expand(
            "results/protected/{{protection}}/release/{batch}.parquet", batch=PARTS
        ),
        how="results/protected/{protection}/how.json",
        record="results/protected/{protection}/release/record.json",
    log:
        "logs/protected/{protection}/protect_counts.log",
    benchmark:
        "benchmarks/protected/{protection}/protect_counts.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("protect_counts"),
        protection=protection_part("swap", "noise"),
        blocks=setting("protected.blocks"),
        swapping=setting("protected.swapping"),
        release=setting("release"),
        program=setting("program"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/protect_counts.py"


rule attack_protected:
    """Generate datasets that fit the protected counts of a batch of blocks, decide every candidate claim, check and store the proofs."""
    input:
        schema="results/protected/{protection}/release/schema.json",
        possible="results/protected/{protection}/release/possible.json",
        counts="results/protected/{protection}/release/{batch}.parquet",
    output:
        claims="results/protected/{protection}/claims/{batch}.parquet",
        blocks="results/protected/{protection}/claims/{batch}.blocks.parquet",
        proofs="results/protected/{protection}/proofs/{batch}.jsonl.gz",
        record="results/protected/{protection}/claims/{batch}.record.json",
    log:
        "logs/protected/{protection}/attack_protected/{batch}.log",
    benchmark:
        "benchmarks/protected/{protection}/attack_protected/{batch}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("attack_protected"),
        max_types=setting("protected.max_types"),
        program=setting("program"),
        generate=setting("generate"),
        verify=setting("verify"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/attack_protected.py"


rule judge_protected:
    """Count the claims verified from a protected release that are false of the private blocks."""
    input:
        claims=expand(
            "results/protected/{{protection}}/claims/{batch}.parquet", batch=PARTS
        ),
        blocks=expand(
            "results/protected/{{protection}}/claims/{batch}.blocks.parquet",
            batch=PARTS,
        ),
        microdata="results/microdata",
        domain=STUDY.microdata.domain,
    output:
        blocks="results/protected/{protection}/blocks.parquet",
        record="results/protected/{protection}/blocks.record.json",
    log:
        "logs/protected/{protection}/judge_protected.log",
    benchmark:
        "benchmarks/protected/{protection}/judge_protected.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("judge_protected"),
        release=setting("release"),
    script:
        "../../scripts/gtv/judge_protected.py"


rule plot_gtv_protected:
    """Claims verified from the release under each protection, and the share of them that is false of the private blocks."""
    input:
        how=expand("results/protected/{protection}/how.json", protection=PROTECTIONS),
        blocks=expand(
            "results/protected/{protection}/blocks.parquet", protection=PROTECTIONS
        ),
        manifest="results/microdata.json",
    output:
        pdf="figures/gtv_protected.pdf",
        png=shown(
            "figures/gtv_protected.png", "Under protection", BEYOND, variant="all"
        ),
        csv="figures/gtv_protected.csv",
        record="figures/gtv_protected.record.json",
    log:
        "logs/plot_gtv_protected.log",
    benchmark:
        "benchmarks/plot_gtv_protected.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_gtv_protected"),
        protections=setting("protected.protections"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/plot_gtv_protected.py"


rule write_protected_baselines:
    """How likely claims about one household are under the priors of section 3.2, where blocks were swapped or noised."""
    input:
        claims=expand(
            "results/protected/{protection}/claims/{batch}.parquet",
            protection=PROTECTIONS,
            batch=PARTS,
        ),
        blocks=SAMPLE,
        microdata="results/microdata",
        domain=STUDY.microdata.domain,
        manifest="results/microdata.json",
    output:
        table="results/tables/protected_baselines.csv",
        record="results/tables/protected_baselines.record.json",
    log:
        "logs/write_protected_baselines.log",
    benchmark:
        "benchmarks/write_protected_baselines.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_protected_baselines"),
        protections=setting("protected.protections"),
        release=setting("release"),
    script:
        "../../scripts/gtv/write_protected_baselines.py"
