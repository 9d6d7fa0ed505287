"""
Reads: data/cellbounds/: the counts and the printed numbers of the cell-bounding paper (Wright and Smucker).
Writes: results/tables/cellbounds_*.csv, figures/cellbounds*.* and results/benchmark/cellbounds.csv (the benchmark on request).
"""

CELL_BOUNDS = "Cell bounds"
CELLBOUNDS = [
    "figures/cellbounds.pdf",
    *(f"results/tables/cellbounds_table{number}.csv" for number in (1, 3, 5, 6, 8, 9)),
    "results/tables/cellbounds_sentences.csv",
    "results/tables/cellbounds_redesign.csv",
]
DEFAULT += CELLBOUNDS
WHOLE.append("cellbounds")


rule cellbounds:
    """Every figure and table of the cell bounds but the benchmarks."""
    input:
        CELLBOUNDS,


rule write_cellbounds_table:
    """Bound the cells of an example of the cell-bounding paper (Tables 1, 3, 5: 4 x 4, 6: survey, 8: clinical trial, 9: autoworkers), ours beside its numbers."""
    input:
        table1="data/cellbounds/table1.csv",
        table2="data/cellbounds/table2.csv",
        table3="data/cellbounds/table3.csv",
        table6="data/cellbounds/table6.csv",
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
        number="1|3|5|6|8|9",
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_cellbounds_table"),
    script:
        "../../scripts/cellbounds/write_cellbounds_table.py"


rule write_cellbounds_sentences:
    """Check what the paper's text says about its Tables 1, 2, 3, 6, 7 and 9, sentence by sentence."""
    input:
        table1="data/cellbounds/table1.csv",
        table2="data/cellbounds/table2.csv",
        table3="data/cellbounds/table3.csv",
        table6="data/cellbounds/table6.csv",
        table7="data/cellbounds/table7.csv",
        table9="data/cellbounds/table9.csv",
        paper="data/cellbounds/paper.yaml",
    output:
        table="results/tables/cellbounds_sentences.csv",
        record="results/tables/cellbounds_sentences.record.json",
    log:
        "logs/write_cellbounds_sentences.log",
    benchmark:
        "benchmarks/write_cellbounds_sentences.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_cellbounds_sentences"),
    script:
        "../../scripts/cellbounds/write_cellbounds_sentences.py"


rule write_cellbounds_redesign:
    """Merge rows or columns of the paper's tables until their conditionals disclose nothing (section 4.1)."""
    input:
        table1="data/cellbounds/table1.csv",
        table2="data/cellbounds/table2.csv",
        table6="data/cellbounds/table6.csv",
        table7="data/cellbounds/table7.csv",
    output:
        table="results/tables/cellbounds_redesign.csv",
        record="results/tables/cellbounds_redesign.record.json",
    log:
        "logs/write_cellbounds_redesign.log",
    benchmark:
        "benchmarks/write_cellbounds_redesign.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_cellbounds_redesign"),
        cellbounds=setting("cellbounds"),
    script:
        "../../scripts/cellbounds/write_cellbounds_redesign.py"


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


rule benchmark_cellbounds_shapes:
    """Seconds for the bounds of all cells of tables as large as those of section 3.3: files of a user, or stand-ins."""
    input:
        adult="data/cellbounds/adult.yaml",
        files=[
            path
            for shape in STUDY.benchmark.cellbounds.shapes.values()
            for path in shape.files
        ],
    output:
        table="results/benchmark/cellbounds_shapes.csv",
        record="results/benchmark/cellbounds_shapes.record.json",
    log:
        "logs/benchmark_cellbounds_shapes.log",
    benchmark:
        "benchmarks/benchmark_cellbounds_shapes.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_cellbounds_shapes"),
        cellbounds=setting("benchmark.cellbounds"),
        seed=setting("seed"),
    script:
        "../../scripts/cellbounds/benchmark_cellbounds_shapes.py"


rule benchmark_marginals:
    """Seconds, memory and exact ranges of one table from all its marginals of a number of variables, beside an integer program."""
    output:
        table="results/benchmark/marginals/{case}.csv",
        record="results/benchmark/marginals/{case}.record.json",
    log:
        "logs/benchmark_marginals/{case}.log",
    benchmark:
        "benchmarks/benchmark_marginals/{case}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("benchmark_marginals"),
        marginals=setting("benchmark.marginals"),
        seed=setting("seed"),
    script:
        "../../scripts/cellbounds/benchmark_marginals.py"


rule write_marginals:
    """Put the times of all marginal cases into one table."""
    input:
        cases=expand(
            "results/benchmark/marginals/{case}.csv",
            case=STUDY.benchmark.marginals.cases,
        ),
    output:
        table="results/benchmark/marginals.csv",
        record="results/benchmark/marginals.record.json",
    log:
        "logs/write_marginals.log",
    benchmark:
        "benchmarks/write_marginals.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_marginals"),
    script:
        "../../scripts/cellbounds/write_marginals.py"


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
