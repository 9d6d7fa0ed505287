"""Named forgeries of a real study, from raw data to figures, with digests that fit: each with the level that catches it."""

import json
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from fontTools import subset

from audit_fuzz import RepeatedJobs
from cheaper import WHOLE
from forger import forge_proofs, forge_record, forge_table, rewrite
from genverify.model.errors import GenverifyError
from genverify.run import code
from genverify.run.config import Config
from genverify.run.provenance import recheck, rerun
from genverify.run.provenance.audit import audit, read_config
from study_runs import copy_repository, shrink_country, snakemake

SMALL: dict[str, Any] = {
    "microdata": {"synthetic": {"country": "country", "households": 6000, "likeness": "urn"}},
    "sample": {
        "designs": {
            "state_median": {"size": "state_median", "blocks_per_state": 1},
            "country_median": {"size": 3, "blocks_per_state": 1},
        },
        "batches": 1,
    },
    "generate": {"datasets": 5},
    "explorer": {"certificates": False, "likely": 0},
}
TARGETS = ("figures/fig3.pdf", "results/tables/table2.csv", "results/tables/table3.csv", "results/explorer/index.html",
           "results/disclosure/school/report.html")  # fmt: skip
CHANGED = ("results", "figures", "country", "data")
PAPER, SCHOOL = "results/paper", "results/disclosure/school"
CLAIMS, PROOFS, BLOCKS = f"{PAPER}/claims/000.parquet", f"{PAPER}/proofs/000.jsonl.gz", f"{PAPER}/blocks.parquet"
FIGURE, VERIFY = "figures/fig3.record.json", f"{PAPER}/claims/000.record.json"
# what the audit says at each level: a statement against its proofs, a job run again, a record against its rule and files
LEVELS = {
    "proved": r"proof|proven|[Vv]erify the batch again",
    "recomputed": r"run again from its recorded inputs, settings and code, (gives another file|ends with an error)",
    "compared": r"rule|made with|made by other code|a link in place of|not the code that",
}
Forge = Callable[[], object]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Config, dict[str, bytes]]]:
    """The study, in whose folder we are, its settings and its files as they were made."""
    home = copy_repository(tmp_path_factory.mktemp("forged"))
    shrink_country(home, SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        (home / "examples").symlink_to(Path(__file__).parents[2] / "examples")
        snakemake(home, *TARGETS, "--configfile", "small.yaml")
        patch.setattr(code, "SRC", home / "src")
        code.forget_code()
        patch.setattr(rerun, "rerun_jobs", RepeatedJobs(rerun.rerun_jobs))
        patch.setattr(subset.Options, "_drop_tables_default", WHOLE)  # jobs that are run again are forked from this process
        patch.setattr(recheck, "cores", lambda: 1)  # in this process: a new one for each forgery takes seconds to start
        yield read_config([Path("small.yaml")]), contents()
    code.forget_code()


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for made in CHANGED for path in Path(made).rglob("*") if path.is_file()}


def audited(config: Config) -> list[str]:
    return list(audit(config, TARGETS, share=1.0))


def replaced(path: str, old: str, new: str) -> Forge:
    def forge() -> None:
        text = Path(path).read_bytes().decode()
        changed = re.sub(old, new, text)
        assert changed != text, path
        rewrite(path, changed.encode())

    return forge


def table(path: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Forge:
    return lambda: forge_table(path, change)


def content(path: str, change: Callable[[bytes], bytes]) -> Forge:
    return lambda: rewrite(path, change(Path(path).read_bytes()))


def record(path: str, change: Callable[[dict[str, Any]], object]) -> Forge:
    return lambda: forge_record(path, lambda text: change(text) and None)


def more(column: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda frame: frame.assign(**{column: frame[column] + 1})


def tripled() -> None:
    """Every count of the summary, from which figure 3 is drawn."""

    def times(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: times(part) for name, part in value.items()}
        if isinstance(value, list):
            return [times(part) for part in value]
        return 3 * value if isinstance(value, int) and not isinstance(value, bool) else value

    text = json.loads(Path(f"{PAPER}/summary.json").read_text())
    rewrite(f"{PAPER}/summary.json", json.dumps(times(text)).encode())


def listed_source(path: str, change: Callable[[bytes], bytes]) -> None:
    """A raw file that is shipped, with the list of sources made to fit."""
    old, sources = sha256(Path(path).read_bytes()).hexdigest(), Path("data/sources.csv")
    rewrite(path, change(Path(path).read_bytes()))
    sources.write_text(sources.read_text().replace(old, sha256(Path(path).read_bytes()).hexdigest()))


def left_out() -> None:
    """A claim without its proof, in the certificate and in the table alike: nothing false is said of anybody."""
    dropped: list[tuple[str, dict[str, Any]]] = []

    def drop(blocks: list[dict[str, Any]]) -> None:
        block = next(block for block in blocks if block["statements"])
        dropped.append((block["about"]["name"], block["statements"].pop()))

    forge_proofs(PROOFS, drop)
    (block, claim), frame = dropped[0], pd.read_parquet(CLAIMS)
    same = (frame["block"] == block) & (frame["k"] == len(claim["where"]))
    for name, value in claim["where"].items():
        same &= (frame[name] == value).fillna(False)
    assert same.sum() == 1
    forge_table(CLAIMS, lambda frame: frame[~same])


def linked() -> None:
    Path("figures/fig3.pdf").rename("figures/elsewhere.pdf")
    Path("figures/fig3.pdf").symlink_to(Path("figures/elsewhere.pdf").absolute())


def dear_figure() -> None:
    rewrite("figures/fig3.pdf", b"drawn by hand")
    forge_record(FIGURE, lambda text: text.update(seconds=1e6))


def first_statement(change: Callable[[dict[str, Any]], object]) -> Forge:
    return lambda: forge_proofs(PROOFS, lambda blocks: change(next(b for b in blocks if b["statements"])) and None)


MICRODATA, RELEASE, GENERATED = "results/microdata/01.parquet", f"{PAPER}/release/000.parquet", f"{PAPER}/generated/000"
FORGERIES: dict[str, tuple[str, Forge]] = {
    # derived tables and figures
    "a summary with tripled counts": ("recomputed", tripled),
    "a summary without content": ("recomputed", content(f"{PAPER}/summary.json", lambda _: b"{}")),
    "baselines of 0.9999": ("recomputed", table(f"{PAPER}/baselines.parquet", lambda f: f.assign(tract=0.9999))),
    "baselines in another order": ("recomputed", table(f"{PAPER}/baselines.parquet", lambda f: f.iloc[::-1])),
    "baselines without a prior": ("recomputed", table(f"{PAPER}/baselines.parquet", lambda f: f.drop(columns="nation"))),
    "probabilities of unseen claims": ("recomputed", content(f"{PAPER}/unseen.csv", lambda text: text + b"1\n")),
    "sizes of blocks": ("recomputed", table("results/sample/sizes.parquet", more("n"))),
    "a block less in the sample": ("recomputed", table("results/sample/blocks.parquet", lambda f: f.iloc[1:])),
    "another design": ("recomputed", table("results/sample/blocks.parquet", lambda f: f.assign(design="other"))),
    "a replaced figure": ("recomputed", content("figures/fig3.pdf", lambda _: Path("figures/fig3.png").read_bytes())),
    "an emptied figure": ("recomputed", content("figures/fig3.pdf", lambda _: b"")),
    "one byte of a picture": ("recomputed", content("figures/fig3.png", lambda text: text[:-9] + b"x" + text[-8:])),
    "a figure that is said to be dear": ("recomputed", dear_figure),
    "a number of table 2": ("recomputed", replaced("results/tables/table2.csv", r"\d(?=\D*$)", "77")),
    "a number of table 2 as text": ("recomputed", replaced("results/tables/table2.md", r"\| (\d)", r"| 9\1")),
    "a row less in table 3": ("recomputed", content("results/tables/table3.csv", lambda t: b"\n".join(t.split(b"\n")[1:]))),
    "table 3 in another order": ("recomputed", content("results/tables/table3.csv", lambda t: t[::-1])),
    "an emptied table 3": ("recomputed", content("results/tables/table3.csv", lambda _: b"")),
    # microdata and raw data
    "a reversed column of microdata": ("recomputed", table(MICRODATA, lambda f: f.assign(TEN=f["TEN"].to_numpy()[::-1]))),
    "a household less": ("recomputed", table(MICRODATA, lambda f: f.iloc[1:])),
    "a household twice": ("recomputed", table(MICRODATA, lambda f: pd.concat([f.iloc[:1], f]))),
    "the households of another state": (
        "recomputed", content(MICRODATA, lambda _: Path("results/microdata/02.parquet").read_bytes())),
    "synthetic data called real": ("recomputed", replaced("results/microdata.json", "synthetic", "census")),
    "an emptied raw source": ("recomputed", lambda: listed_source("data/census/tables.yaml", lambda _: b"")),
    "a raw source of another form": ("recomputed", lambda: listed_source("data/census/domain.yaml", lambda _: b"a: 1\n")),
    "a table less in the raw source": (
        "recomputed", lambda: listed_source("data/census/tables.yaml", lambda text: text.replace(b"P16", b"P99"))),
    "an emptied raw file of a user": ("recomputed", content("country/states.yaml", lambda _: b"{}")),
    "odds of a user's country": ("recomputed", replaced("country/odds.csv", "HHSIZE,1,3", "HHSIZE,1,9")),
    # what is published, generated and claimed
    "a published count": ("proved", table(RELEASE, more("count"))),
    "a published count less": ("proved", table(RELEASE, lambda f: f.iloc[:-1])),
    "words of the schema": ("proved", replaced(f"{PAPER}/release/schema.json", "tenure", "tenants")),
    "a generated record": ("recomputed", table(f"{GENERATED}.parquet", lambda f: f.assign(TEN=f["TEN"].to_numpy()[::-1]))),
    "a dataset less": ("recomputed", table(f"{GENERATED}.parquet", lambda f: f[f["dataset"] > 0])),
    "blocks called unique": ("recomputed", table(f"{GENERATED}.blocks.parquet", lambda f: f.assign(unique=~f["unique"]))),
    "verified claims counted": ("recomputed", table(f"{PAPER}/claims/000.blocks.parquet", more("verified_k6"))),
    "another number of households": ("proved", table(CLAIMS, more("m"))),
    "another effective k": ("proved", table(CLAIMS, more("effective_k"))),
    "a claim less": ("proved", table(CLAIMS, lambda f: f.iloc[1:])),
    "a claim more": ("proved", table(CLAIMS, lambda f: pd.concat([f, f.iloc[:1].assign(m=f["m"].iloc[0] + 1)]))),
    "a claim twice": ("proved", table(CLAIMS, lambda f: pd.concat([f, f.iloc[:1]]))),
    "a claim in a certificate": ("proved", first_statement(lambda block: block["statements"][0].update(m=9))),
    "a claim about nobody": ("proved", first_statement(lambda block: block["statements"][0].update(where={"TEN": 9}))),
    "proofs of another block": ("proved", first_statement(lambda block: block["about"].update(digest="0" * 64))),
    "certificates without statements": ("proved", first_statement(lambda block: block.update(statements=[]))),
    "a claim left out everywhere": ("recomputed", left_out),
    "a row less of all claims": ("recomputed", table(f"{PAPER}/claims.parquet", lambda f: f.iloc[:-1])),
    "verified claims of all blocks": ("recomputed", table(BLOCKS, more("verified_k10"))),
    # pages and folders
    "a script of the explorer": ("recomputed", replaced("results/explorer/index.html", "</script>", " </script>")),
    "a piece of the explorer": ("recomputed", replaced("results/explorer/pieces/study.js", "claims", "Claims")),
    "the answer about a release": ("recomputed", replaced(f"{SCHOOL}/answer.json", r"\d", "7")),
    "the report about a release": ("recomputed", replaced(f"{SCHOOL}/report.html", "</body>", "No risk.</body>")),
    "claims in words": ("recomputed", content(f"{SCHOOL}/claims.csv", lambda text: text + b"x\n")),
    # records
    "another setting": ("compared", record(VERIFY, lambda t: t["params"]["verify"].update(min_k=5))),
    "another seed": ("compared", record("results/microdata.record.json", lambda t: t["params"].update(seed=2))),
    "an input less": ("compared", record(f"{PAPER}/claims.record.json", lambda t: t["inputs"].update(claims={}))),
    "another country": ("compared", record("results/microdata.record.json", lambda t: t["inputs"].update(source={}))),
    "a wildcard more": ("compared", record(FIGURE, lambda t: t["wildcards"].update(variant="no_ones"))),
    "other code": ("compared", record(FIGURE, lambda t: t["params"].update(code="0" * 16))),
    "another rule": ("compared", record(FIGURE, lambda t: t.update(rule="plot_fig2"))),
    "other versions": ("compared", record(FIGURE, lambda t: t["versions"].update(numpy="1.0"))),
    "a link in place of a figure": ("compared", linked),
}  # fmt: skip


def test_the_study_as_it_was_made_is_accepted(study: tuple[Config, dict[str, bytes]]) -> None:
    said = audited(study[0])
    assert said[-1].startswith(f"{len(TARGETS)} results, ")
    assert not [
        line for line in said if line.startswith(("not run again", "taken on its digest: ")) and "raw files" not in line
    ]
    assert len(FORGERIES) >= 46


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_caught(study: tuple[Config, dict[str, bytes]], name: str) -> None:
    config, made = study
    level, forge = FORGERIES[name]
    try:
        forge()
        assert contents() != made
        with pytest.raises(GenverifyError, match=LEVELS[level]):
            audited(config)
    finally:
        for path in contents().keys() - made.keys():
            Path(path).unlink()
        for path, content in made.items():
            if Path(path).is_symlink() or not Path(path).exists() or Path(path).read_bytes() != content:
                Path(path).unlink(missing_ok=True)
                Path(path).write_bytes(content)
