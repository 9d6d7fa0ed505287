"""Proofs in words, files of proofs, and the command line."""

import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from genverify.attack.explain import explain_claim, find_release
from genverify.checker.certificate import read_proofs, write_proofs
from genverify.cli import main
from genverify.model.errors import DataError
from genverify.model.release import Schema, read_schema

FIRST, SECOND = "010010201001000", "010010201001001"


@pytest.fixture
def study(made_study: Path, tmp_path: Path) -> Path:
    """A copy of the toy study that a test may damage."""
    return Path(shutil.copytree(made_study, tmp_path / "study"))


def check(study: Path) -> int:
    return main(["check", str(study / "proofs"), str(study / "release")])


def change_proofs(study: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    path = study / "proofs" / "000.jsonl.gz"
    proofs = list(read_proofs(path))
    change(proofs)
    write_proofs(proofs, path)


def test_a_proof_names_cells_labels_and_counts(made_study: Path) -> None:
    """The fish owner is the one in a flat, and the one in a flat is middle-aged."""
    lines = list(explain_claim(made_study, FIRST, "PET=3,HOME=2,AGE=2,m=1"))
    assert lines == [
        f"Block {FIRST}, 3 records. Claim: exactly 1 with",
        "  pet: fish (PET = 3)",
        "  home: flat (HOME = 2)",
        "  age of the owner: middle-aged (AGE = 2)",
        "Verified: true of every dataset that fits the published counts (proof checked).",
        "At least 1:",
        "  add up:",
        "    +1 x T1.fish = 1 (owner of a fish)",
        "  no record counts more in this sum than it matches the claim",
        "  because no other record is possible:",
        "    T1A.fish = 0 (owner of a fish, in a house)",
        "    T2.flat.aged = 0 (in a flat, old or very old)",
        "    T2.flat.young = 0 (in a flat, young)",
        "At most 1:",
        "  add up:",
        "    +1 x T1.fish = 1 (owner of a fish)",
        "  every record that matches counts at least once in this sum, and no record counts below 0",
    ]


def side_holds(schema: Schema, lines: list[str], claim: dict[str, int], m: int, lower: bool) -> bool:
    """Whether the words of one side prove it, read as a person would: over every record that the named cells allow."""
    predicates = {query.id: query.predicate for query in schema.queries}

    def inside(name: str, record: dict[str, int]) -> bool:
        return name == "N" or all(record[column] in codes for column, codes in predicates[name].clauses)

    text = "\n".join(lines)
    added = [(int(y), cell, int(count)) for y, cell, count in re.findall(r"([+-]\d+) x (\S+) = (\d+) ", text)]
    zeros = re.findall(r"^ +(\S+) = 0 ", text, re.MULTILINE)
    totals = [
        (re.findall(r"(\S+) \(\d+\)", parts), whole)
        for parts, whole in re.findall(r"^ +(.*) = (\S+) \(\d+\): nobody", text, re.M)
    ]
    if sum(y * count for y, _, count in added) != m:
        return False
    for codes in product(*(column.codes for column in schema.domain.columns)):
        record = dict(zip(schema.domain.names, codes, strict=True))
        possible = not any(inside(cell, record) for cell in zeros)
        possible &= all(any(inside(cell, record) for cell in parts) for parts, whole in totals if inside(whole, record))
        value, matches = (
            sum(y for y, cell, _ in added if inside(cell, record)),
            all(record[c] == v for c, v in claim.items()),
        )
        if possible and not (value <= matches if lower else value >= matches):
            return False
    return True


@pytest.mark.parametrize("block", [FIRST, SECOND])
def test_the_words_of_every_proof_are_enough_to_follow_it(made_study: Path, block: str) -> None:
    schema = read_schema(made_study / "release" / "schema.json")
    stored = next(found for found in read_proofs(made_study / "proofs" / "000.jsonl.gz") if found["about"]["name"] == block)
    assert len(stored["statements"]) == {FIRST: 14, SECOND: 7}[block]
    for claim in stored["statements"]:
        text = ",".join(f"{name}={code}" for name, code in claim["where"].items()) + f",m={claim['m']}"
        lines = list(explain_claim(made_study, block, text))
        lower, upper = lines.index(f"At least {claim['m']}:"), lines.index(f"At most {claim['m']}:")
        assert side_holds(schema, lines[lower:upper], claim["where"], claim["m"], lower=True), text
        assert side_holds(schema, lines[upper:], claim["where"], claim["m"], lower=False), text


@pytest.mark.parametrize(
    ("claim", "last"),
    [
        (
            "PET=1,AGE=1",
            "Not verified: over all datasets that fit, the count ranges from 0 to 1 (both bounds checked).",
        ),
        ("AGE=3", "Not verified: over all datasets that fit, the count ranges from 0 to 1 (both bounds checked)."),
        (
            "PET=1,m=2",
            "Not verified: over all datasets that fit, the count ranges from 1 to 1 (both bounds checked).",
        ),
        (
            "PET=7,m=0",
            "Not among the stored claims (the study keeps those with k >= verify.min_k), but verified now, proof checked: "
            "true of every dataset that fits the published counts.",
        ),
        (
            "PET=7,m=1",
            "Not verified: over all datasets that fit, the count ranges from 0 to 0 (both bounds checked).",
        ),
    ],
)
def test_a_claim_that_is_not_stored_has_a_range(made_study: Path, claim: str, last: str) -> None:
    assert list(explain_claim(made_study, FIRST, claim))[-1] == last


def test_a_value_outside_the_domain_is_said(made_study: Path) -> None:
    assert "  pet: no such code: no record can hold it (PET = 7)" in explain_claim(made_study, FIRST, "PET=7,m=0")


def test_the_release_of_a_block_is_found_with_its_batch(made_study: Path, toy_schema: Schema) -> None:
    release, batch = find_release(made_study, toy_schema, SECOND)
    assert (release.block, release.n, batch) == (SECOND, 4, "000")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            [FIRST, "PET=x"],
            "DataError: column PET has no value 'x': known: cat, dog, fish\n",
        ),
        ([FIRST, "PETT=1"], "DataError: the domain has no column 'PETT': did you mean PET? (known: PET, HOME, AGE)\n"),
        (["99", "PET=1"], "release: no block 99; results/sample/blocks.parquet lists the sampled blocks\n"),
    ],
)
def test_a_wrong_question_ends_in_one_message(
    made_study: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["explain", *words, "--study", str(made_study)]) == 2
    error = capsys.readouterr().err
    assert error.endswith(message)
    assert error.count("\n") == 1


def test_the_commands_as_a_user_types_them(made_study: Path) -> None:
    python = [sys.executable, "-m", "genverify"]
    explain = [*python, "explain", FIRST, "PET=3,HOME=2", "--study", str(made_study)]
    done = subprocess.run(explain, capture_output=True, text=True, check=True)
    assert "+1 x T1.fish = 1 (owner of a fish)" in done.stdout
    checked = subprocess.run(
        [*python, "check", made_study / "proofs", made_study / "release"], capture_output=True, text=True
    )
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.startswith("2 blocks, 21 claims, 6 proofs: all right\n")
    missing = subprocess.run([*python, "explain", FIRST, "PET=1", "--study", "nowhere"], capture_output=True, text=True)
    assert missing.returncode == 2
    assert missing.stderr.startswith("DataError: nowhere: there is no such file or folder")
    assert "Traceback" not in missing.stderr


def test_one_file_of_proofs_can_be_checked(made_study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(made_study / "proofs" / "000.jsonl.gz"), str(made_study / "release")]) == 0
    assert "2 blocks, 21 claims" in capsys.readouterr().out


def halve(proofs: list[dict[str, Any]]) -> None:
    proofs[1]["proofs"][0]["upper"]["d"] = 2


TAMPERED: dict[str, Callable[[list[dict[str, Any]]], object]] = {
    "another m": lambda proofs: proofs[1]["statements"][0].update(m=3),
    "another code": lambda proofs: proofs[1]["statements"][0].update(where={"PET": 2}),
    "another cell": lambda proofs: proofs[1]["proofs"][0].update(lower={"kind": "bound", "y": {"T1.dog": -1}}),
    "another multiplier": lambda proofs: proofs[1]["proofs"][0].update(lower={"kind": "bound", "y": {"N": -2}}),
    "another denominator": halve,
    "a lemma that is none": lambda proofs: proofs[1]["lemmas"].append({"universe": "N", "cells": ["T1.dog"]}),
    "no such proof": lambda proofs: proofs[1]["statements"][0].update(proof=9),
    "no such cell": lambda proofs: proofs[1]["proofs"][0].update(lower={"kind": "bound", "y": {"T9.cat": -1}}),
    "no goal": lambda proofs: proofs[1]["statements"][0].pop("goal"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_proof_is_refused_and_its_block_named(study: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    change_proofs(study, TAMPERED[name])
    assert check(study) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("CertificateError: ")
    assert SECOND in said.err
    assert said.err.count("\n") == 1


def test_a_changed_release_refutes_its_proofs(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = study / "release" / "000.parquet"
    rows = pd.read_parquet(path)
    rows.loc[(rows["block"] == FIRST) & (rows["query"] == "T1.fish"), "count"] = 2
    rows.to_parquet(path, index=False)
    assert check(study) == 2
    assert FIRST in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda proofs: proofs.pop(), f"block {SECOND} of "),
        (lambda proofs: proofs.append(proofs[0]), f"block {FIRST} is not in "),
        (lambda proofs: proofs[0]["about"].update(name="99"), "block 99 is not in "),
    ],
)
def test_every_block_has_its_proofs_once(
    study: Path, capsys: pytest.CaptureFixture[str], change: Callable[[list[dict[str, Any]]], object], message: str
) -> None:
    change_proofs(study, change)
    assert check(study) == 2
    assert message in capsys.readouterr().err


def test_damaged_files_of_proofs_are_named(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = study / "proofs" / "000.jsonl.gz"
    whole = path.read_bytes()
    for content, message in [
        (whole[:-20], "000.jsonl.gz: not a file of proofs, or cut short"),
        (b"plain text\n", "000.jsonl.gz: not a file of proofs, or cut short"),
        (gzip.compress(b"{\n"), "000.jsonl.gz, line 1: not valid JSON"),
        (gzip.compress(b"[1]\n"), "000.jsonl.gz, line 1: holds no object"),
    ]:
        path.write_bytes(content)
        assert check(study) == 2
        assert message in capsys.readouterr().err
    path.unlink()
    assert check(study) == 2
    assert "proofs: no files of proofs (*.jsonl.gz)" in capsys.readouterr().err


def test_the_same_proofs_give_the_same_bytes(made_study: Path, tmp_path: Path) -> None:
    proofs = list(read_proofs(made_study / "proofs" / "000.jsonl.gz"))
    write_proofs(proofs, tmp_path / "again.jsonl.gz")
    assert (tmp_path / "again.jsonl.gz").read_bytes() == (made_study / "proofs" / "000.jsonl.gz").read_bytes()
    lines = gzip.decompress((tmp_path / "again.jsonl.gz").read_bytes()).splitlines()
    assert [json.loads(line)["about"]["name"] for line in lines] == [FIRST, SECOND]
    with pytest.raises(DataError, match="none"):
        list(read_proofs(tmp_path / "none.jsonl.gz"))


@pytest.mark.parametrize("claim", ["PET=-1", "PET=1,PET=2", "PET=1,m=-4", "m=3"])
def test_a_claim_that_cannot_be_meant_is_refused(made_study: Path, claim: str) -> None:
    assert main(["explain", FIRST, claim, "--study", str(made_study)]) == 2
