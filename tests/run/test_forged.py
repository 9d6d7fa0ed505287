"""False statements with right digests: tables, records and proofs, each altered by a careful forger."""

import json
import platform
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from forger import forge_proofs, forge_record, forge_table, rewrite
from genverify.cli import main
from genverify.model.errors import GenverifyError
from genverify.run.config import Config
from genverify.run.provenance.audit import audit, read_config
from genverify.run.provenance.recheck import KINDS, check_records, jobs_with_proofs, one_file
from genverify.run.provenance.records import AuditError, Record, find_records

BATCH, ALL = "results/paper/claims/000.parquet", "results/paper/claims.parquet"
VERIFIED, GENERATED = "results/paper/claims/000.blocks.parquet", "results/paper/generated/000.blocks.parquet"
DATASETS, BLOCKS = "results/paper/generated/000.parquet", "results/paper/blocks.parquet"
PROOFS = "results/paper/proofs/000.jsonl.gz"
NAMES = ["PET", "HOME", "AGE"]
Change = Callable[[pd.DataFrame], pd.DataFrame]


@cache
def config() -> Config:
    """The same in every copy of the study: no test here changes a file of settings."""
    return read_config([])


def audited() -> list[str]:
    return list(audit(config(), ["figures/fig3.pdf"]))


def refused(said: str) -> None:
    with pytest.raises(GenverifyError, match=said):
        audited()


def setting(column: str, value: Any, row: int = 0) -> Change:
    def change(frame: pd.DataFrame) -> pd.DataFrame:
        if isinstance(value, float):
            frame[column] = frame[column].astype(float)
        frame.loc[row, column] = value
        return frame

    return change


def false_row(**values: Any) -> Change:
    """A copy of the first claim with other values, at the end."""
    return lambda frame: pd.concat([frame, frame.iloc[[0]].assign(**values)], ignore_index=True).astype(dict(frame.dtypes))


def both(change: Change) -> None:
    """The batch, then the table that was put together from it: the whole study says the same false thing."""
    forge_table(BATCH, change)
    sample = pd.read_parquet("results/sample.parquet")
    if "block" in pd.read_parquet(BATCH):
        forge_table(ALL, lambda frame: sample.merge(pd.read_parquet(BATCH), on="block")[columns_of(frame)])


def columns_of(frame: pd.DataFrame) -> list[str]:
    """The columns of a table, as far as the forged batch has them."""
    kept = pd.read_parquet(BATCH).columns
    return [name for name in frame.columns if name == "design" or name in kept]


FALSE_CLAIMS: dict[str, Change] = {
    "no proof": false_row(m=7, proof=-1),
    "null proof": lambda frame: false_row(m=7)(frame).assign(proof=[*frame["proof"], None]).astype({"proof": "Int32"}),
    "no column of proofs": lambda frame: false_row(m=7)(frame).drop(columns="proof"),
    "no column of blocks": lambda frame: frame.drop(columns="block"),
    "another m": setting("m", 9),
    "another k": setting("k", 9),
    "another effective k": setting("effective_k", 9),
    "another proof": lambda frame: frame.assign(proof=frame["proof"].max() - frame["proof"]),
    "no whole number": setting("m", 1.9),
    "a repeated row": false_row(),
    "a row less": lambda frame: frame.iloc[1:],
    "no rows": lambda frame: frame.iloc[:0],
    "another block": setting("block", "010010201001001"),
    "a code instead of any": lambda frame: frame.assign(PET=frame["PET"].fillna(1)),
    "-1 instead of any": lambda frame: frame.assign(PET=frame["PET"].fillna(-1)),
}


@pytest.mark.parametrize("case", FALSE_CLAIMS)
def test_a_false_table_of_claims_is_refused(chain_study: Path, case: str) -> None:
    both(FALSE_CLAIMS[case])
    refused(r"results/paper/claims/000.parquet: ")


@pytest.mark.parametrize("case", FALSE_CLAIMS)
def test_the_table_of_all_claims_is_compared_too(chain_study: Path, case: str) -> None:
    forge_table(ALL, FALSE_CLAIMS[case])
    refused(r"results/paper/claims.parquet: ")


def test_the_code_minus_one_is_not_any_value(chain_study: Path) -> None:
    """COUNT(PET = -1) = 0 is true, and its proof right; that nobody lives here is neither."""

    def add(blocks: list[dict[str, Any]]) -> None:
        nothing = {"kind": "bound", "y": {}}
        blocks[0]["proofs"].append({"lower": nothing, "upper": nothing})
        blocks[0]["statements"].append(
            {"goal": "exactly", "where": {"PET": -1}, "m": 0, "proof": len(blocks[0]["proofs"]) - 1}
        )

    forge_proofs(PROOFS, add)
    last = pd.read_parquet(BATCH)["proof"].max() + 1
    nobody = dict.fromkeys(NAMES, pd.array([pd.NA], dtype="Int16"))
    both(lambda frame: pd.concat([frame, frame.iloc[[0]].assign(m=0, k=0, effective_k=0, proof=last, **nobody)]))
    with pytest.raises(GenverifyError, match=r"\('PET', -1\) is not a code: codes are 0 or more"):
        audited()


def verified(k: int, more: int) -> Change:
    return lambda frame: frame.assign(**{name: frame[name] + more for name in (f"verified_k{k}", f"candidates_k{k}")})


FALSE_BLOCKS: dict[str, tuple[str, Change]] = {
    "verified": (VERIFIED, verified(1, 1)),
    "refuted": (VERIFIED, lambda frame: frame.assign(refuted_k2=frame["refuted_k2"] + 1)),
    "candidates": (VERIFIED, lambda f: f.assign(refuted_k2=f["refuted_k2"] + 1, candidates_k2=f["candidates_k2"] + 1)),
    "a column less": (VERIFIED, lambda frame: frame.drop(columns="verified_k3")),
    "a block less": (VERIFIED, lambda frame: frame.iloc[1:]),
    "a block twice": (VERIFIED, lambda frame: pd.concat([frame, frame.iloc[[0]]])),
    "households": (GENERATED, setting("n_households", 4)),
    "datasets": (GENERATED, lambda frame: frame.assign(datasets=frame["datasets"] + 1)),
    "unique": (GENERATED, lambda f: f.assign(unique=~f["unique"], complete=True)),
    "two solutions": (GENERATED, lambda frame: frame.assign(two_solutions=~frame["two_solutions"])),
    "a dataset that does not fit": (DATASETS, setting("PET", 2)),
    "a dataset with a record less": (DATASETS, lambda frame: frame.iloc[1:]),
}


@pytest.mark.parametrize("case", FALSE_BLOCKS)
def test_a_false_row_about_a_block_is_refused(chain_study: Path, case: str) -> None:
    path, change = FALSE_BLOCKS[case]
    forge_table(path, change)
    sample = pd.read_parquet("results/sample.parquet")
    merged = pd.read_parquet(GENERATED).merge(pd.read_parquet(VERIFIED), on="block")
    forge_table(BLOCKS, lambda frame: sample.merge(merged, on="block").sort_values(["design", "block"]))
    refused(r"results/paper/(claims/000.blocks|generated/000(\.blocks)?).parquet: ")


@pytest.mark.parametrize("column", ["verified_k1", "unique", "n_households", "classes"])
def test_the_table_of_all_blocks_is_compared_too(chain_study: Path, column: str) -> None:
    forge_table(BLOCKS, lambda frame: frame.assign(**{column: frame[column] + 1 if column != "unique" else ~frame[column]}))
    refused(r"results/paper/blocks.parquet: its job collect, run again .* gives another file")


def renamed(part: str, old: str, new: str) -> Callable[[dict[str, Any]], None]:
    return lambda text: text[part].update({new: text[part].pop(old)})


def emptied(part: str) -> Callable[[dict[str, Any]], None]:
    return lambda text: text.update({part: {}})


def hand_made(text: dict[str, Any]) -> None:
    Path("figures/drawn.pdf").write_text("by hand")
    text["outputs"]["more"] = {"figures/drawn.pdf": "0" * 64}


FIGURE, COLLECTED, VERIFY = (
    f"{name}.record.json" for name in ("figures/fig3", "results/paper/claims", "results/paper/claims/000")
)
FALSE_RECORDS: dict[str, tuple[str, Callable[[dict[str, Any]], Any], str]] = {
    "renamed proofs": (VERIFY, renamed("outputs", "proofs", "proof"), "names outputs proof, which the rule does not have"),
    "no inputs": (FIGURE, emptied("inputs"), "does not name the inputs claims"),
    "no files": (FIGURE, lambda text: text["inputs"].update(claims={}), "results/paper/claims.parquet is not named"),
    "an output more": (FIGURE, hand_made, "names outputs more, which the rule does not have"),
    "another path": (
        FIGURE,
        lambda text: text["outputs"]["pdf"].update({"figures/x.pdf": "0" * 64}),
        "x.pdf is none of them",
    ),
    "a batch less": (COLLECTED, lambda text: text["inputs"].update(verified={}), "000.blocks.parquet is not named in it"),
    "another wildcard": (VERIFY, lambda text: text["wildcards"].update(batch="001"), "are not those of the rule"),
    "a wildcard that is no text": (VERIFY, lambda text: text["wildcards"].update(batch=2), "holds other values than texts"),
    "a commit that is no text": (FIGURE, lambda text: text["git"].update(commit=2), "'git' names no commit"),
    "a wildcard less": (VERIFY, lambda text: text["wildcards"].pop("batch"), "does not name the wildcard batch"),
    "a parameter more": (FIGURE, lambda text: text["params"].update(more=1), "names params more, which the rule does not"),
    "another rule": (FIGURE, lambda text: text.update(rule="plot_ablation"), "plot_ablation.py uses nothing|not those"),
    "other versions": (FIGURE, lambda text: text["versions"].update(numpy="1.0"), r"made with numpy 1\.0, but envs"),
}


@pytest.mark.parametrize("case", FALSE_RECORDS)
def test_a_record_has_the_names_and_paths_of_its_rule(chain_study: Path, case: str) -> None:
    path, change, said = FALSE_RECORDS[case]
    forge_record(path, change)
    refused(said)


def test_proofs_of_other_counts_are_refused(chain_study: Path) -> None:
    forge_proofs(PROOFS, lambda blocks: blocks[0]["about"].update(digest="0" * 64))
    with pytest.raises(Exception, match="the proofs are of other counts than these"):
        audited()
    forge_proofs(PROOFS, lambda blocks: [block.pop("about") for block in blocks])
    with pytest.raises(Exception, match="about: NoneType"):
        audited()


def test_proofs_of_an_audited_release_are_checked(chain_study: Path) -> None:
    """Its job writes the release that the proofs are about."""
    files = {name: {f"results/disclosure/r/{name}": "0" * 64} for name in ("schema", "counts", "proofs", "claims")}
    text = {"record": "r", "rule": "disclose_release", "params": {}, "inputs": {}, "outputs": files}
    found = jobs_with_proofs([Record("r", text)], find_records())["r"]
    assert found.kind == KINDS["records"]
    assert one_file(found.record, "proofs") == Path("results/disclosure/r/proofs")
    assert one_file(found.record, "counts") == Path("results/disclosure/r/counts")
    text["outputs"]["counts"]["results/disclosure/r/more"] = "0" * 64  # type: ignore[index]
    with pytest.raises(AuditError, match="names proofs, but not one file 'counts' that they are about"):
        check_records(Record("r", text), {})
    del text["outputs"]["counts"]  # type: ignore[attr-defined]
    with pytest.raises(AuditError, match="names proofs, but not the files that proofs of any kind are about"):
        jobs_with_proofs([Record("r", text)], find_records())


def checked(*words: str) -> int:
    return main(["check", "results/paper/proofs", "results/paper/release", *words])


def test_check_compares_with_the_claims_and_says_what_it_did_not_see(
    chain_study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked() == 0
    assert "results/paper/claims.parquet: the claims that are proven, and no other" in capsys.readouterr().out
    shutil.move(ALL, "elsewhere.parquet")
    assert checked() == 0
    assert "not compared with a table of claims" in capsys.readouterr().out
    forge_proofs(PROOFS, lambda blocks: blocks[0].update(statements=[]))
    assert checked("--claims", "elsewhere.parquet") == 2
    assert "is listed, but no proof shows it" in capsys.readouterr().err
    assert main(["check", PROOFS, "results/paper/release"]) == 0
    assert "not seen: other batches of results/paper/release than 000.jsonl.gz" in capsys.readouterr().out


def test_check_misses_a_batch(chain_study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy("results/paper/release/000.parquet", "results/paper/release/001.parquet")
    assert checked() == 2
    assert "no proofs of batch 001 (1 of 2 batches" in capsys.readouterr().err


def test_targets_come_before_the_settings(chain_study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--configfile", "config.yaml", "figures/fig3.pdf"]) == 2
    assert "not a file of settings. Name results first: genverify audit figures/fig3.pdf" in capsys.readouterr().err


def test_a_chain_is_published_and_compared(chain_study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "figures/fig3.pdf", "--write", "audit.json"]) == 0
    text = json.loads(Path("audit.json").read_text())
    assert text["proofs"]["claims"] > 0
    assert text["git"] == [{"commit": None, "dirty": None}]
    assert str(chain_study) not in json.dumps(text)
    assert main(["audit", "figures/fig3.pdf", "--without-proofs", "--against", "audit.json"]) == 0
    assert f"the same chain as audit.json: {text['chain']}" in capsys.readouterr().out
    Path("workflow/times.yaml").write_text("unrepeatable: {plot_fig3: drawn by hand}")
    rewrite("figures/fig3.pdf", b"drawn again")
    assert main(["audit", "figures/fig3.pdf", "--against", "audit.json"]) == 2
    said = capsys.readouterr()
    assert "differs: files figures/fig3.pdf: " in said.out
    assert "audit.json: 1 differences from this study" in said.err
    Path("audit.json").write_text(json.dumps({**text, "versions": []}))
    assert main(["audit", "figures/fig3.pdf", "--against", "audit.json"]) == 2
    assert "its content is not what its digest says" in capsys.readouterr().err


def test_versions_and_commits_are_part_of_the_digest(chain_study: Path) -> None:
    def digest() -> str:
        return next(line for line in audited() if line.startswith("chain "))

    first = digest()
    forge_record("figures/fig3.record.json", lambda text: text.update(git={"commit": "a" * 40, "dirty": True}))
    assert digest() != first
    assert any("git aaaaaaaaaa with uncommitted changes" in line for line in audited())
    forge_record("figures/fig3.record.json", lambda text: text["versions"].update(python="3.99.0"))
    assert digest() != first
    said = f"run again with Python {platform.python_version()}, though records name Python 3.99.0"
    assert said in audited()
    forge_record("figures/fig3.record.json", lambda text: text["versions"].update(python="001"))
    with pytest.raises(AuditError, match="which is not a version"):
        audited()
