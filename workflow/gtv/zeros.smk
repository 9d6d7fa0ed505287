"""
Reads: results/microdata/ and the sampled blocks.
Writes: results/tables/withheld_zeros.csv and .md, figures/withheld_zeros_by_k.pdf: what could explain that the paper loses households when zeros are
withheld (Table 5); results/zeros/: some blocks, their claims, and which of them survive. A target on request, no part of `all`.
"""


wildcard_constraints:
    records="|".join(STUDY.zeros.records),


rule publish_zeros:
    """Publish all counts of some blocks, as they are or with codes that one household of every block is given."""
    input:
        microdata="results/microdata",
        blocks=SAMPLE,
        domain=STUDY.microdata.domain,
        tables=STUDY.release.tables_file,
    output:
        schema="results/zeros/{records}/schema.json",
        counts="results/zeros/{records}/counts.parquet",
        record="results/zeros/{records}/counts.record.json",
    log:
        "logs/zeros/{records}/publish_zeros.log",
    benchmark:
        "benchmarks/zeros/{records}/publish_zeros.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("publish_zeros"),
        records=setting("zeros.records"),
        blocks=setting("zeros.blocks"),
        release=setting("release"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/publish_zeros.py"


rule attack_zeros:
    """Generate, verify and check the singleton claims of every block, all counts published."""
    input:
        schema="results/zeros/{records}/schema.json",
        counts="results/zeros/{records}/counts.parquet",
    output:
        singletons="results/zeros/{records}/singletons.parquet",
        record="results/zeros/{records}/singletons.record.json",
    log:
        "logs/zeros/{records}/attack_zeros.log",
    benchmark:
        "benchmarks/zeros/{records}/attack_zeros.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("attack_zeros"),
        program=setting("program"),
        generate=setting("generate"),
        verify=setting("verify"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/attack_zeros.py"


rule judge_zeros:
    """Find the household that each verified singleton claim is about (footnote 6)."""
    input:
        singletons="results/zeros/{records}/singletons.parquet",
        microdata="results/microdata",
        blocks=SAMPLE,
        domain=STUDY.microdata.domain,
    output:
        households="results/zeros/{records}/households.parquet",
        record="results/zeros/{records}/households.record.json",
    log:
        "logs/zeros/{records}/judge_zeros.log",
    benchmark:
        "benchmarks/zeros/{records}/judge_zeros.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("judge_zeros"),
        records=setting("zeros.records"),
        blocks=setting("zeros.blocks"),
        release=setting("release"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/judge_zeros.py"


rule decide_zeros:
    """Decide which claims are still verified when answers are withheld, under every explanation about these records."""
    input:
        schema="results/zeros/{records}/schema.json",
        counts="results/zeros/{records}/counts.parquet",
        households="results/zeros/{records}/households.parquet",
    output:
        decided="results/zeros/{records}/decided.parquet",
        record="results/zeros/{records}/decided.record.json",
    log:
        "logs/zeros/{records}/decide_zeros.log",
    benchmark:
        "benchmarks/zeros/{records}/decide_zeros.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("decide_zeros"),
        explanations=setting("zeros.explanations"),
        program=setting("program"),
    script:
        "../../scripts/gtv/decide_zeros.py"


rule search_zeros:
    """Search for few lines whose absence would make withheld zeros as costly as they were to the paper."""
    input:
        schema="results/zeros/sampled/schema.json",
        counts="results/zeros/sampled/counts.parquet",
        households="results/zeros/sampled/households.parquet",
        paper="data/papers/generate_then_verify.yaml",
    output:
        steps="results/zeros/search.csv",
        decided="results/zeros/search.parquet",
        record="results/zeros/search.record.json",
    log:
        "logs/zeros/search_zeros.log",
    benchmark:
        "benchmarks/zeros/search_zeros.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("search_zeros"),
        search=setting("zeros.search"),
        program=setting("program"),
    script:
        "../../scripts/gtv/search_zeros.py"


rule try_onehot:
    """Decide some claims with the paper's own program under a limit, with zeros and without."""
    input:
        schema="results/zeros/sampled/schema.json",
        counts="results/zeros/sampled/counts.parquet",
        households="results/zeros/sampled/households.parquet",
    output:
        verdicts="results/zeros/onehot.csv",
        record="results/zeros/onehot.record.json",
    log:
        "logs/zeros/try_onehot.log",
    benchmark:
        "benchmarks/zeros/try_onehot.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("try_onehot"),
        onehot=setting("zeros.onehot"),
        program=setting("program"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/try_onehot.py"


rule write_withheld_zeros:
    """What every explanation of Table 5 loses when zeros are withheld, beside what the paper lost."""
    input:
        decided=expand(
            "results/zeros/{records}/decided.parquet", records=STUDY.zeros.records
        ),
        searched="results/zeros/search.parquet",
        steps="results/zeros/search.csv",
        verdicts="results/zeros/onehot.csv",
        paper="data/papers/generate_then_verify.yaml",
        manifest="results/microdata.json",
    output:
        table="results/tables/withheld_zeros.csv",
        readable="results/tables/withheld_zeros.md",
        record="results/tables/withheld_zeros.record.json",
    log:
        "logs/zeros/write_withheld_zeros.log",
    benchmark:
        "benchmarks/zeros/write_withheld_zeros.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_withheld_zeros"),
        seed=setting("seed"),
    script:
        "../../scripts/gtv/write_withheld_zeros.py"


rule plot_withheld_zeros:
    """Households lost by k when answers are withheld: the paper's and every explanation's."""
    input:
        table="results/tables/withheld_zeros.csv",
        manifest="results/microdata.json",
    output:
        pdf="figures/withheld_zeros_by_k.pdf",
        png=shown(
            "figures/withheld_zeros_by_k.png", "Withheld zeros", BEYOND, variant="all"
        ),
        record="figures/withheld_zeros_by_k.record.json",
    log:
        "logs/zeros/plot_withheld_zeros.log",
    benchmark:
        "benchmarks/zeros/plot_withheld_zeros.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_withheld_zeros"),
    script:
        "../../scripts/gtv/plot_withheld_zeros.py"


rule withheld_zeros:
    """The question of withheld zeros: table, page of the report and figure."""
    input:
        "results/tables/withheld_zeros.csv",
        "results/report/withheld_zeros.html",
        "figures/withheld_zeros_by_k.pdf",
