"""
Reads: results/microdata/, the sampled blocks and results/paper/release/.
Writes: results/benchmark/ and figures/scaling.*: how fast the stages are on this machine. Targets on request, no part of `all`.
"""


rule benchmark_ingest:
    """Rows per second and peak memory of ingesting a large file in the PPMF layout."""
    input:
        microdata="results/microdata",
        domain=STUDY.microdata.domain,
    output:
        table="results/benchmark/ingest.csv",
        record="results/benchmark/ingest.record.json",
    log:
        "logs/benchmark_ingest.log",
    benchmark:
        "benchmarks/benchmark_ingest.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_ingest"),
        ingest=setting("benchmark.ingest"),
    script:
        "../../scripts/gtv/benchmark_ingest.py"


rule benchmark_tabulate:
    """Blocks per second of tabulating every block of the microdata (equation 2)."""
    input:
        microdata="results/microdata",
        domain=STUDY.microdata.domain,
        tables=tables_file,
    output:
        table="results/benchmark/tabulate.csv",
        record="results/benchmark/tabulate.record.json",
    log:
        "logs/benchmark_tabulate.log",
    benchmark:
        "benchmarks/benchmark_tabulate.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_tabulate"),
        release=setting("release"),
    script:
        "../../scripts/gtv/benchmark_tabulate.py"


rule benchmark_speed:
    """The compact program against the paper's one-hot program on country-median blocks, whose times are extrapolated."""
    input:
        sample=SAMPLE,
        schema="results/paper/release/schema.json",
        counts=expand("results/paper/release/{batch}.parquet", batch=BATCHES),
    output:
        table="results/benchmark/speed.csv",
        record="results/benchmark/speed.record.json",
    log:
        "logs/benchmark_speed.log",
    benchmark:
        "benchmarks/benchmark_speed.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_speed"),
        program=setting("program"),
        generate=setting("generate"),
        verify=setting("verify"),
        speed=setting("benchmark.speed"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/benchmark_speed.py"


rule benchmark_counting:
    """Counting datasets: moves per core-second before and after optimisation, and peak memory under growing budgets."""
    input:
        schema="results/paper/release/schema.json",
        counts=f"results/paper/release/{BATCHES[0]}.parquet",
    output:
        table="results/benchmark/counting.csv",
        record="results/benchmark/counting.record.json",
    log:
        "logs/benchmark_counting.log",
    benchmark:
        "benchmarks/benchmark_counting.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_counting"),
        counting=setting("benchmark.counting"),
        program=setting("program"),
        probability=setting("probability"),
    script:
        "../../scripts/gtv/benchmark_counting.py"


rule benchmark_estimate:
    """How often the interval of an estimated probability holds the exact one, on blocks that can be counted."""
    input:
        schema="results/paper/release/schema.json",
        counts=expand("results/paper/release/{batch}.parquet", batch=BATCHES),
        datasets=expand("results/paper/generated/{batch}.parquet", batch=BATCHES),
        areas="results/paper/probabilities/areas.parquet",
        smoothing="results/paper/probabilities/smoothing.csv",
    output:
        table="results/benchmark/estimate.csv",
        blocks="results/benchmark/estimate_blocks.csv",
        record="results/benchmark/estimate.record.json",
    log:
        "logs/benchmark_estimate.log",
    benchmark:
        "benchmarks/benchmark_estimate.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_estimate"),
        estimate=setting("benchmark.estimate"),
        program=setting("program"),
        probability=setting("probability"),
        verify=setting("verify"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/benchmark_estimate.py"


rule benchmark_main_job:
    """CPU seconds of the main job (figure 3 from nothing) by process: Snakemake, starts of jobs, work; and of an earlier version."""
    output:
        table="results/benchmark/main_job.csv",
        record="results/benchmark/main_job.record.json",
    log:
        "logs/benchmark_main_job.log",
    benchmark:
        "benchmarks/benchmark_main_job.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_main_job"),
        blocks=setting("benchmark.blocks"),
        target="figures/fig3.pdf",
        compared=["figures/fig3.pdf", "results/paper/claims.parquet"],
    script:
        "../../scripts/gtv/benchmark_main_job.py"


rule benchmark_blocks:
    """Core-seconds and peak memory of a block by its size, and core-hours of the country, by this version and an earlier one."""
    input:
        microdata="results/microdata",
        sizes="results/sample/sizes.parquet",
        domain=STUDY.microdata.domain,
        tables=tables_file,
    output:
        table="results/benchmark/blocks.csv",
        record="results/benchmark/blocks.record.json",
    log:
        "logs/benchmark_blocks.log",
    benchmark:
        "benchmarks/benchmark_blocks.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_blocks"),
        release=setting("release"),
        program=setting("program"),
        generate=setting("generate"),
        verify=setting("verify"),
        blocks=setting("benchmark.blocks"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/benchmark_blocks.py"


rule benchmark_same:
    """Whether this version and an earlier one verify the same claims: blocks of the study, and blocks that differ more within."""
    input:
        microdata="results/microdata",
        sizes="results/sample/sizes.parquet",
        domain=STUDY.microdata.domain,
        tables=tables_file,
        schema="results/paper/release/schema.json",
        counts=expand("results/paper/release/{batch}.parquet", batch=BATCHES),
    output:
        table="results/benchmark/same.csv",
        record="results/benchmark/same.record.json",
    log:
        "logs/benchmark_same.log",
    benchmark:
        "benchmarks/benchmark_same.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_same"),
        release=setting("release"),
        program=setting("program"),
        generate=setting("generate"),
        verify=setting("verify"),
        blocks=setting("benchmark.blocks"),
        same=setting("benchmark.same"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/benchmark_same.py"


rule benchmark_scaling:
    """Seconds and peak memory of the attack on blocks of growing size, with and without structural zeros."""
    input:
        microdata="results/microdata",
        sizes="results/sample/sizes.parquet",
        domain=STUDY.microdata.domain,
        tables=tables_file,
    output:
        table="results/benchmark/scaling.csv",
        record="results/benchmark/scaling.record.json",
    log:
        "logs/benchmark_scaling.log",
    benchmark:
        "benchmarks/benchmark_scaling.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_scaling"),
        release=setting("release"),
        program=setting("program"),
        generate=setting("generate"),
        verify=setting("verify"),
        scaling=setting("benchmark.scaling"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/benchmark_scaling.py"


rule plot_scaling:
    """How seconds and memory grow with the number of households of a block."""
    input:
        table="results/benchmark/scaling.csv",
        manifest="results/microdata.json",
    output:
        pdf="figures/scaling.pdf",
        png=shown("figures/scaling.png", "Scaling", BENCHMARKS),
        table="figures/scaling.csv",
        record="figures/scaling.record.json",
    log:
        "logs/plot_scaling.log",
    benchmark:
        "benchmarks/plot_scaling.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_scaling"),
    script:
        "../../scripts/gtv/plot_scaling.py"
