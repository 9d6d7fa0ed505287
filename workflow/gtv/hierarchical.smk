"""
Reads: data/synthetic/ (the built-in country).
Writes: results/hierarchical/{budget}/: a country as it is and as hierarchical noise protects it, counts of some protected blocks, the claims verified
from them; results/tables/hierarchical.csv, figures/hierarchical.*. A target on request, no part of `all`.
"""

BUDGETS = list(STUDY.hierarchical.countries)


wildcard_constraints:
    budget="|".join(BUDGETS),


rule draw_hierarchical:
    """Draw a country, protect it by hierarchical noise, and publish the counts of some protected blocks."""
    input:
        country=COUNTRY,
        domain=STUDY.microdata.domain,
        tables=STUDY.release.tables_file,
    output:
        private=directory("results/hierarchical/{budget}/private"),
        microdata=directory("results/hierarchical/{budget}/microdata"),
        blocks="results/hierarchical/{budget}/sample.parquet",
        schema="results/hierarchical/{budget}/schema.json",
        counts="results/hierarchical/{budget}/counts.parquet",
        record="results/hierarchical/{budget}/counts.record.json",
    log:
        "logs/hierarchical/{budget}/draw_hierarchical.log",
    benchmark:
        "benchmarks/hierarchical/{budget}/draw_hierarchical.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("draw_hierarchical"),
        microdata=setting("microdata"),
        hierarchical=setting("hierarchical"),
        release=setting("release"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/draw_hierarchical.py"


rule attack_hierarchical:
    """Generate, verify and check the claims of the blocks of a protected country, as if its counts were the truth."""
    input:
        schema="results/hierarchical/{budget}/schema.json",
        counts="results/hierarchical/{budget}/counts.parquet",
    output:
        claims="results/hierarchical/{budget}/claims.parquet",
        blocks="results/hierarchical/{budget}/blocks.parquet",
        record="results/hierarchical/{budget}/claims.record.json",
    log:
        "logs/hierarchical/{budget}/attack_hierarchical.log",
    benchmark:
        "benchmarks/hierarchical/{budget}/attack_hierarchical.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("attack_hierarchical"),
        program=setting("program"),
        generate=setting("generate"),
        verify=setting("verify"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/attack_hierarchical.py"


rule write_hierarchical:
    """The paper's numbers after hierarchical noise, and how much of what is verified is true of the people."""
    input:
        blocks=expand("results/hierarchical/{budget}/blocks.parquet", budget=BUDGETS),
        claims=expand("results/hierarchical/{budget}/claims.parquet", budget=BUDGETS),
        private=expand("results/hierarchical/{budget}/private", budget=BUDGETS),
        microdata=expand("results/hierarchical/{budget}/microdata", budget=BUDGETS),
        domain=STUDY.microdata.domain,
        paper="data/papers/generate_then_verify.yaml",
    output:
        table="results/tables/hierarchical.csv",
        record="results/tables/hierarchical.record.json",
    log:
        "logs/hierarchical/write_hierarchical.log",
    benchmark:
        "benchmarks/hierarchical/write_hierarchical.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_hierarchical"),
        hierarchical=setting("hierarchical"),
        release=setting("release"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/write_hierarchical.py"


rule plot_hierarchical:
    """Claims from protected microdata, true and false, beside the numbers of Figure 3."""
    input:
        table="results/tables/hierarchical.csv",
    output:
        pdf="figures/hierarchical.pdf",
        png=shown("figures/hierarchical.png", "After hierarchical noise", BEYOND),
        record="figures/hierarchical.record.json",
    log:
        "logs/hierarchical/plot_hierarchical.log",
    benchmark:
        "benchmarks/hierarchical/plot_hierarchical.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_hierarchical"),
    script:
        "../../scripts/gtv/plot_hierarchical.py"


rule calibrate_hierarchical:
    """The shares of answers 0 and 1 after hierarchical noise, by budget and by how alike neighbours are before it."""
    input:
        country=COUNTRY,
        domain=STUDY.microdata.domain,
        tables=STUDY.release.tables_file,
    output:
        table="results/tables/hierarchical_calibration.csv",
        record="results/tables/hierarchical_calibration.record.json",
    log:
        "logs/hierarchical/calibrate_hierarchical.log",
    benchmark:
        "benchmarks/hierarchical/calibrate_hierarchical.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("calibrate_hierarchical"),
        microdata=setting("microdata"),
        hierarchical=setting("hierarchical"),
        release=setting("release"),
    script:
        "../../scripts/gtv/calibrate_hierarchical.py"


rule hierarchical:
    """What microdata protected by hierarchical noise still give away: table and figure."""
    input:
        "results/tables/hierarchical.csv",
        "figures/hierarchical.pdf",
