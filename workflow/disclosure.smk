"""
Reads: the release files of config.yaml (releases) and the data or counts that they name.
Writes: results/releases/{release}/: claims, ranges, proofs, the report, and what protections buy.
"""

from genverify.disclosure.form import source_of


wildcard_constraints:
    release="|".join(STUDY.releases) or "none",


def release_file(wildcards):
    """The file that describes a release."""
    return STUDY.releases[wildcards.release]


def release_source(wildcards):
    """The microdata or counts that it names."""
    return str(source_of(Path(STUDY.releases[wildcards.release])))


rule audit_release:
    """Verify what the tables of a release give away, prove it, and write a report."""
    input:
        described=release_file,
        source=release_source,
    output:
        report="results/releases/{release}/report.html",
        claims="results/releases/{release}/claims.parquet",
        texts="results/releases/{release}/claims.csv",
        ranges="results/releases/{release}/ranges.csv",
        people="results/releases/{release}/people.csv",
        cells="results/releases/{release}/cells.csv",
        withhold="results/releases/{release}/withhold.csv",
        schema="results/releases/{release}/release/schema.json",
        counts="results/releases/{release}/release/000.parquet",
        proofs="results/releases/{release}/proofs/000.jsonl.gz",
        record="results/releases/{release}/report.record.json",
    log:
        "logs/audit_release/{release}.log",
    benchmark:
        "benchmarks/audit_release/{release}.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("audit_release"),
        program=setting("program"),
        generate=setting("generate"),
    script:
        "../scripts/disclosure/audit_release.py"


rule try_protections:
    """Run the attack on a release under each of its protections and show what they buy."""
    input:
        described=release_file,
        source=release_source,
    output:
        table="results/releases/{release}/whatif.csv",
        pdf="results/releases/{release}/whatif.pdf",
        png=shown(
            "results/releases/{release}/whatif.png",
            "What protections buy: {release}",
            BEYOND,
            "whatif",
        ),
        record="results/releases/{release}/whatif.record.json",
    log:
        "logs/try_protections/{release}.log",
    benchmark:
        "benchmarks/try_protections/{release}.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("try_protections"),
        program=setting("program"),
        generate=setting("generate"),
    script:
        "../scripts/disclosure/try_protections.py"
