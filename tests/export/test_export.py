"""Exported proofs: accepted by checkers that share nothing with the exporter, and refused once a number is changed."""

import json
import re
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import brute_force as brute
import mutations
import pbp_checker
from certificates import in_form
from genverify.attack.verify import Range, Verdict, Verifier, check_ranges, claim_where
from genverify.checker.certificate import CertificateError, Fork, read_certificate
from genverify.checker.record_proofs import check_block
from genverify.export import proof_programs as signatures
from genverify.export.checker_formats import opb_text, pbp_text, smt_text, vipr_text
from genverify.export.export_command import join_exports, write_export, write_files
from genverify.export.proof_programs import Exporter, Program, exports_of, questions_of
from genverify.model.claims import ANY, Claim
from genverify.model.domain import Column, Domain, Predicate
from genverify.model.errors import DataError
from genverify.model.proof_form import AT_LEAST, AT_MOST, NEVER
from genverify.model.query import Query
from genverify.model.release import Release, Schema
from genverify.solve.bounds import certificate_of
from genverify.solve.program_settings import DEFAULT
from solvers import SOLVERS, solver
from vipr_checker import ViprError, check_vipr

few = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
randoms = st.randoms(use_true_random=False)
Text = dict[str, Any]


def proved(release: Release, most: int = 12) -> Text:
    """A certificate of some claims that are true of every dataset, found by the attack and accepted by the checker."""
    verifier = Verifier(DEFAULT.bounder(release))
    names, truth = release.schema.domain.names, brute.Truth(release)
    claims = [Claim(codes, min(counts)) for codes in brute.every_assignment(release.schema.domain)
              if len(counts := truth.counts(codes)) == 1]  # fmt: skip
    text = certificate_of(release, verifier.bounder.program.lemmas)
    for decision in verifier.decide(claims[:most]):
        assert decision.verdict is Verdict.VERIFIED
        text["statements"].append(
            {
                "goal": "exactly",
                "where": claim_where(names, decision.claim),
                "m": decision.claim.m,
                "proof": len(text["proofs"]),
            }
        )
        text["proofs"].append({"lower": decision.lower, "upper": decision.upper})
    check_block(release, text)
    return text


def programs(release: Release, text: Text) -> list[Program]:
    certificate = read_certificate(release, text)
    exporter = Exporter(release, certificate.lemmas)
    return [exporter.program(one) for asked, _ in questions_of(release.schema.domain, certificate) for one in asked]


def accepted(program: Program) -> None:
    assert check_vipr(vipr_text(program)) >= 1
    assert pbp_checker.check(opb_text(program), pbp_text(program)) >= 1


@few
@given(randoms, st.booleans(), st.booleans())
def test_what_our_checker_accepts_is_accepted_by_the_others(random: Random, slack: bool, sums: bool) -> None:
    release = brute.some_release(random, slack=slack, sums=sums)
    for program in programs(release, proved(release)):
        accepted(program)


@few
@given(randoms, st.booleans())
def test_every_record_of_the_domain_lies_in_one_kind_and_adds_what_it_adds_to_each_cell(random: Random, sums: bool) -> None:
    """But for rows of zero cells, in which those count whom no zero cell above holds: each record that a cell holds once."""
    release = brute.some_release(random, sums=sums)
    names, queries = release.schema.domain.names, {query.id: query for query in release.queries}
    zero = {query.id for query, hi in zip(release.queries, release.hi.tolist(), strict=True) if hi == 0}
    every = list(product(*(column.codes for column in release.schema.domain.columns)))
    certificate = read_certificate(release, proved(release, 3))
    exporter = Exporter(release, certificate.lemmas)
    for asked in (one for halves, _ in questions_of(release.schema.domain, certificate) for one in halves):
        program = exporter.program(asked)
        keys = [key for key in program.rows if key in queries and key not in zero]
        seen: Counter[tuple[int, ...]] = Counter()
        for record in every:
            seen[(*(brute.added(queries[key], names, record) for key in keys),
                  int(any(brute.matches(one, names, record) for one in asked.where)))] += 1  # fmt: skip
        found: Counter[tuple[int, ...]] = Counter()
        sizes = [int(words.rpartition("(")[2][:-1]) for words in program.columns[1:]]
        for place, size in enumerate(sizes):
            found[(*(program.rows[key].vector.get(place, 0) for key in keys), program.count.get(place, 0))] += size
        assert found == seen
        excluded = Counter(place for key in program.rows if key in zero for place in program.rows[key].vector)
        for key in program.rows:
            if key in zero:
                held = {
                    tuple(map(int, program.columns[1 + place].split(" (")[0].split())) for place in program.rows[key].vector
                }
                assert all(brute.added(queries[key], names, record) > 0 for record in held)
        assert all(times == 1 for times in excluded.values())


def test_forks_become_assumptions_that_are_taken_back() -> None:
    release = brute.clique(4)
    found = programs(release, proved(release))
    forked = [program for program in found if isinstance(program.tree, Fork)]
    assert forked
    for program in forked:
        accepted(program)
        text = vipr_text(program)
        assert text.count("{ asm }") == 2 * text.count("{ uns ") > 0
        with pytest.raises(ViprError, match=r"rests on the assumption|does not follow|not what was to be"):
            check_vipr(without_last_step(text))


def test_a_fork_by_the_cells_of_a_record() -> None:
    """Of the graph, a node is told by its cells: the same proof, with the part given as the records like one."""
    release = brute.clique(4)
    text = json.loads(json.dumps(proved(release)))  # two proofs may share a half
    forks = [node for node in mutations.nodes_of(text) if "where" in node]
    assert forks
    for fork in forks:
        where = fork.pop("where")
        (node,) = where["A"]
        fork["like"] = [node, 1 if node else 0]
    check_block(release, text)
    found = [program for program in programs(release, text) if isinstance(program.tree, Fork)]
    assert found
    for program in found:
        assert "records in the same published cells as A=" in vipr_text(program)
        accepted(program)


def without_last_step(text: str) -> str:
    lines = text.rstrip("\n").split("\n")
    at = next(place for place, line in enumerate(lines) if line.startswith("DER "))
    lines[at] = f"DER {int(lines[at].split()[1]) - 1}"
    return "\n".join(lines[:-1])


@few
@given(randoms)
def test_impossible_counts_contradictions_and_bounds(random: Random) -> None:
    release = brute.some_graph(random) if random.random() < 0.3 else brute.some_release(random, slack=True)
    text = proved(release, 1)
    if not text["statements"]:
        return
    claim, pair = text["statements"][0], text["proofs"][0]
    never = {
        "goal": "never",
        "where": claim["where"],
        "m": claim["m"] + 1,
        "proof": mutations.impossible_of(pair["upper"], 1),
    }
    bound = {"goal": "at least", "where": claim["where"], "m": claim["m"], "proof": pair["lower"]}
    found = programs(release, {**text, "statements": [*text["statements"], never, bound]})
    assert [program.question.goal for program in found] == [AT_LEAST, AT_MOST, NEVER, AT_LEAST]
    own = {"lemmas": text["lemmas"], "proofs": text["proofs"], "claims": [claim]}
    other, contradicted = mutations.contradictory(release, own)
    contradicted = in_form(other, contradicted)
    check_block(other, contradicted)
    for program in [*found, *programs(other, contradicted)]:
        accepted(program)


def test_ranges_of_a_count_one_side_each() -> None:
    release = brute.some_release(Random(5), slack=True)
    verifier = Verifier(DEFAULT.bounder(release))
    claim = Claim((release.schema.domain.columns[0].codes[0], *[ANY] * (len(release.schema.domain.columns) - 1)), 0)
    counts: Range = verifier.range(claim)
    certificate = check_ranges(verifier.bounder.program, [(claim.predicate(release.schema.domain), counts)])
    found = [make() for export in exports_of(release, certificate) for make in export.programs]
    assert [program.question.goal for program in found] == [AT_LEAST, AT_MOST]
    for program in found:
        accepted(program)


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_find_no_counterexample_and_find_one_if_m_is_changed(name: str) -> None:
    decide = solver(name)
    for seed in range(6):
        release = brute.some_release(Random(seed), slack=seed % 2 == 1, sums=seed % 3 == 2)
        for program in programs(release, proved(release, 4)):
            text = smt_text(program)
            assert decide(text) == "unsat"
            assert decide(stronger(program, text)) == "sat"


def stronger(program: Program, text: str) -> str:
    """The script with an m that no dataset has: one less at most, or one more at least."""
    m, more = program.question.m, program.question.goal == AT_LEAST
    head, _, end = text.rpartition(f" {m}) :named |not_the_goal|")
    other = f"{m + 1}" if more else f"{m - 1}" if m else "(- 1)"
    return f"{head} {other}) :named |not_the_goal|{end}"


@few
@given(randoms)
def test_a_changed_number_is_refused(random: Random) -> None:
    """A multiplier, m or a count that a leaf needs: whatever is changed, the derivation no longer adds up."""
    release = brute.some_graph(random) if random.random() < 0.3 else brute.some_release(random)
    for program in programs(release, proved(release, 3)):
        text = vipr_text(program)
        for wrong in (changed_goal(program, text), changed_multiplier(random, text), changed_count(program, text)):
            if wrong is not None:
                with pytest.raises(ViprError):
                    check_vipr(wrong)


def changed_goal(program: Program, text: str) -> str:
    m, stronger = program.question.m, program.question.m + (1 if program.question.goal == AT_LEAST else -1)
    return text.replace(f"RTP range {m} inf", f"RTP range {stronger} inf").replace(
        f"RTP range -inf {m}", f"RTP range -inf {stronger}"
    )


def changed_multiplier(random: Random, text: str) -> str | None:
    """One multiplier of one step is another: the coefficients no longer cancel."""
    steps = [found for found in re.finditer(r"\{ (?:lin|rnd) (\d+) ([^}]*)\}", text) if found.group(1) != "0"]
    if not steps:
        return None
    step = random.choice(steps)
    words = step.group(2).split()
    at = 2 * random.randrange(len(words) // 2) + 1
    words[at] = f"{words[at]}1" if words[at] != "0" else "1"
    return f"{text[: step.start(2)]}{' '.join(words)} {text[step.end(2) :]}"


def changed_count(program: Program, text: str) -> str | None:
    """A published count that makes the sum of the only leaf too large by as much as its denominator."""
    if isinstance(program.tree, Fork) or not program.tree.y:
        return None
    key, y = next(iter(program.tree.y.items()))
    row = program.rows[key]
    if row.lo != row.hi:
        return None
    moved = int(row.lo or 0) + (1 if y > 0 else -1) * program.tree.d * (abs(program.question.m) + 2)
    line = re.search(rf"^{re.escape(row.name)} E (\S+) ", text, re.MULTILINE)
    assert line
    return f"{text[: line.start(1)]}{moved}{text[line.end(1) :]}"


def test_a_file_says_what_it_shows_and_is_about_whom() -> None:
    release = brute.clique(4)
    text = vipr_text(programs(release, proved(release))[0])
    lines = text.split("\n")
    head = lines[: lines.index("VER 1.0")]
    assert head[0] == f"% Block tiny, 2 records; release {release.digest}"
    assert head[1].startswith("% Shown: at least ")
    assert all(line.startswith("% ") for line in head)
    assert any(re.match(r"%   q\d: 0 to 1 \(q\d\)$", line) for line in head)


def test_too_many_kinds_are_refused_clearly(monkeypatch: pytest.MonkeyPatch) -> None:
    release = brute.clique(4)
    text = proved(release)
    monkeypatch.setattr(signatures, "MOST", 2)
    with pytest.raises(DataError, match="over the limit of 2; this claim cannot be exported"):
        programs(release, text)


def test_a_study_is_exported_without_what_is_too_large_and_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    release = brute.clique(4)
    text = proved(release)
    whole = write_export(tmp_path / "whole.zip", [(release, text)], "vipr", "")
    assert whole.left_out == 0
    assert whole.statements > 0
    monkeypatch.setattr(signatures, "MOST", 2)
    some = write_export(tmp_path / "some.zip", [(release, text)], "vipr", "")
    assert some.left_out > 0
    assert some.statements + some.left_out == whole.statements
    assert f"{some.left_out} too large and left out" in str(some)
    with ZipFile(tmp_path / "some.zip") as archive:
        rows = archive.read("index.csv").decode().splitlines()
    assert sum("not exported" in row for row in rows) == some.left_out
    assert join_exports(tmp_path / "joined.zip", [tmp_path / "some.zip"], "") == some


def test_a_proof_that_does_not_fit_its_release_and_an_unknown_format_are_refused() -> None:
    release = brute.clique(4)
    text = proved(release)
    with pytest.raises(CertificateError, match="the proofs are of other counts than these"):
        list(exports_of(release, {**text, "about": {**text["about"], "digest": "another"}}))
    with pytest.raises(DataError, match="unknown format 'viper': did you mean vipr"):
        list(write_files(exports_of(release, text), "viper", lambda name, text: None))


def renamed(value: Any, names: dict[str, str]) -> Any:
    """A certificate with other names for its cells."""
    if isinstance(value, dict):
        return {names.get(key, key): renamed(part, names) for key, part in value.items()}
    if isinstance(value, list):
        return [renamed(part, names) for part in value]
    return names.get(value, value) if isinstance(value, str) else value


def test_names_of_anybody_cannot_break_a_file() -> None:
    """A cell and a block with line breaks, brackets and comment signs in their names are written as plain words."""
    release = brute.clique(4)
    text = proved(release)
    names = {query.id: f"{query.id} }} \n RTP *) |" for query in release.schema.queries}
    queries = tuple(replace(query, id=names[query.id], label="\nVER 2.0\n") for query in release.schema.queries)
    hostile = replace(release, schema=replace(release.schema, queries=queries))
    found = renamed(text, names)
    found["about"]["digest"] = hostile.digest
    made = programs(hostile, found)
    assert len(made) == len(programs(release, text)) > 0
    for program in made:
        accepted(program)


def test_every_leaf_of_a_program_adds_up_over_the_whole_domain() -> None:
    release = brute.clique(4)
    for program in programs(release, proved(release)):
        assert program.adds_up()
        assert not replace(program, question=replace(program.question, m=program.question.m + 9)).adds_up() or (
            program.question.goal == AT_MOST
        )


def test_a_zero_cell_enters_with_its_multiplier() -> None:
    """Three rent, and nobody rents who does not live alone: the zero cell joins the lower half, not the upper one."""
    domain = Domain((Column("TEN", "tenure", (1, 3), ("own", "rent")), Column("SIZE", "size", (1, 2), ("1", "2"))))
    asked = {"rent": {"TEN": [3]}, "rent2": {"TEN": [3], "SIZE": [2]}}
    queries = tuple(Query(name, "T", name, Predicate.of(where)) for name, where in asked.items())
    release = Release(Schema(domain, (), queries), "b", 5, *(np.array(x) for x in ([0, 1], [3, 0], [3, 0])))
    leaf = {"kind": "bound", "y": {"rent": -1}}, {"kind": "bound", "y": {"rent": 1}}
    claim = {"where": {"TEN": 3, "SIZE": 1}, "m": 3, "proof": 0}
    text = {"block": "b", "lemmas": [], "proofs": [dict(zip(("lower", "upper"), leaf, strict=True))], "claims": [claim]}
    lower, upper = programs(release, in_form(release, text))
    assert list(lower.rows) == ["rent", "rent2"]
    assert list(upper.rows) == ["rent"]
    assert "leaf1 G 3 OBJ { lin 2 3 1 4 -1 } -1" in vipr_text(lower)
