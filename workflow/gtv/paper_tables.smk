"""
Reads: results/{variant}/ and, to see whom the claims are about, results/microdata/.
Writes: results/{variant}/households.parquet and answers.parquet; results/tables/ with tables 1 and 4 to 7 of the paper and the numbers of
its text, each as CSV and as Markdown; of another variant and of one design results/tables/no_ones/table4_state_median.csv; two variants compared.
"""

PAPER = "data/papers/generate_then_verify.yaml"
NUMBERED = sorted({"paper", "no_ones", "no_zeros_ones"} & set(VARIANTS))


rule count_households:
    """Check every verified claim against the private records, and count the households that claims represent (footnote 6)."""
    input:
        microdata="results/microdata",
        sample=SAMPLE,
        claims="results/{variant}/claims.parquet",
        schema="results/{variant}/release/schema.json",
        counts=expand("results/{{variant}}/release/{batch}.parquet", batch=BATCHES),
        domain=STUDY.microdata.domain,
    output:
        households="results/{variant}/households.parquet",
        answers="results/{variant}/answers.parquet",
        record="results/{variant}/households.record.json",
    log:
        "logs/{variant}/count_households.log",
    benchmark:
        "benchmarks/{variant}/count_households.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("count_households"),
        release=setting("release"),
        sample=setting("sample"),
    script:
        "../../scripts/gtv/count_households.py"


rule write_table1:
    """Table 1: verified singleton claims in plain English, from synthetic blocks."""
    input:
        claims="results/paper/claims.parquet",
        schema="results/paper/release/schema.json",
        counts=expand("results/paper/release/{batch}.parquet", batch=BATCHES),
        proofs=expand("results/paper/proofs/{batch}.jsonl.gz", batch=BATCHES),
        manifest="results/microdata.json",
        domain=STUDY.microdata.domain,
        phrases="data/census/phrases.yaml",
    output:
        table="results/tables/table1.csv",
        readable="results/tables/table1.md",
        record="results/tables/table1.record.json",
    log:
        "logs/write_table1.log",
    benchmark:
        "benchmarks/write_table1.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_table1"),
    script:
        "../../scripts/gtv/write_table1.py"


rule write_represented:
    """Tables 4 and 7: households represented among the verified singleton claims (4) or all of them (7), by k and by effective k."""
    input:
        households=of_variant("households.parquet"),
        manifest="results/microdata.json",
        paper=PAPER,
    output:
        table="results/tables/{folder}table{number}{only}.csv",
        readable="results/tables/{folder}table{number}{only}.md",
        record="results/tables/{folder}table{number}{only}.record.json",
    log:
        "logs/write_represented/{folder}table{number}{only}.log",
    benchmark:
        "benchmarks/write_represented/{folder}table{number}{only}.tsv"
    wildcard_constraints:
        number="4|7",
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_represented"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/write_represented.py"


rule write_table5:
    """Table 5: how the households singled out change when queries are removed, for every variant."""
    input:
        households=expand("results/{variant}/households.parquet", variant=VARIANTS),
        answers=expand("results/{variant}/answers.parquet", variant=VARIANTS),
        manifest="results/microdata.json",
        paper=PAPER,
    output:
        table="results/tables/table5{only}.csv",
        readable="results/tables/table5{only}.md",
        record="results/tables/table5{only}.record.json",
    log:
        "logs/write_table5/table5{only}.log",
    benchmark:
        "benchmarks/write_table5/table5{only}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_table5"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/write_table5.py"


rule write_table6:
    """Table 6: the most common combinations of columns among the verified singleton claims."""
    input:
        claims=of_variant("claims.parquet"),
        sample=SAMPLE,
        manifest="results/microdata.json",
        domain=STUDY.microdata.domain,
        paper=PAPER,
    output:
        table="results/tables/{folder}table6{only}.csv",
        readable="results/tables/{folder}table6{only}.md",
        record="results/tables/{folder}table6{only}.record.json",
    log:
        "logs/write_table6/{folder}table6{only}.log",
    benchmark:
        "benchmarks/write_table6/{folder}table6{only}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_table6"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/write_table6.py"


rule write_numbers:
    """The numbers of the paper's text (introduction, section 4 and appendix), beside ours."""
    input:
        claims="results/paper/claims.parquet",
        blocks="results/paper/blocks.parquet",
        baselines="results/paper/baselines.parquet",
        sample=SAMPLE,
        households=expand("results/{variant}/households.parquet", variant=NUMBERED),
        answers="results/paper/answers.parquet",
        manifest="results/microdata.json",
        domain=STUDY.microdata.domain,
        paper=PAPER,
        reasons="data/papers/generate_then_verify_why.yaml",
    output:
        table="results/tables/numbers.csv",
        readable="results/tables/numbers.md",
        record="results/tables/numbers.record.json",
    log:
        "logs/write_numbers.log",
    benchmark:
        "benchmarks/write_numbers.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_numbers"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/write_numbers.py"


rule compare_variants:
    """How many households two variants single out, and the difference with its interval: the same blocks, resampled together."""
    input:
        first="results/{first}/households.parquet",
        second="results/{second}/households.parquet",
        manifest="results/microdata.json",
    output:
        table="results/tables/compare/{first}/{second}.csv",
        readable="results/tables/compare/{first}/{second}.md",
        pdf="figures/compare/{first}/{second}.pdf",
        svg="figures/compare/{first}/{second}.svg",
        png=shown("figures/compare/{first}/{second}.png", both_of, BEYOND, "compared"),
        record="results/tables/compare/{first}/{second}.record.json",
    log:
        "logs/compare_variants/{first}/{second}.log",
    benchmark:
        "benchmarks/compare_variants/{first}/{second}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("compare_variants"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/compare_variants.py"


rule compare:
    """Compare two variants: snakemake compare --config first=paper second=no_ones."""
    input:
        compared,
