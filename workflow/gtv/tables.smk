"""
Reads: results/.
Writes: results/tables/, each table of the papers as one target.
"""


rule write_calibration:
    """How the microdata compare with the national figures and with the answers that the paper saw on blocks of ten households."""
    input:
        microdata="results/microdata",
        manifest="results/microdata.json",
        sizes="results/sample/sizes.parquet",
        domain=STUDY.microdata.domain,
        tables=STUDY.release.tables_file,
        national="data/synthetic/national.yaml",
    output:
        table="results/tables/calibration.csv",
        record="results/tables/calibration.record.json",
    log:
        "logs/write_calibration.log",
    benchmark:
        "benchmarks/write_calibration.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_calibration"),
        release=setting("release"),
    script:
        "../../scripts/gtv/write_calibration.py"


rule write_table2:
    """Table 2: one published table (P20) of one sampled block, with conditions, words and counts."""
    input:
        schema="results/paper/release/schema.json",
        counts="results/paper/release/000.parquet",
        manifest="results/microdata.json",
    output:
        table="results/tables/table2.csv",
        readable="results/tables/table2.md",
        record="results/tables/table2.record.json",
    log:
        "logs/write_table2.log",
    benchmark:
        "benchmarks/write_table2.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_table2"),
    script:
        "../../scripts/gtv/write_table2.py"


rule write_table3:
    """Table 3: how many sets of k columns the published tables cross."""
    input:
        schema="results/paper/release/schema.json",
        manifest="results/microdata.json",
    output:
        table="results/tables/table3.csv",
        readable="results/tables/table3.md",
        record="results/tables/table3.record.json",
    log:
        "logs/write_table3.log",
    benchmark:
        "benchmarks/write_table3.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_table3"),
    script:
        "../../scripts/gtv/write_table3.py"
