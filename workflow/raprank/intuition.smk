"""
Reads: nothing but the settings.
Writes: figures/intuition.pdf: equations 3 and 4 of RAP-RANK on a tiny domain, and RAP's frequencies beside the exact posterior. A target on request.
"""


rule plot_intuition:
    """Equations 3 and 4, computed exactly on a tiny domain; does the frequency over RAP's runs follow the posterior?"""
    output:
        pdf="figures/intuition.pdf",
        png=shown(
            "figures/intuition.png",
            "Equations 3 and 4",
            RAP_RANK,
            data="tiny domains",
        ),
        csv="figures/intuition.csv",
        record="figures/intuition.record.json",
    log:
        "logs/plot_intuition.log",
    benchmark:
        "benchmarks/plot_intuition.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("plot_intuition"),
        intuition=setting("raprank.intuition"),
        rap=setting("raprank.rap"),
        seed=setting("seed"),
    script:
        "../../scripts/raprank/plot_intuition.py"
