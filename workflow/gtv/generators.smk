"""
Reads: data/synthetic/ (the built-in country, every generator of config/generators.yaml).
Writes: results/tables/generators.csv and .md: Tables 4, 5 and 7 over generators and seeds; results/generators/: the blocks of each country, their
claims and the households that these represent. A target on request, no part of `all`.
"""

COUNTRIES = [
    (likeness, seed)
    for likeness in STUDY.generators.likeness
    for seed in STUDY.generators.seeds
]
GENERATOR_PARTS = [f"{part:02d}" for part in range(STUDY.generators.parts)]


wildcard_constraints:
    likeness="|".join(STUDY.generators.likeness),
    country=r"\d+",
    part=r"\d\d+",


rule draw_generator:
    """Draw a country of one generator and seed, sample its blocks and publish their counts."""
    input:
        country=COUNTRY,
        domain=STUDY.microdata.domain,
        tables=STUDY.release.tables_file,
    output:
        blocks="results/generators/{likeness}/{country}/sample.parquet",
        records="results/generators/{likeness}/{country}/records.parquet",
        schema="results/generators/{likeness}/{country}/schema.json",
        counts="results/generators/{likeness}/{country}/counts.parquet",
        record="results/generators/{likeness}/{country}/counts.record.json",
    log:
        "logs/generators/{likeness}/{country}/draw_generator.log",
    benchmark:
        "benchmarks/generators/{likeness}/{country}/draw_generator.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("draw_generator"),
        microdata=setting("microdata"),
        sample=setting("sample"),
        release=setting("release"),
        blocks_per_state=setting("generators.blocks_per_state"),
    script:
        "../../scripts/gtv/draw_generator.py"


rule attack_generator:
    """Generate, verify and check the claims of some blocks; decide them again where answers are withheld."""
    input:
        schema="results/generators/{likeness}/{country}/schema.json",
        counts="results/generators/{likeness}/{country}/counts.parquet",
    output:
        claims="results/generators/{likeness}/{country}/claims/{part}.parquet",
        blocks="results/generators/{likeness}/{country}/claims/{part}.blocks.parquet",
        record="results/generators/{likeness}/{country}/claims/{part}.record.json",
    log:
        "logs/generators/{likeness}/{country}/{part}.attack_generator.log",
    benchmark:
        "benchmarks/generators/{likeness}/{country}/{part}.attack_generator.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("attack_generator"),
        program=setting("program"),
        generate=setting("generate"),
        verify=setting("verify"),
        parts=setting("generators.parts"),
    script:
        "../../scripts/gtv/attack_generator.py"


rule count_generator:
    """Count the households that the claims of a country represent (footnote 6), and how likely claims were; check every claim."""
    input:
        claims=expand(
            "results/generators/{{likeness}}/{{country}}/claims/{part}.parquet",
            part=GENERATOR_PARTS,
        ),
        blocks=expand(
            "results/generators/{{likeness}}/{{country}}/claims/{part}.blocks.parquet",
            part=GENERATOR_PARTS,
        ),
        records="results/generators/{likeness}/{country}/records.parquet",
        sample="results/generators/{likeness}/{country}/sample.parquet",
        country=COUNTRY,
        domain=STUDY.microdata.domain,
    output:
        counts="results/generators/{likeness}/{country}/households.parquet",
        blocks="results/generators/{likeness}/{country}/blocks.parquet",
        baselines="results/generators/{likeness}/{country}/baselines.parquet",
        record="results/generators/{likeness}/{country}/households.record.json",
    log:
        "logs/generators/{likeness}/{country}/count_generator.log",
    benchmark:
        "benchmarks/generators/{likeness}/{country}/count_generator.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("count_generator"),
        microdata=setting("microdata"),
        release=setting("release"),
    script:
        "../../scripts/gtv/count_generator.py"


rule write_generators:
    """Tables 4, 5 and 7 and baselines: the paper's numbers, ours with an interval, and the range over generators and seeds."""
    input:
        counts=of_countries("households.parquet"),
        blocks=of_countries("blocks.parquet"),
        baselines=of_countries("baselines.parquet"),
        paper="data/papers/generate_then_verify.yaml",
    output:
        table="results/tables/generators.csv",
        readable="results/tables/generators.md",
        record="results/tables/generators.record.json",
    log:
        "logs/generators/write_generators.log",
    benchmark:
        "benchmarks/generators/write_generators.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_generators"),
        likeness=setting("generators.likeness"),
        seeds=setting("generators.seeds"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/write_generators.py"


rule generators:
    """The study over generators and seeds: table and page of the report."""
    input:
        "results/tables/generators.csv",
        "results/report/generators.html",


rule write_country_fit:
    """Compare the households of the built-in country with surveys: margins of two and three columns."""
    input:
        microdata="results/microdata",
        manifest="results/microdata.json",
        odds=str(country_file(COUNTRY_FOLDER, "odds.csv")),
        surveys=STUDY.generators.surveys,
        domain=STUDY.microdata.domain,
    output:
        table="results/tables/country_fit.csv",
        record="results/tables/country_fit.record.json",
    log:
        "logs/generators/write_country_fit.log",
    benchmark:
        "benchmarks/generators/write_country_fit.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_country_fit"),
        microdata=setting("microdata"),
    script:
        "../../scripts/gtv/write_country_fit.py"


rule country_fit:
    """How well the households of the built-in country fit surveys: table, page of the report and figure."""
    input:
        "results/tables/country_fit.csv",
