"""
Reads: data/ (the built-in country) or the PPMF unit file that config.yaml names.
Writes: results/microdata/, one Parquet file per state: the private data; only sampling, tabulation, baselines and evaluation
read it.
"""

SOURCE = (
    COUNTRY if STUDY.microdata.source == "synthetic" else STUDY.microdata.ppmf.units
)


rule ingest_microdata:
    """Make the private microdata: the synthetic country, or the PPMF unit file."""
    input:
        source=SOURCE,
        domain=STUDY.microdata.domain,
    output:
        microdata=directory("results/microdata"),
        manifest="results/microdata.json",
        record="results/microdata.record.json",
    log:
        "logs/ingest_microdata.log",
    benchmark:
        "benchmarks/ingest_microdata.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("ingest_microdata"),
        microdata=setting("microdata"),
        seed=setting("seed"),
    script:
        "../../scripts/country/ingest_microdata.py"


rule write_ppmf:
    """Write the microdata in the layout of the PPMF unit file, so that the other source can be tried on it."""
    input:
        microdata="results/microdata",
    output:
        units="results/ppmf/units.csv.gz",
        record="results/ppmf/units.record.json",
    log:
        "logs/write_ppmf.log",
    benchmark:
        "benchmarks/write_ppmf.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_ppmf"),
    script:
        "../../scripts/country/write_ppmf.py"


rule calibrate_homogeneity:
    """Rerun the calibration of the built-in country: shares of answers 0 and 1 on blocks of ten households, by homogeneity."""
    input:
        country=COUNTRY,
        domain=STUDY.microdata.domain,
        tables=STUDY.release.tables_file,
    output:
        table="results/tables/homogeneity.csv",
        record="results/tables/homogeneity.record.json",
    log:
        "logs/calibrate_homogeneity.log",
    benchmark:
        "benchmarks/calibrate_homogeneity.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("calibrate_homogeneity"),
        microdata=setting("microdata"),
        release=setting("release"),
    script:
        "../../scripts/country/calibrate_homogeneity.py"


rule write_neighbours:
    """Race of neighbours beside real blocks: isolation by tract and block, blocks of one race, households outside the largest race."""
    input:
        microdata="results/microdata",
        manifest="results/microdata.json",
        estimates="data/synthetic/neighbours.yaml",
    output:
        table="results/tables/neighbours.csv",
        record="results/tables/neighbours.record.json",
    log:
        "logs/write_neighbours.log",
    benchmark:
        "benchmarks/write_neighbours.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_neighbours"),
        microdata=setting("microdata"),
        seed=setting("seed"),
    script:
        "../../scripts/country/write_neighbours.py"
