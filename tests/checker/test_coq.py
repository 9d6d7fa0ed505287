"""The soundness of certificates as Coq theorems, where Coq is installed: compiled, without axioms; exported claims too."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import brute_force as brute
from genverify.attack.verify import Verifier, claim_where
from genverify.checker.certificate import Fork, read_certificate
from genverify.export.checker_formats import coq_text
from genverify.export.proof_programs import Exporter, questions_of
from genverify.model.claims import ANY, Claim
from genverify.solve.bounds import certificate_of
from genverify.solve.program_settings import DEFAULT

SOURCE = Path(__file__).parents[2] / "proofs" / "Checker.v"
COQC = shutil.which("coqc")
needs_coq = pytest.mark.skipif(COQC is None, reason="Coq is not installed (Debian: apt install coq)")
CLOSED = "Closed under the global context"


def coqc(folder: Path, file: str) -> subprocess.CompletedProcess[str]:
    words = [str(COQC), "-q", "-Q", str(folder), "Genverify", file]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("coq")
    shutil.copy(SOURCE, folder)
    found = coqc(folder, SOURCE.name)
    assert found.returncode == 0, found.stderr
    return folder, found.stdout


def test_nothing_is_assumed_in_the_text() -> None:
    """Without Coq, at least that no proof is left out and no axiom stated."""
    assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture|Hypothesis)\b", SOURCE.read_text())


@needs_coq
def test_the_theorems_are_closed(compiled: tuple[Path, str]) -> None:
    asked = SOURCE.read_text().count("Print Assumptions")
    assert asked == 3
    assert compiled[1].count(CLOSED) == asked


@needs_coq
def test_exported_claims_are_theorems_and_false_ones_are_not(compiled: tuple[Path, str]) -> None:
    folder, release = compiled[0], brute.clique(4)
    verifier = Verifier(DEFAULT.bounder(release))
    (decision,) = verifier.decide([Claim((ANY, 1), 1)])
    text = certificate_of(release, verifier.bounder.program.lemmas)
    text["proofs"] = [{"lower": decision.lower, "upper": decision.upper}]
    text["statements"] = [
        {"goal": "exactly", "where": claim_where(release.schema.domain.names, decision.claim), "m": 1, "proof": 0}
    ]
    certificate = read_certificate(release, text)
    exporter = Exporter(release, certificate.lemmas)
    lower, upper = (exporter.program(one) for asked, _ in questions_of(release.schema.domain, certificate) for one in asked)
    assert isinstance(upper.tree, Fork)
    for name, program in {"lower": lower, "upper": upper}.items():
        (folder / f"{name}.v").write_text(coq_text(program))
        found = coqc(folder, f"{name}.v")
        assert found.returncode == 0, found.stderr
        assert CLOSED in found.stdout
    wrong = re.sub(r"^(Definition goal := SumAtMost .*) \(1\)\.$", r"\1 (0).", coq_text(upper), flags=re.MULTILINE)
    assert wrong != coq_text(upper)
    (folder / "wrong.v").write_text(wrong)
    assert coqc(folder, "wrong.v").returncode != 0
