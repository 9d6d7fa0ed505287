"""
Reads: data/cellbounds/: the counts and the printed numbers of the cell-bounding paper (Wright and Smucker).
Writes: results/tables/cellbounds_*.csv, figures/cellbounds*.* and results/benchmark/cellbounds.csv (the benchmark on request).
"""

CELLBOUNDS = [
    "figures/cellbounds.pdf",
    *(f"results/tables/cellbounds_table{number}.csv" for number in (5, 8, 9)),
]


rule write_cellbounds_table:
    """Bound the cells of an example of the cell-bounding paper (Table 5: 4 x 4, 8: clinical trial, 9: autoworkers), ours beside its numbers."""
    input:
        table2="data/cellbounds/table2.csv",
        table7="data/cellbounds/table7.csv",
        table9="data/cellbounds/table9.csv",
        paper="data/cellbounds/paper.yaml",
    output:
        table="results/tables/cellbounds_table{number}.csv",
        record="results/tables/cellbounds_table{number}.record.json",
    log:
        "logs/write_cellbounds_table/{number}.log",
    benchmark:
        "benchmarks/write_cellbounds_table/{number}.tsv"
    wildcard_constraints:
        number="5|8|9",
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_cellbounds_table"),
    script:
        "../../scripts/cellbounds/write_cellbounds_table.py"


rule plot_cellbounds:
    """Draw cell bounds against true counts on the paper's tables, disclosed rows marked, and what rounding hides."""
    input:
        table2="data/cellbounds/table2.csv",
        table7="data/cellbounds/table7.csv",
        table9="data/cellbounds/table9.csv",
    output:
        pdf="figures/cellbounds.pdf",
        png=shown("figures/cellbounds.png", "Bounds of cells", CELL_BOUNDS),
        table="figures/cellbounds.csv",
        record="figures/cellbounds.record.json",
    log:
        "logs/plot_cellbounds.log",
    benchmark:
        "benchmarks/plot_cellbounds.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_cellbounds"),
        cellbounds=setting("cellbounds"),
    script:
        "../../scripts/cellbounds/plot_cellbounds.py"


rule benchmark_cellbounds:
    """Seconds for the bounds of all cells of random tables, against the integer programs of the paper (extrapolated)."""
    output:
        table="results/benchmark/cellbounds.csv",
        record="results/benchmark/cellbounds.record.json",
    log:
        "logs/benchmark_cellbounds.log",
    benchmark:
        "benchmarks/benchmark_cellbounds.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_cellbounds"),
        cellbounds=setting("benchmark.cellbounds"),
        seed=setting("seed"),
    script:
        "../../scripts/cellbounds/benchmark_cellbounds.py"


rule plot_cellbounds_scaling:
    """Draw how the seconds for all cell bounds grow with the table."""
    input:
        table="results/benchmark/cellbounds.csv",
    output:
        pdf="figures/cellbounds_scaling.pdf",
        png=shown("figures/cellbounds_scaling.png", "Cell bounds, scaling", BENCHMARKS),
        table="figures/cellbounds_scaling.csv",
        record="figures/cellbounds_scaling.record.json",
    log:
        "logs/plot_cellbounds_scaling.log",
    benchmark:
        "benchmarks/plot_cellbounds_scaling.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_cellbounds_scaling"),
    script:
        "../../scripts/cellbounds/plot_cellbounds_scaling.py"
