"""The checker on proofs that can be followed by hand, and on what it must refuse."""

import ast
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import genverify
from certificates import check
from genverify.checker.certificate import CertificateError
from genverify.checker.record_proofs import CheckSummary
from genverify.model.domain import Column, Domain, Predicate, Rule
from genverify.model.query import Query
from genverify.model.release import Release, Schema, make_release

ROOT = Path(genverify.__file__).parent
CHECKER = ("checker.certificate", "checker.record_proofs")
MODEL = ("areas", "arrays", "domain", "errors", "files", "proof_form", "query", "release", "settings", "tablefiles", "work")
ALLOWED = {*CHECKER, *(f"model.{name}" for name in MODEL)}


def column(name: str, *codes: int) -> Column:
    return Column(name, name, codes, tuple(map(str, codes)))


def schema(queries: dict[str, dict[str, list[int]]], rules: tuple[Rule, ...] = ()) -> Schema:
    domain = Domain((column("TEN", 1, 2, 3), column("SIZE", 1, 2, 3, 4), column("AGE", 1, 2)))
    return Schema(domain, rules, tuple(Query(name, "T", name, Predicate.of(where)) for name, where in queries.items()))


QUERIES = {
    "own": {"TEN": [1]},
    "rent": {"TEN": [3]},
    "rent1": {"TEN": [3], "SIZE": [1]},
    "rent2+": {"TEN": [3], "SIZE": [2, 3, 4]},
    "old": {"AGE": [2]},
}
RELEASE = make_release(schema(QUERIES), "b1", {"N": 5, "own": 2, "rent": 3, "rent1": 3, "rent2+": 0, "old": 1})


def leaf(y: dict[str, int], **more: Any) -> dict[str, Any]:
    return {"kind": "bound", "y": y, **more}


def proofs(**changes: Any) -> dict[str, Any]:
    """Three rent, and nobody rents who does not live alone: so three rent alone."""
    plain = {"lower": leaf({"rent": -1}), "upper": leaf({"rent": 1})}
    claims = [{"where": {"TEN": 3, "SIZE": 1}, "m": 3, "proof": 0}, {"where": {"TEN": 3}, "m": 3, "proof": 0}]
    return {"block": "b1", "lemmas": [], "proofs": [plain], "claims": claims} | changes


def refuses(text: Any, message: str, release: Release = RELEASE) -> None:
    with pytest.raises(CertificateError, match=message) as caught:
        check(release, text)
    assert "block b1" in str(caught.value)


def test_two_claims_share_a_proof() -> None:
    assert check(RELEASE, proofs()) == CheckSummary(2, 1, impossible=0, at_least=(), contradiction=False)


@pytest.mark.parametrize(
    ("m", "message"), [(2, "upper proof shows only COUNT <= 3"), (4, "lower proof shows only COUNT >= 3")]
)
def test_another_count_is_refused(m: int, message: str) -> None:
    refuses(proofs(claims=[{"where": {"TEN": 3}, "m": m, "proof": 0}]), f"statement 0 .TEN=3, m = {m}.: the {message}")


def test_a_live_record_that_the_proof_leaves_out_is_named() -> None:
    refuses(
        proofs(claims=[{"where": {"SIZE": 1}, "m": 3, "proof": 0}]), "upper proof leaves out .* matches, like TEN=1, SIZE=1"
    )
    refuses(
        proofs(claims=[{"where": {"TEN": 3, "AGE": 1}, "m": 3, "proof": 0}]),
        "lower proof leaves out .* not match, like TEN=3",
    )


def test_codes_that_no_cell_tells_apart_are_told_apart_by_a_claim() -> None:
    """SIZE 2, 3 and 4 are one kind of record: "every record of the kind matches" holds for none of them alone."""
    release = make_release(schema({"big": {"SIZE": [2, 3, 4]}}), "b1", {"N": 2, "big": 2})
    pair = {"lower": leaf({"big": -1}), "upper": leaf({"big": 1})}
    text = proofs(proofs=[pair], claims=[{"where": {"SIZE": 3}, "m": 2, "proof": 0}])
    refuses(text, "lower proof leaves out a live record that does not match", release)


def test_a_code_outside_the_domain_matches_nobody() -> None:
    nothing = {"lower": leaf({}), "upper": leaf({})}
    text = proofs(proofs=[nothing], claims=[{"where": {"TEN": 9}, "m": 0, "proof": 0}])
    assert check(RELEASE, text).claims == 1
    refuses({**text, "claims": [{"where": {"TEN": 9}, "m": 1, "proof": 0}]}, "COUNT >= 0")


def test_lemma_rules_out_the_rest_of_its_universe() -> None:
    """Two own and three rent: that is everybody, so nobody has TEN = 2."""
    lemma = {"universe": "N", "cells": ["own", "rent"]}
    nothing = {"lower": leaf({}), "upper": leaf({})}
    text = proofs(proofs=[nothing], claims=[{"where": {"TEN": 2}, "m": 0, "proof": 0}])
    assert check(RELEASE, text | {"lemmas": [lemma]}).claims == 1
    refuses(text, "upper proof leaves out")
    refuses(text | {"lemmas": [{"universe": "N", "cells": ["own", "old"]}]}, r"lemmas\[0\]: old and own are not disjoint")
    refuses(text | {"lemmas": [{"universe": "N", "cells": ["own", "own"]}]}, "own and own are not disjoint")
    refuses(text | {"lemmas": [{"universe": "rent", "cells": ["own"]}]}, "own is not inside rent")
    refuses(text | {"lemmas": [{"universe": "N", "cells": ["rent"]}]}, "add up to 3, but N may hold 5")


def test_structural_rule_rules_out_records() -> None:
    rule = Rule("old-alone", Predicate.of({"AGE": [2]}), (Predicate.of({"SIZE": [1]}), Predicate.of({"SIZE": [2]})))
    nothing = {"lower": leaf({}), "upper": leaf({})}
    text = proofs(proofs=[nothing], claims=[{"where": {"AGE": 2, "SIZE": 4}, "m": 0, "proof": 0}])
    assert check(make_release(schema({}, (rule,)), "b1", {"N": 5}), text).claims == 1
    refuses(text, "upper proof leaves out", make_release(schema({}), "b1", {"N": 5}))


def test_denominator() -> None:
    """Twice the claim from two overlapping cells: 2 COUNT <= 2 + 3, so COUNT <= 2."""
    queries = {"a": {"TEN": [1, 2]}, "b": {"TEN": [1, 3]}, "c": {"TEN": [1]}}
    release = Release(schema(queries), "b1", 9, np.arange(3), np.array([2, 3, 2]), np.array([2, 3, 9]))
    pair = {"lower": leaf({"c": -1}), "upper": leaf({"a": 1, "b": 1}, d=2)}
    text = proofs(proofs=[pair], claims=[{"where": {"TEN": 1}, "m": 2, "proof": 0}])
    assert check(release, text).claims == 1
    pair["upper"]["d"] = 3
    refuses(text, "upper proof leaves out", release)


def test_fork_splits_into_cases() -> None:
    """
    Any two of SIZE 1, 2, 3 together hold at most one of two records, so the other one has SIZE 4. By cases: no record has
    SIZE 1, then 2 and 3 hold at most one; one or more has, then 2 and 3 hold none.
    """
    queries = {f"{i}{j}": {"SIZE": [i, j]} for i, j in [(1, 2), (1, 3), (2, 3)]} | {"four": {"SIZE": [4]}}
    release = Release(schema(queries), "b1", 2, np.arange(4), np.zeros(4, dtype=np.int64), np.ones(4, dtype=np.int64))
    below, above = leaf({"N": -1, "23": 1}, w=[1]), leaf({"N": -1, "12": 1, "13": 1}, w=[-1])
    fork = {"at": 0, "below": below, "above": above}
    one, like_one = fork | {"where": {"SIZE": [1]}}, fork | {"like": [2, 1, 1]}

    def text(lower: dict[str, Any]) -> dict[str, Any]:
        pair = {"lower": lower, "upper": leaf({"four": 1})}
        return proofs(proofs=[pair], claims=[{"where": {"SIZE": 4}, "m": 1, "proof": 0}])

    assert check(release, text(one)).claims == 1
    assert check(release, text(like_one)).claims == 1
    refuses(text(fork | {"like": [2, 2, 1]}), "lower proof leaves out", release)
    refuses(text(one | {"where": {"SIZE": [2]}}), "lower proof leaves out", release)
    refuses(text(one | {"at": 1}), "lower proof shows only COUNT >= 0", release)
    refuses(text(one | {"below": above, "above": below}), "the multiplier -1 has the wrong sign below a fork", release)
    refuses(text(one | {"above": below}), "the multiplier 1 has the wrong sign above a fork", release)
    refuses(text(one | {"below": leaf({})}), "w has 0 multipliers for 1 forks above", release)


def test_the_wrong_sign_on_a_fork_proves_nothing() -> None:
    """At most six of five records, times -1, is not at least six."""
    side = leaf({"N": 1}, kind="empty", w=[-1])
    text = proofs(proofs=[], claims=[], contradiction={"where": {}, "at": 6, "below": side, "above": side})
    refuses(text, "statement 0, proof.below: the multiplier -1 has the wrong sign below a fork")


def test_a_count_that_cannot_be() -> None:
    """Three rent, so four cannot: 4 - 3 > 0. And two cannot, because nobody rents with others."""
    more = {"where": {"TEN": 3}, "m": 4, "proof": leaf({"rent": 1}, kind="empty", c=-1)}
    less = {"where": {"TEN": 3, "SIZE": 1}, "m": 2, "proof": leaf({"rent": -1}, kind="empty", c=1)}
    text = proofs(proofs=[], claims=[], impossible=[more, less])
    assert check(RELEASE, text) == CheckSummary(0, 0, impossible=2, at_least=(), contradiction=False)
    refuses(text | {"impossible": [more | {"m": 3}]}, "statement 0 .TEN=3, m = 3.: .* the sum is 0, not below 0")
    refuses(text | {"impossible": [less | {"where": {"AGE": 1}}]}, "a live record has the value -1, below 0")
    refuses(text | {"impossible": [more | {"proof": leaf({"rent": 1})}]}, "kind is 'bound'")


def test_a_count_that_cannot_be_of_some_records_of_a_kind() -> None:
    release = make_release(schema({"big": {"SIZE": [2, 3, 4]}}), "b1", {"N": 2, "big": 2})
    wrong = {"where": {"SIZE": 3}, "m": 1, "proof": leaf({"big": -1}, kind="empty", c=1)}
    refuses(proofs(proofs=[], claims=[], impossible=[wrong]), "has the value -1", release)


def test_a_lower_bound_is_shown_with_its_condition() -> None:
    """Three rent and all of them live alone: COUNT(TEN=3, SIZE=1) >= 3, so also >= 2; nothing shows 4."""
    bound = {"where": {"TEN": 3, "SIZE": 1}, "m": 3, "proof": leaf({"rent": -1})}
    text = proofs(proofs=[], claims=[], at_least=[bound, bound | {"m": 2}])
    alone = Predicate.of({"TEN": [3], "SIZE": [1]})
    assert check(RELEASE, text) == CheckSummary(0, 0, impossible=0, at_least=((alone, 3), (alone, 2)), contradiction=False)
    refuses(
        text | {"at_least": [bound | {"m": 4}]},
        "statement 0 .SIZE=1 and TEN=3, m = 4.: the lower proof shows only COUNT >= 3",
    )
    refuses(text | {"at_least": [bound | {"where": {"AGE": 1}}]}, "leaves out a live record that does not match")
    refuses(text | {"at_least": [bound | {"proof": leaf({"rent": 1})}]}, "shows only COUNT >= -3")
    refuses(text | {"at_least": [bound | {"proof": leaf({"rent": -1}, c=1)}]}, "'c' means nothing here")
    refuses(text | {"at_least": [bound | {"proof": None}]}, "proof: NoneType")


def test_a_lower_bound_by_cases() -> None:
    """Two of five own: of the three others at least two are young, whether one renter is old or none."""
    side = leaf({"N": -1, "own": 1, "old": 1}, w=[0])
    fork = {"where": {"TEN": [3], "AGE": [2]}, "at": 0, "below": side, "above": side}
    text = proofs(proofs=[], claims=[], at_least=[{"where": {"AGE": 1}, "m": 2, "proof": fork}])
    assert check(RELEASE, text).at_least == ((Predicate.of({"AGE": [1]}), 2),)
    refuses(text | {"at_least": [text["at_least"][0] | {"m": 3}]}, "shows only COUNT >= 2")


def test_contradiction() -> None:
    release = make_release(schema(QUERIES), "b1", {"N": 5, "own": 4, "rent": 3})
    text = proofs(proofs=[], claims=[], contradiction=leaf({"N": 1, "own": -1, "rent": -1}, kind="empty"))
    assert check(release, text).contradiction
    refuses(text, "the sum is 0, not below 0")


MALFORMED: list[tuple[str, dict[str, Any], str]] = [
    ("another block", {"block": "b2"}, "of another block, 'b2'"),
    ("another release", {"release": "0" * 64}, "of other counts than these"),
    ("no text for a name", {"block": 3}, "does not name what it is about"),
    ("unknown key", {"claim": []}, "'claim' means nothing here"),
    ("no list", {"claims": {"where": {}}}, "has no list of statements"),
    ("no lemma", {"lemmas": [["own"]]}, r"lemmas\[0\]: list .* is not an object"),
    ("unpublished cell in a lemma", {"lemmas": [{"universe": "N", "cells": ["P99"]}]}, "'P99' is not a published cell"),
    ("cell that is no name", {"lemmas": [{"universe": ["N"], "cells": []}]}, r"\['N'\] is not a published cell"),
    ("no proof", {"claims": [{"where": {}, "m": 1, "proof": 7}]}, "there is no proof 7"),
    ("negative place", {"claims": [{"where": {}, "m": 1, "proof": -1}]}, "there is no proof -1"),
    ("negative m", {"claims": [{"where": {}, "m": -1, "proof": 0}]}, "m is -1"),
    ("m is no integer", {"claims": [{"where": {}, "m": 1.0, "proof": 0}]}, "m: float '1.0' is not an integer"),
    ("m is a truth value", {"claims": [{"where": {}, "m": True, "proof": 0}]}, "m: .* is not an integer"),
    ("unknown column", {"claims": [{"where": {"X": 1}, "m": 1, "proof": 0}]}, "statement 0: the domain has no column 'X'"),
    ("list of codes", {"claims": [{"where": {"TEN": [3]}, "m": 1, "proof": 0}]}, "TEN: list .* is not an integer"),
    ("null", {"claims": None}, "has no list of statements"),
    ("no goal", {"claims": [{"goal": "mostly", "where": {}, "m": 1, "proof": 0}]}, "its goal is 'mostly'; known: exactly"),
    ("no statement", {"claims": [3]}, "statement 0: is not a statement"),
    ("null contradiction", {"contradiction": None}, "proof: NoneType"),
    ("two contradictions", {"claims": [{"goal": "nothing fits", "proof": leaf({}, kind="empty")}] * 2}, "two statements"),
]


@pytest.mark.parametrize(("change", "message"), [case[1:] for case in MALFORMED], ids=[case[0] for case in MALFORMED])
def test_malformed_block(change: dict[str, Any], message: str) -> None:
    refuses(proofs(**change), message)


NODES: list[tuple[Any, str]] = [
    (None, "NoneType"),
    ([], "list"),
    ({"kind": "magic", "y": {}}, "kind is 'magic'"),
    ({"kind": ["bound"], "y": {}}, "kind is"),
    ({"kind": "bound"}, "'y' is missing"),
    (leaf({"rent": 1}, c=1), "'c' means nothing here"),
    (leaf({"rent": 1.5}), "y of rent: float '1.5' is not an integer"),
    (leaf({"rent": True}), "is not an integer"),
    (leaf({"rent": 2**80}), "number of 81 bits is not an integer of at most"),
    (leaf({"rent": 10**10000}), "bits is not an integer of at most"),
    (leaf({"H1": 1}), "'H1' is not a published cell"),
    (leaf({"rent": 1}, d=0), "d is 0, not above 0"),
    (leaf({"rent": 1}, d=-1), "d is -1, not above 0"),
    (leaf({"rent": 1}, w=[1]), "w has 1 multipliers for 0 forks above"),
    (leaf({"rent": 1}, w="1"), "w: str '1' is not a list"),
    ({"where": {"TEN": [3]}, "at": 0, "below": leaf({}, w=[0])}, "'above' is missing"),
    (
        {"where": {"TEN": [3]}, "like": [1, 1, 1], "at": 0, "below": leaf({}, w=[0]), "above": leaf({}, w=[0])},
        "either where or like",
    ),
    ({"where": {"TEN": 3}, "at": 0, "below": leaf({}, w=[0]), "above": leaf({}, w=[0])}, "is not a list"),
    ({"where": {"X": [3]}, "at": 0, "below": leaf({}, w=[0]), "above": leaf({}, w=[0])}, "no column 'X'"),
    ({"like": [1, 1, 9], "at": 0, "below": leaf({}, w=[0]), "above": leaf({}, w=[0])}, "is not a record of the domain"),
    ({"like": [1, 1], "at": 0, "below": leaf({}, w=[0]), "above": leaf({}, w=[0])}, "is not a record of the domain"),
    ({"where": {}, "at": 0.5, "below": leaf({}, w=[0]), "above": leaf({}, w=[0])}, "at: float"),
]


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize(("node", "message"), NODES)
def test_malformed_node(node: Any, message: str, side: str) -> None:
    text = deepcopy(proofs())
    text["proofs"][0][side] = node
    refuses(text, rf"proofs\[0\].{side}.*{message}")


def test_withheld_cell_is_no_published_cell() -> None:
    refuses(proofs(), "'rent' is not a published cell", make_release(schema(QUERIES), "b1", {"N": 5, "own": 2}))


def test_endless_forks_are_refused() -> None:
    node: dict[str, Any] = leaf({})
    for _ in range(600):
        node = {"where": {}, "at": 0, "below": node, "above": leaf({})}
    refuses(proofs(proofs=[{"lower": node, "upper": node}]), "more than 250 forks")


@pytest.mark.parametrize("text", [None, 3, [], "b1", {}])
def test_no_certificate_at_all(text: Any) -> None:
    refuses(text, "is not a certificate|the version of the certificate is missing")


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            for alias in node.names:  # a module of a package, or a name of a module
                inner = f"{node.module}.{alias.name}"
                is_module = (ROOT.parent / f"{inner.replace('.', '/')}.py").is_file() or node.module == "genverify"
                found |= {inner} | ({"genverify"} & {node.module}) if is_module else {node.module or ""}
    return found


def test_the_checker_shares_no_code_with_what_finds_proofs() -> None:
    reached, left = set(), list(CHECKER)
    while left:
        name = left.pop()
        if name not in reached:
            reached.add(name)
            own = {
                module.removeprefix("genverify.")
                for module in imports(ROOT / f"{name.replace('.', '/')}.py")
                if module.startswith("genverify.")
            }
            left += sorted(own)
    assert reached <= ALLOWED
    # the names of errors are part of the model, which the checker may use
    assert imports(ROOT / "__init__.py") == {"importlib", "importlib.metadata", "typing", "genverify.model.errors"}
    others = {module.split(".")[0] for name in CHECKER for module in imports(ROOT / f"{name.replace('.', '/')}.py")} - {
        "genverify",
        "numpy",
    }
    assert others <= sys.stdlib_module_names
