"""Nothing is repeated as verified unless its proof was checked: stored proofs, searches on demand, audits of releases."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from genverify.attack.explain import explain_claim
from genverify.attack.generate import generate
from genverify.attack.verify import Decision, Range, Verdict, Verifier, attack_release, claims_frame, verify_block
from genverify.checker.certificate import CertificateError, read_proofs, write_proofs
from genverify.checker.record_proofs import check_block
from genverify.checker.stored import checked_blocks, require_proved
from genverify.cli import main
from genverify.disclosure.record_audit import Attack, open_singles, search_cells
from genverify.disclosure.record_audit import attack_records as audit
from genverify.disclosure.release_data import ReleaseDescription, describe
from genverify.disclosure.whatif import what_if
from genverify.model.claims import Claim
from genverify.model.errors import ConfigError, DataError, NoDatasetError
from genverify.model.release import Release, Schema, make_release, read_releases, read_schema
from genverify.solve.bounds import certificate_of
from genverify.solve.program import WrongAnswer
from genverify.solve.program_settings import DEFAULT
from genverify.solve.solvers.base import Answer, IntegerProgram, Optimal
from genverify.solve.solvers.highs import Highs
from studies.gtv.known_persons import prove

FIRST, SECOND = "010010201001000", "010010201001001"
SETTINGS = DEFAULT.but(max_types=100_000, iterations=100_000, seconds=60.0)
ATTACK = Attack(SETTINGS, 20, 1, 1)
NOTHING = {"kind": "bound", "y": {}}  # shows COUNT >= 0, and COUNT <= 0 where no record matches
PEOPLE = "sex,age,home\nf,71,rents\nf,30,owns\nm,33,owns\nm,75,owns\nf,20,rents\n"
YAML = """
name: tiny
data: people.csv
published_as: {suppress: 2}
columns:
  age: {bins: [65]}
tables:
  sex_age: {columns: [sex, age]}
  age_home: {columns: [age, home]}
protect: [{round: 3}]
"""


@pytest.fixture
def study(made_study: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made_study, tmp_path / "study"))


@pytest.fixture
def tiny(tmp_path: Path) -> ReleaseDescription:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "release.yaml").write_text(YAML)
    return describe(tmp_path / "release.yaml")


@pytest.fixture
def toy_release(made_study: Path) -> Release:
    schema = read_schema(made_study / "release" / "schema.json")
    return next(iter(read_releases(made_study / "release" / "000.parquet", schema)))


def change_proofs(study: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    path = study / "proofs" / "000.jsonl.gz"
    proofs = list(read_proofs(path))
    change(proofs)
    write_proofs(proofs, path)


def call_all_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that calls every candidate verified, with a proof that shows nothing."""

    def decide(_: Verifier, claims: Sequence[Claim]) -> list[Decision]:
        return [Decision(claim, Verdict.VERIFIED, NOTHING, NOTHING) for claim in claims]

    monkeypatch.setattr(Verifier, "decide", decide)


# explain


@pytest.mark.parametrize(
    "change",
    [
        lambda proofs: proofs[0]["statements"].append({"goal": "exactly", "where": {"PET": 1}, "m": 3, "proof": 0}),
        lambda proofs: proofs[0]["proofs"][0].update(lower={"kind": "bound", "y": {}}),
        lambda proofs: proofs[0]["lemmas"].append({"universe": "N", "cells": ["T1.fish"]}),
    ],
)
def test_explain_says_nothing_from_a_stored_proof_that_fails(
    study: Path, capsys: pytest.CaptureFixture[str], change: Callable[[list[dict[str, Any]]], object]
) -> None:
    change_proofs(study, change)
    assert main(["explain", FIRST, "PET=1,m=3", "--study", str(study)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert f"CertificateError: {study / 'proofs' / '000.jsonl.gz'}: a stored proof fails: block {FIRST}" in said.err
    assert "let Snakemake verify the batch again" in said.err


def test_explain_needs_the_proofs_of_the_block(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change_proofs(study, lambda proofs: proofs.pop(0))
    assert main(["explain", FIRST, "PET=1,m=1", "--study", str(study)]) == 2
    assert f"block {FIRST} of " in capsys.readouterr().err


@pytest.mark.parametrize("claim", ["AGE=3,m=1", "AGE=3,m=0"])
def test_explain_checks_what_it_finds_itself(made_study: Path, monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    """One record or none is old. A search that says exactly one, whatever is asked, cannot prove it."""
    monkeypatch.setattr(Verifier, "range", lambda *_: Range(1, 1, NOTHING, NOTHING, None))
    with pytest.raises(CertificateError, match=r"lower proof|upper proof"):
        list(explain_claim(made_study, FIRST, claim))


def test_explain_says_where_a_limit_left_nothing(made_study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Verifier, "range", lambda *_: Range(4, -4, None, None, "node limit"))
    last = list(explain_claim(made_study, FIRST, "AGE=3"))[-1]
    assert last == "Not among the stored claims, and not decided: its count was not bounded (node limit)."


def test_explain_proves_that_no_dataset_fits(study: Path) -> None:
    """Two fishes in a block of three with a cat and a dog; its proofs say nothing."""
    path = study / "release" / "000.parquet"
    rows = pd.read_parquet(path)
    rows.loc[(rows["block"] == FIRST) & (rows["query"] == "T1.fish"), "count"] = 2
    rows.to_parquet(path, index=False)
    schema = read_schema(study / "release" / "schema.json")
    digest = next(release.digest for release in read_releases(path, schema) if release.block == FIRST)
    change_proofs(
        study,
        lambda proofs: proofs[0].update(about={**proofs[0]["about"], "digest": digest}, lemmas=[], proofs=[], statements=[]),
    )
    with pytest.raises(NoDatasetError, match="no dataset fits the published counts") as caught:
        list(explain_claim(study, FIRST, "PET=1"))
    assert caught.value.certificate is not None


# claims that are repeated


def rows_of(study: Path, block: str) -> pd.DataFrame:
    """The stored claims of a block as rows of claims.parquet."""
    found = next(found for found in read_proofs(study / "proofs" / "000.jsonl.gz") if found["about"]["name"] == block)
    rows = [{"block": block, "m": said["m"], "proof": said["proof"], **said["where"]} for said in found["statements"]]
    return pd.DataFrame(rows).astype(dict.fromkeys(("PET", "HOME", "AGE"), "Int16"))


def require(study: Path, claims: pd.DataFrame, schema: Schema) -> None:
    batch = study / "release" / "000.parquet", study / "proofs" / "000.jsonl.gz"
    require_proved(claims, Path("claims.parquet"), [batch], schema)


def test_only_claims_with_a_checked_proof_are_repeated(made_study: Path, toy_schema: Schema) -> None:
    claims = pd.concat([rows_of(made_study, FIRST), rows_of(made_study, SECOND)])
    require(made_study, claims, toy_schema)
    require(made_study, claims.drop(columns="proof"), toy_schema)
    for column, wrong in (("m", 2), ("PET", 2), ("proof", 99)):
        changed = claims.reset_index(drop=True)
        changed.loc[0, column] = wrong
        with pytest.raises(DataError, match=rf"claims\.parquet: block {FIRST}: the claim .* is not among the claims"):
            require(made_study, changed, toy_schema)
    with pytest.raises(DataError, match="block 99 is in no file of counts"):
        require(made_study, claims.assign(block="99"), toy_schema)


def test_every_block_of_a_batch_is_checked(study: Path, toy_schema: Schema) -> None:
    batch = study / "release" / "000.parquet", study / "proofs" / "000.jsonl.gz"
    assert [block.release.block for block in checked_blocks(*batch, toy_schema)] == [FIRST, SECOND]
    change_proofs(study, lambda proofs: proofs[1]["statements"][0].update(m=3))
    assert [block.release.block for block in checked_blocks(*batch, toy_schema, {FIRST})] == [FIRST]
    with pytest.raises(CertificateError, match=f"a stored proof fails: block {SECOND}"):
        list(checked_blocks(*batch, toy_schema))
    change_proofs(study, lambda proofs: proofs.append(proofs[0]))
    with pytest.raises(DataError, match=f"block {FIRST} is not in .* or is duplicated"):
        list(checked_blocks(*batch, toy_schema, {FIRST}))


# one attack, always checked


def test_an_attack_hands_out_only_what_was_checked(toy_release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    found = attack_release(toy_release, SETTINGS, 10, 1, 1)
    assert check_block(toy_release, found.certificate).claims == len(found.claims) == 14
    call_all_verified(monkeypatch)
    datasets = generate(SETTINGS.bounder(toy_release), 1, 1).records
    with pytest.raises(CertificateError):
        verify_block(toy_release, datasets, SETTINGS, 1)
    with pytest.raises(CertificateError):
        attack_release(toy_release, SETTINGS, 1, 1, 1)
    with pytest.raises(CertificateError):
        prove(toy_release, SETTINGS, 1, 1, 1)


def test_a_program_without_proofs_is_refused_where_claims_need_them(toy_release: Release) -> None:
    onehot = SETTINGS.but(formulation="onehot")
    with pytest.raises(ConfigError, match=r"the one-hot program gives none. Set program\.formulation: compact"):
        attack_release(toy_release, onehot, 10, 1, 1)


def test_claims_of_the_one_hot_program_are_listed_without_a_proof(toy_release: Release) -> None:
    onehot = SETTINGS.but(formulation="onehot")
    datasets = generate(SETTINGS.bounder(toy_release), 10, 1).records
    frame = claims_frame(verify_block(toy_release, datasets, onehot, 3))
    assert len(frame) == 1
    assert frame["proof"].isna().all()


def test_what_if_counts_only_checked_claims(tiny: ReleaseDescription, monkeypatch: pytest.MonkeyPatch) -> None:
    no_records = replace(tiny, records=None)  # with records, false claims would be counted and found anyway
    assert len(what_if(no_records, ATTACK, 2)) == 2
    call_all_verified(monkeypatch)
    with pytest.raises(CertificateError):
        what_if(no_records, replace(ATTACK, datasets=1), 2)


# the search for cells to withhold


def test_the_search_counts_only_checked_claims(tiny: ReleaseDescription, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [ATTACK(release) for release in tiny.exact]
    assert search_cells(found, ATTACK, 2, 20).before > 0
    call_all_verified(monkeypatch)
    with pytest.raises(CertificateError):
        search_cells(found, ATTACK, 2, 20)


def test_the_cells_of_the_solver_are_recounted(tiny: ReleaseDescription, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that takes no cell and calls that optimal is not believed."""
    found = [ATTACK(release) for release in tiny.exact]

    def take_none(_: Highs, program: IntegerProgram) -> Answer:
        return Optimal(0.0, np.zeros(program.A.shape[1]))

    monkeypatch.setattr(Highs, "solve", take_none)
    with pytest.raises(WrongAnswer, match="miss a proof when recounted"):
        search_cells(found, ATTACK, 2, 20)


def test_the_report_says_what_is_proved_and_what_the_solver_said(tiny: ReleaseDescription) -> None:
    found = audit(tiny, ATTACK).suppress()
    text = found.report()
    assert "That no fewer cells cover them is the solver's answer to a covering program" in text
    assert "the attack was run again and its proofs were checked." in text
    assert (
        f"a proof in whole numbers that was checked ({len(found.statements)} statements, stored in cells.proofs.gz)" in text
    )
    assert found.suppression
    limited = replace(found, suppression=replace(found.suppression, undecided=3)).report()
    assert "3 more could not be decided within the limits" in limited


def test_claims_that_ran_into_a_limit_are_counted(tiny: ReleaseDescription) -> None:
    found = ATTACK(tiny.exact[0])
    stopped = replace(found, decisions=tuple(Decision(c, Verdict.UNDECIDED) for c in found.candidates))
    assert set(open_singles(stopped, 2)) == {claim for claim in found.candidates if claim.m == 1 and claim.k >= 2}
    assert open_singles(found, 2) == []


# ranges


def test_ranges_of_an_audit_are_checked(tiny: ReleaseDescription, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of 1 are stars: a search that calls each of them 1, without a proof worth the name, is refused."""
    assert audit(tiny, ATTACK).cells["ends_attained"].all()
    monkeypatch.setattr(Verifier, "range_of", lambda *_: Range(1, 1, NOTHING, NOTHING, None))
    with pytest.raises(CertificateError, match="lower proof shows only COUNT >= 0"):
        audit(tiny, ATTACK)


def test_one_bound_by_itself(toy_schema: Schema) -> None:
    """One fish, so at most one fish in a flat, and none at least; nobody in a house has one, so one at least."""
    release = make_release(toy_schema, "b", {"N": 3, "T1.fish": 1, "T1A.fish": 0})
    flat: dict[str, Any] = {"PET": [3], "HOME": [2]}
    up, down = {"kind": "bound", "y": {"T1.fish": 1}}, {"kind": "bound", "y": {"T1.fish": -1}}

    def check(lemmas: list[Any], *bounds: tuple[str, dict[str, Any], int, Any]) -> None:
        said = [{"goal": goal, "where": where, "m": m, "proof": proof} for goal, where, m, proof in bounds]
        check_block(release, certificate_of(release, (), *said) | {"lemmas": lemmas})

    check([], ("at most", flat, 1, up), ("at least", flat, 1, down))
    for bound, message in (
        (("at most", flat, 0, up), "the upper proof shows only COUNT <= 1"),
        (("at least", flat, 2, down), "the lower proof shows only COUNT >= 1"),
        (("at most", flat, 1, down), "a live record has the value -1, below 0"),
        (("at most", {"PET": [2, 3]}, 1, up), "leaves out a live record that matches"),
        (("at least", {"PET": [3], "AGE": [1]}, 1, down), "a live record that does not match"),
        (("at most", {"PET": [[3]]}, 1, up), "PET: list .* is not an integer"),
        (("at most", flat, -1, up), "m is -1, and no count is below 0"),
    ):
        with pytest.raises(CertificateError, match=message):
            check([], bound)
    with pytest.raises(CertificateError, match="may hold 3"):
        check([{"universe": "N", "cells": ["T1.fish"]}], ("at most", flat, 1, up))


def test_a_certificate_that_proves_nothing_needs_no_records(toy_release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges may leave more records live than the checker can hold; a block without claims is right all the same."""
    monkeypatch.setattr("genverify.checker.record_proofs.MOST", 1)
    assert check_block(toy_release, certificate_of(toy_release)).claims == 0
    with pytest.raises(CertificateError, match="cannot be checked"):
        check_block(toy_release, attack_unchecked(toy_release))


def attack_unchecked(release: Release) -> dict[str, Any]:
    claim = {"goal": "exactly", "where": {"PET": 3}, "m": 1, "proof": 0}
    half = {"kind": "bound", "y": {"T1.fish": 1}}
    return certificate_of(release) | {"proofs": [{"lower": half, "upper": half}], "statements": [claim]}
