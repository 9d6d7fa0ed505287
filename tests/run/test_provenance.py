"""The audit on a small chain made by real jobs: it passes as made, and names the file for every way of altering it."""

import gzip
import json
import os
import re
import shutil
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from genverify.model.errors import DataError
from genverify.run.code import forget_code
from genverify.run.config import parse_config, read_shipped
from genverify.run.provenance.audit import audit, read_config, repository
from genverify.run.provenance.records import AuditError, Record, Stages, check_files, check_settings, find_records


def audited(*asked: str, proofs: bool = True) -> list[str]:
    return list(audit(repository(), read_config([]), asked, proofs))


def flip(path: str) -> None:
    """Change one byte in the middle."""
    content = bytearray(Path(path).read_bytes())
    content[len(content) // 2] ^= 1
    Path(path).write_bytes(content)


def edit(path: str, **changes: Any) -> None:
    """Change a record by hand."""
    Path(path).write_text(json.dumps({**json.loads(Path(path).read_text()), **changes}))


def test_the_chain_is_told_and_accounted_for(chain_study: Path) -> None:
    lines = audited("figures/fig3.pdf")
    assert lines[0] == "figures/fig3.pdf"
    assert lines[1].startswith("  plot_fig3: 20")
    assert {line.split(":")[0].strip() for line in lines[2:] if ": 20" in line} == {
        "collect, variant paper", "verify 000, variant paper", "generate 000, variant paper", "publish, variant paper",
        "sample", "make_store",
    }  # fmt: skip
    text = "\n".join(lines)
    assert "verify: min_k=1" in text
    assert "seed: 1" in text
    assert f"raw data/raw.yaml, SHA-256 {sha256(b'a: 1' + bytes([10])).hexdigest()[:12]}" in text
    assert "all jobs: " in text
    assert "python 3." in text
    assert "git unknown" in text
    assert any(line.startswith("proofs: 2 blocks, ") and line.endswith(": all right") for line in lines)
    assert lines[-1].startswith("1 result, 26 files, all accounted for (")


def test_everything_is_audited_by_default_and_shared_parts_are_told_once(chain_study: Path) -> None:
    lines = audited(proofs=False)
    assert lines[-1].startswith("5 results, 40 files, all accounted for")
    assert sum(line.strip().startswith("make_store: ") for line in lines) == 1
    assert any("(above: make_store)" in line for line in lines)


def test_the_digest_of_the_chain_is_that_of_contents_and_settings(chain_study: Path) -> None:
    def digest() -> str:
        return next(line for line in audited("figures/fig3.pdf", proofs=False) if line.startswith("chain "))

    first = digest()
    edit("figures/fig3.record.json", seconds=99.0, started="2030-01-01T00:00:00Z")
    assert digest() == first
    Path("workflow/times.yaml").write_text("unrepeatable: {plot_fig3: drawn by hand}")
    assert digest() == first
    Path("figures/fig3.pdf").write_text("another")
    record = json.loads(Path("figures/fig3.record.json").read_text())
    record["outputs"]["pdf"]["figures/fig3.pdf"] = sha256(b"another").hexdigest()
    edit("figures/fig3.record.json", **record)
    assert digest() != first


@pytest.mark.parametrize("special", ["/dev/zero", "data/pipe"])
def test_a_record_that_names_a_device_or_a_pipe_is_refused(chain_study: Path, special: str) -> None:
    os.mkfifo("data/pipe")
    record = json.loads(Path("figures/fig3.record.json").read_text())
    edit("figures/fig3.record.json", inputs={**record["inputs"], "more": {special: "0" * 64}})
    with pytest.raises(AuditError, match=f"{special}: not a regular file"):
        audited("figures/fig3.pdf")


def test_records_that_are_pipes_or_name_files_elsewhere_are_refused(chain_study: Path) -> None:
    os.mkfifo("figures/more.record.json")
    with pytest.raises(AuditError, match="not a regular file"):
        audited("figures/fig3.pdf")
    os.unlink("figures/more.record.json")
    record = json.loads(Path("figures/fig3.record.json").read_text())
    edit("figures/fig3.record.json", outputs={**record["outputs"], "more": {"../elsewhere": "0" * 64}})
    with pytest.raises(AuditError, match="lies outside this folder"):
        audited("figures/fig3.pdf")


@pytest.mark.parametrize(
    ("path", "rerun"),
    [
        ("figures/fig3.pdf", "snakemake --force figures/fig3.pdf"),
        ("figures/fig3.png", "snakemake --force figures/fig3.png"),
        ("results/paper/claims.parquet", "snakemake --force results/paper/claims.parquet"),
        ("results/paper/proofs/000.jsonl.gz", "snakemake --force results/paper/proofs/000.jsonl.gz"),
        ("results/paper/release/000.parquet", "snakemake --force results/paper/release/000.parquet"),
        ("results/store/02.csv", "snakemake --force results/store"),
        ("data/raw.yaml", "Put the file back"),
        ("envs/requirements.lock", "snakemake --forceall"),
    ],
)
def test_a_changed_byte_is_named_with_what_to_rerun(chain_study: Path, path: str, rerun: str) -> None:
    flip(path)
    with pytest.raises(AuditError) as error:
        audited("figures/fig3.pdf")
    assert str(error.value).startswith(f"{path}: not as ")
    assert rerun in str(error.value)


@pytest.mark.parametrize(
    ("path", "text", "target"),
    [
        ("src/kit/shapes.py", "size = 2\n", "results/store"),
        ("src/kit/shapes.py", "", "results/store"),
        ("scripts/plot_fig3.py", "from kit.shapes import size\n\nmain = -size\n", "figures/fig3.pdf"),
    ],
)
def test_changed_code_is_named_with_what_to_rerun(chain_study: Path, path: str, text: str, target: str) -> None:
    Path(path).write_text(text)
    forget_code()
    with pytest.raises(AuditError) as error:
        audited("figures/fig3.pdf")
    assert re.match(rf"{path}: what scripts/\w+.py uses of it is not as \S+ says: {target} was made by", str(error.value))
    assert f"Run Snakemake again (snakemake {target})" in str(error.value)


def test_code_that_no_job_reaches_may_change(chain_study: Path) -> None:
    path = Path("src/kit/shapes.py")
    path.write_text(f"# a comment\n{path.read_text().replace('return 2', 'return 3')}")
    forget_code()
    audited("figures/fig3.pdf")


@pytest.mark.parametrize(
    "path", ["figures/fig3.png", "results/store/01.csv", "data/raw.yaml", "results/paper/proofs/000.jsonl.gz"]
)
def test_a_missing_file_is_named(chain_study: Path, path: str) -> None:
    Path(path).unlink()
    with pytest.raises(AuditError, match=f"{path}: missing, though "):
        audited("figures/fig3.pdf")


def test_a_new_file_in_a_recorded_folder_is_seen(chain_study: Path) -> None:
    Path("results/store/99.csv").write_text("smuggled in")
    with pytest.raises(AuditError, match=r"results/store: not as results/store.record.json says"):
        audited("figures/fig3.pdf")


def test_a_linked_folder_in_a_recorded_folder_is_refused(chain_study: Path) -> None:
    Path("results/store/more").symlink_to(chain_study / "data", target_is_directory=True)
    with pytest.raises(AuditError, match=r"results/store/more: a link to a folder"):
        audited("figures/fig3.pdf")


@pytest.mark.parametrize(
    ("record", "orphan"),
    [
        ("figures/fig3.record.json", "figures/fig3.pdf"),
        ("results/paper/claims.record.json", "results/paper/claims.parquet"),
        ("results/store.record.json", "results/store"),
    ],
)
def test_a_deleted_record_is_missed(chain_study: Path, record: str, orphan: str) -> None:
    Path(record).unlink()
    with pytest.raises(AuditError) as error:
        audited("figures/fig3.pdf")
    assert str(error.value) == f"{orphan}: no job record says how it was made. Make it again: snakemake --force {orphan}"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"rule": 3}', '{"a": 1, "a": 2}', "[" * 100_000])
def test_a_broken_record_is_named(chain_study: Path, text: str) -> None:
    Path("results/paper/claims.record.json").write_text(text)
    with pytest.raises(AuditError, match=r"results/paper/claims.record.json: not a job record"):
        audited("figures/fig3.pdf")


def test_a_record_of_an_earlier_version_and_a_missing_environment_are_said(chain_study: Path) -> None:
    record, lock = Path("figures/fig3.record.json"), Path("envs/requirements.lock")
    text = record.read_text()
    record.write_text(json.dumps({name: value for name, value in json.loads(text).items() if name != "lists"}))
    with pytest.raises(AuditError, match=r"not a job record \('lists' is missing .*\. Delete it, then run Snakemake again"):
        audited("figures/fig3.pdf")
    record.write_text(text)
    lock.unlink()
    with pytest.raises(AuditError, match=r"requirements\.lock: missing, so that the versions of no job can be checked"):
        audited("figures/fig3.pdf")


def test_a_changed_setting_is_named(chain_study: Path) -> None:
    text = yaml.safe_load(Path("config.yaml").read_text())
    text["verify"]["min_k"] = 7
    Path("config.yaml").write_text(yaml.safe_dump(text))
    with pytest.raises(AuditError) as error:
        audited("figures/fig3.pdf")
    assert str(error.value).startswith(
        "results/paper/claims/000.blocks.parquet: made with verify.min_k = 1, but config.yaml says 7."
    )
    change = {
        **read_shipped(Path()),
        "verify": {"min_k": 1},
        "variants": {**text["variants"], "no_ones": {"release": {"withhold": [1, 2]}}},
    }
    with pytest.raises(AuditError, match=r"no_ones.*made with release\.withhold = \[1\], but config.yaml says \[1, 2\]"):
        list(audit(repository(), parse_config(change), ["figures/ablation.pdf"], False))


STAGE = """
from studies.raprank.configuration import experiment_settings, figure_panels

KINDS, MORE = ["a"], []
MORE.append("b")
KINDS += MORE


def experiment_part(*names):
    def of_job(wildcards):
        settings = experiment_settings(STUDY, wildcards.experiment).model_dump()
        return {name: settings[name] for name in names}

    return of_job


def panels_of(wildcards):
    return figure_panels(STUDY, wildcards.figure)


def files_of(wildcards):
    return [f"results/{wildcards.experiment}.{kind}" for kind in KINDS]


rule rank:
    input:
        files=files_of,
        plan=KINDS if STUDY.seed < 0 else [],
    output:
        rows="results/{experiment}/{figure}.rows",
    params:
        code=code_of("rank"),
        experiment=experiment_part(
            "runs",
            "limit",
        ),
        panels=panels_of,
        study=STUDY.model_dump(),
    script:
        "../scripts/rank.py"
"""


def test_settings_and_files_that_functions_of_stage_files_give_are_compared(config: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "all.smk").write_text(STAGE)
    stages = Stages([tmp_path / "all.smk"], parse_config(config))
    experiment, figure = (next(iter(config["raprank"][part])) for part in ("experiments", "figures"))
    wildcards = {"experiment": experiment, "figure": figure}
    now = {name: stages.value(value, wildcards) for name, value in stages.named("rank", "params").items()}
    assert set(now["experiment"]) == {"runs", "limit"}
    now = json.loads(json.dumps(now))
    files = {f"results/{experiment}.{kind}": "0" * 64 for kind in "ab"}
    told: dict[str, Any] = {
        "record": "r", "rule": "rank", "wildcards": wildcards, "params": now, "inputs": {"files": files, "plan": {}},
        "outputs": {"rows": {f"results/{experiment}/{figure}.rows": "0" * 64}},
        "lists": {"inputs": {"files": list(files), "plan": []}, "outputs": {}},
    }  # fmt: skip
    check_settings(Record("r", told), stages)
    check_files(Record("r", told), stages)
    wrong = {"ba": "not in the order of the rule rank", "a": "b is not named in it", "abc": "c is none of them"}
    for odd, said in wrong.items():
        paths = [f"results/{experiment}.{kind}" for kind in odd]
        inputs = {"files": dict.fromkeys(paths, "0" * 64), "plan": {}}
        other = {**told, "inputs": inputs, "lists": {"inputs": {"files": paths, "plan": []}, "outputs": {}}}
        with pytest.raises(AuditError, match=said):
            check_files(Record("r", other), stages)
    config["raprank"]["experiments"][experiment]["runs"] = now["experiment"]["runs"] + 1
    with pytest.raises(AuditError, match=r"made with experiment\.runs = \d+, but config\.yaml says \d+"):
        check_settings(Record("r", told), Stages([tmp_path / "all.smk"], parse_config(config)))
    told["wildcards"] = wildcards | {"experiment": "gone"}
    with pytest.raises(AuditError, match=r"settings cannot be checked .*no experiment 'gone'"):
        check_settings(Record("r", told), stages)


def test_every_rule_of_the_study_has_values_to_compare(root: Path, config: dict[str, Any]) -> None:
    """Also of rules whose results were never made; of files of a user, those that are not named are said."""
    study = parse_config(config)
    named = {
        "variant": study.variants, "experiment": study.raprank.experiments, "figure": study.raprank.figures,
        "condition": study.housing.conditions, "protection": study.protected.protections, "release": study.releases,
        "task": ["income"], "start": ["random"], "source": ["synthetic_persons"], "reading": ["one"], "batch": ["000"],
        "page": ["table2"], "design": study.sample.designs,
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        stages = Stages(repository().stages, study)
    unknown: dict[str, str] = {}
    for rule, part in product(stages.rules, ("input", "output", "params")):
        wildcards = {name: next(iter(named.get(name, "1"))) for name in stages.wildcards(rule) if name}
        for name, expression in stages.named(rule, part).items():
            try:
                asked = stages.value if part == "params" else stages.paths
                assert json.dumps(asked(expression, wildcards)), name
            except DataError as error:
                unknown[rule] = str(error)
    assert all("is not set" in said for said in unknown.values()), unknown
    assert unknown.keys() >= {"bound_areas", "ingest_records"}


def test_a_variant_or_rule_that_is_gone_is_said(chain_study: Path) -> None:
    text = read_shipped(Path())
    del text["variants"]["no_ones"]
    with pytest.raises(AuditError, match=r"its settings cannot be checked .*no variant 'no_ones'"):
        list(audit(repository(), parse_config(text), ["figures/ablation.pdf"], False))
    Path("workflow/all.smk").write_text(Path("workflow/all.smk").read_text().replace("rule plot_fig3:", "rule draw:"))
    with pytest.raises(AuditError, match=r"figures/fig3.pdf: made by the rule plot_fig3, which no stage file has"):
        audited("figures/fig3.pdf")


def test_a_figure_of_another_variant_is_seen(chain_study: Path) -> None:
    shutil.copy("figures/ablation.pdf", "figures/fig3.pdf")
    with pytest.raises(AuditError, match=r"figures/fig3.pdf: not as figures/fig3.record.json says"):
        audited("figures/fig3.pdf")
    shutil.copy("figures/ablation.record.json", "figures/fig3.record.json")
    with pytest.raises(AuditError, match=r"fig3.pdf: no job record .*but it is the record figures/ablation.record.json"):
        audited("figures/fig3.pdf")


def test_results_of_another_variant_are_seen(chain_study: Path) -> None:
    for name in ("claims.parquet", "claims.record.json"):
        shutil.copy(f"results/no_ones/{name}", f"results/paper/{name}")
    with pytest.raises(AuditError, match=r"results/paper/claims.parquet: no job record"):
        audited("figures/fig3.pdf")


def test_a_record_renamed_in_every_place_still_meets_the_other_records(chain_study: Path) -> None:
    """The forger moves the record of another variant and renames what it says; what it read is not what upstream wrote."""
    text = Path("figures/ablation.record.json").read_text().replace("ablation", "fig3").replace("no_ones", "paper")
    digest = json.loads(text)["inputs"]["claims"]["results/paper/claims.parquet"]
    Path("figures/fig3.record.json").write_text(text.replace(digest, "0" * 64))
    for kind in ("pdf", "png"):
        shutil.copy(f"figures/ablation.{kind}", f"figures/fig3.{kind}")
    with pytest.raises(AuditError, match=r"figures/fig3.pdf: made from another results/paper/claims.parquet than"):
        audited("figures/fig3.pdf")


def test_two_records_of_one_file_and_circles_are_refused(chain_study: Path) -> None:
    text = json.loads(Path("figures/fig3.record.json").read_text())
    Path("figures/more.record.json").write_text(json.dumps({**text, "record": "figures/more.record.json"}))
    with pytest.raises(AuditError, match=r"figures/fig3.pdf: both .* say that they wrote it"):
        audited("figures/fig3.pdf")
    Path("figures/more.record.json").unlink()
    edit("results/store.record.json", inputs={"claims": text["inputs"]["claims"]})
    with pytest.raises(AuditError, match=r"follow from each other"):
        audited("figures/fig3.pdf")


def test_a_file_from_elsewhere_is_known_by_its_content(chain_study: Path, tmp_path: Path) -> None:
    shutil.copy("figures/fig3.pdf", tmp_path / "downloaded.pdf")
    assert audited(str(tmp_path / "downloaded.pdf"), proofs=False)[1].startswith("  plot_fig3: ")
    flip(str(tmp_path / "downloaded.pdf"))
    with pytest.raises(AuditError, match=r"downloaded.pdf: it lies outside results and figures, and no job"):
        audited(str(tmp_path / "downloaded.pdf"))
    with pytest.raises(AuditError, match=r"figures/fig9.pdf: there is no such file. Make it: snakemake figures/fig9.pdf"):
        audited("figures/fig9.pdf")
    Path("figures/stray.pdf").write_text("drawn by hand")
    with pytest.raises(AuditError, match=r"figures/stray.pdf: no job record says how it was made"):
        audited()


def test_code_that_changed_while_the_job_waited_is_seen(chain_study: Path) -> None:
    """What Snakemake planned to run and what the job digested when it began are two fields of the record."""
    record = json.loads(Path("figures/fig3.record.json").read_text())
    edit("figures/fig3.record.json", params={**record["params"], "code": "0" * 16})
    with pytest.raises(AuditError, match=r"scripts/plot_fig3.py: not the code that figures/fig3.record.json says it ran"):
        audited("figures/fig3.pdf")


def rewrite(path: str, content: bytes) -> None:
    """Change a file and its digest in every record: what a careful forger does."""
    old = sha256(Path(path).read_bytes()).hexdigest()
    Path(path).write_bytes(content)
    for one in find_records(("results", "figures")).writers.values():
        text = Path(one[0].path).read_text()
        Path(one[0].path).write_text(text.replace(old, sha256(content).hexdigest()))


def test_a_forged_proof_with_right_digests_is_refused_by_the_checker(chain_study: Path) -> None:
    path = "results/paper/proofs/000.jsonl.gz"
    forged = gzip.decompress(Path(path).read_bytes()).replace(b'"m":1', b'"m":2', 1)
    rewrite(path, gzip.compress(forged, mtime=0))
    with pytest.raises(Exception, match=r"proof shows only COUNT|leaves out a live record"):
        audited("figures/fig3.pdf")


def test_a_claim_without_proof_with_right_digests_is_refused(chain_study: Path, tmp_path: Path) -> None:
    path = "results/paper/claims/000.parquet"
    frame = pd.read_parquet(path)
    frame.loc[0, "m"] = frame.loc[0, "m"] + 1
    frame.to_parquet(tmp_path / "forged.parquet", index=False)
    rewrite(path, (tmp_path / "forged.parquet").read_bytes())
    with pytest.raises(AuditError, match=r"claims/000.parquet: block \d+: a claim with k = \d and m = \d is listed, but"):
        audited("figures/fig3.pdf")
