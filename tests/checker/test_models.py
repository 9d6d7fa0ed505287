"""One form of certificate for four models: mutants and lies are refused, what is exported is accepted by other checkers."""

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

import model_cases
import pbp_checker
from genverify.checker.certificate import CertificateError
from genverify.checker.linear_proofs import check_linear
from genverify.export.checker_formats import in_words, opb_text, pbp_text, smt_text, vipr_text
from genverify.export.proof_programs import CellExporter, Program, TooLarge, exports_of
from genverify.model.errors import GenverifyError
from genverify.model.linear import OPEN, make_system
from genverify.model.proof_form import AREAS, HOUSING, LINEAR, RECORDS
from genverify.solve.linear.ranges import all_ranges
from genverify.solve.linear.search import Work
from solvers import INSTALLED, solver
from vipr_checker import check_vipr

MODELS = {RECORDS, LINEAR, AREAS, HOUSING}


def test_no_mutant_and_no_lie_is_accepted_in_any_model() -> None:
    """Each says something that is false of what it is about, under the right digest."""
    random, refused = Random(31), Counter[str]()
    for _ in range(12):
        for case in model_cases.cases(random):
            for make in (model_cases.mutant,) * 12 + (model_cases.lie,) * 4:
                with pytest.raises(GenverifyError):
                    case.check(make(random, case))
                refused[case.model] += 1
    assert set(refused) == MODELS
    assert sum(refused.values()) >= 500, refused


@pytest.mark.parametrize("model", sorted(MODELS))
def test_what_is_accepted_of_changed_certificates_is_true(model: str) -> None:
    """Numbers of proofs and statements are changed at random; each accepted statement is counted again."""
    random, seen = Random(model), Counter[str]()
    while seen.total() < 150:
        for case in (case for case in model_cases.cases(random) if case.model == model):
            for _ in range(15):
                text = model_cases.changed(random, case)
                try:
                    case.check(text)
                except GenverifyError:
                    seen["refused"] += 1
                else:
                    seen["accepted"] += 1
                    assert not model_cases.false_statements(case, text)
    assert seen["refused"] >= 75, seen
    assert seen["accepted"], seen


def head(change: dict[str, Any]) -> Any:
    return lambda text: text | {key: own(text) if callable(own) else own for key, own in change.items()}


WRONG = {
    "another version": (head({"version": 2}), "version of the certificate is 2, not 1. Make it again: snakemake --force"),
    "a former format": (lambda text: {"block": "b", "claims": [], "shared": 1}, "a certificate of a former format"),
    "another kind": (head({"about": lambda text: text["about"] | {"kind": "photograph"}}), "is about .*, not about 'photog"),
    "another release": (head({"about": lambda text: text["about"] | {"digest": "0" * 64}}), "of other counts than these"),
    "an unknown model": (head({"model": "recordings"}), "unknown model 'recordings': did you mean records"),
    "another model": (
        head({"model": AREAS, "about": lambda text: text["about"] | {"kind": "areas"}}),
        "model is areas|keys of",
    ),
    "no statements": (lambda text: {k: v for k, v in text.items() if k != "statements"}, "has no list of statements"),
    "statements that are none": (head({"statements": [7]}), "is not a statement"),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_head_is_read_first_in_every_model(name: str) -> None:
    seen, random = set[str](), Random(5)
    change, words = WRONG[name]
    while seen < MODELS:
        for case in model_cases.cases(random):
            if not (name == "another model" and case.model == AREAS):
                with pytest.raises(CertificateError, match=words):
                    case.check(change(case.certificate))
            seen.add(case.model)


def accepted(program: Program) -> None:
    check_vipr(vipr_text(program))
    pbp_checker.check(opb_text(program), pbp_text(program))
    for name in INSTALLED[:1]:
        assert solver(name)(smt_text(program)) == "unsat"
    assert len(list(in_words(program))) >= 2


def test_what_our_checkers_accept_is_accepted_by_others() -> None:
    random, seen = Random(8), Counter[str]()
    for _ in range(6):
        for case in model_cases.cases(random):
            for export in list(exports_of(case.published, case.certificate))[:8]:
                for make in export.programs:
                    accepted(make())
                    seen[case.model] += 1
    assert set(seen) == MODELS
    assert min(seen.values()) >= 5, seen


def test_every_bound_of_a_system_is_that_of_all_counts_one_by_one() -> None:
    random = Random(3)
    for _ in range(8):
        case = model_cases.linear_case(random)
        points = model_cases.numbers_that_fit(case.published)
        shown = check_linear(case.published, case.certificate["statements"])
        assert (shown.lo == points.min(axis=0)).all()
        assert (shown.hi == points.max(axis=0)).all()


def test_a_cell_without_an_end_has_as_many_bits_as_a_sum_allows() -> None:
    rows = [("sum", {"x": 1, "y": 1, "t": -1}, 0, 0), ("more", {"x": 1, "z": -1}, 0, 0)]
    system = make_system({"x": (0, OPEN), "y": (0, OPEN), "z": (0, OPEN), "t": (4, 4)}, rows)
    found = list(all_ranges(system, Work(seconds=5)).statements)
    exporter = CellExporter("open", system, found)
    programs = [exporter.program(number) for number in range(len(found))]
    assert len(programs) > 2
    for program in programs:
        accepted(program)
    free = replace(programs[0], rows={}, names=("x",), ends=[(0, OPEN)])
    with pytest.raises(TooLarge, match="no upper end by any row"):
        opb_text(free)
