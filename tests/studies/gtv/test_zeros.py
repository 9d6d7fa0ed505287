"""Withheld zeros: gaps in a release, the claims that survive them, and the search for those that explain the paper."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from genverify.attack.generate import generate_block
from genverify.attack.verify import claim_columns, verify_block
from genverify.model.claims import Claim
from genverify.model.domain import EVERY, Column, Domain, Predicate
from genverify.model.errors import ConfigError, DataError
from genverify.model.query import Query
from genverify.model.release import Release, Schema
from genverify.model.settings import merge
from genverify.model.tabulate import releases_of
from genverify.run.config import parse_config
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.settings import SearchRound
from studies.gtv.withheld_zeros import (
    NO_GAP,
    WITHHELD,
    BlockClaims,
    Gap,
    Search,
    TrialBlocks,
    _force_codes,
    _verified_by_k,
    choose_claims,
    claims_by_block,
    decide_both,
    distance,
    find_households,
    losses,
    losses_table,
    named_gap,
    paper_losses,
    possible_gaps,
    publish_less,
    singletons,
    steps_frame,
    survivors,
    try_gaps,
    zeros_page,
)

BITS = tuple("ABCDEFG")
VACANT = "V"
ROUNDS = [SearchRound(blocks=2, keep=6)]
PRINTED: dict[str, Any] = {
    "table4": {"designs": {"ten": {"total": {6: 10, 7: 8, 8: 6, 9: 4, 10: 2}}}},
    "table5": {"variants": {name: {"total": dict.fromkeys(range(6, 11), left)}
                            for name, left in zip(WITHHELD, (10, 8, 5, 2), strict=True)}},
}  # fmt: skip


@pytest.fixture(scope="module")
def bits() -> Schema:
    """
    Seven columns of two codes, each with a table of both, pairs of neighbours, and an eighth column that is `no` for
    everybody, as vacancy is in a block of occupied households: V.0 counts all, V.1 none.
    """
    columns = tuple(Column(name, name, (0, 1), ("no", "yes")) for name in (*BITS, VACANT))
    queries = [
        Query(f"{name}.{code}", name, "", Predicate.of({name: [code]})) for name in (*BITS, VACANT) for code in (0, 1)
    ]
    for one, other in pairwise(BITS):
        queries += [
            Query(f"{one}{other}.{a}.{b}", f"{one}{other}", "", Predicate.of({one: [a], other: [b]}))
            for a in (0, 1)
            for b in (0, 1)
        ]
    return Schema(Domain(columns), (), tuple(queries))


@pytest.fixture(scope="module")
def records(bits: Schema) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    blocks = []
    for number in range(4):
        values = rng.random((4, len(BITS))) < 0.15
        frame = pd.DataFrame(values.astype(np.int8), columns=list(BITS)).assign(V=np.int8(0))
        blocks.append(frame.assign(block=f"{number}"))
    return pd.concat(blocks, ignore_index=True)


@pytest.fixture(scope="module")
def releases(bits: Schema, records: pd.DataFrame) -> list[Release]:
    return list(releases_of(pa.Table.from_pandas(records, preserve_index=False), EVERY, bits))


@pytest.fixture(scope="module")
def claims(
    bits: Schema, records: pd.DataFrame, releases: list[Release], program_settings: ProgramSettings
) -> dict[str, BlockClaims]:
    found = []
    for release in releases:
        frame = claim_columns(singletons(release, program_settings, 20, 6, 1), bits.domain.names)
        frame.insert(0, "block", release.block)
        found.append(frame)
    judged = find_households(pd.concat(found, ignore_index=True), records)
    assert judged["household"].between(0, 3).all()
    return claims_by_block(judged, bits.domain.names)


def test_gaps_are_tables_lines_clauses_and_columns(toy_schema: Schema) -> None:
    gaps = {gap.name: {toy_schema.queries[place].id for place in gap.cells} for gap in possible_gaps(toy_schema)}
    assert gaps["table T1"] == {"T1.cat", "T1.dog", "T1.fish"}
    assert gaps["tables T1*"] == {f"T1{letter}.{pet}" for letter in ("", "A", "B") for pet in ("cat", "dog", "fish")}
    assert gaps["line T1*.dog"] == {"T1.dog", "T1A.dog", "T1B.dog"}
    assert gaps["every HOME=2"] == {"T1B.cat", "T1B.dog", "T1B.fish", "T2.flat.young", "T2.flat.middle", "T2.flat.aged"}
    assert len(set(map(frozenset, gaps.values()))) == len(gaps)


def test_a_gap_by_name(toy_schema: Schema) -> None:
    found = named_gap(toy_schema, ["T1?.dog", "T3.*"], "here")
    assert {toy_schema.queries[place].id for place in found.cells} == {"T1A.dog", "T1B.dog", "T3.aged"}
    assert named_gap(toy_schema, [], "here") == NO_GAP
    with pytest.raises(ConfigError, match=r"here: 'T1.dgo' is not a line of it: did you mean T1.dog"):
        named_gap(toy_schema, ["T1.dgo"], "here")


def test_less_is_published(releases: list[Release]) -> None:
    less = publish_less(releases[0], (0,), (0,))
    assert 0 not in less.cells
    assert (less.lo > 0).all()
    assert len(less.cells) == int((releases[0].lo > 0).sum()) - int(releases[0].lo[0] > 0)


@pytest.mark.parametrize("withhold", [(), (0,), (1,), (0, 1)])
@pytest.mark.parametrize("missing", [[], ["V.0"], ["A.0", "BC.*"]])
def test_survivors_are_what_an_attack_on_the_smaller_release_verifies(
    bits: Schema, releases: list[Release], claims: Mapping[str, BlockClaims], program_settings: ProgramSettings,
    withhold: tuple[int, ...], missing: list[str],
) -> None:  # fmt: skip
    """Deciding the claims of the whole release loses none: the attack from scratch finds the same ones."""
    for release in releases:
        if release.block in claims:
            less = publish_less(release, withhold, named_gap(bits, missing, "").cells)
            own = claims[release.block].claims
            kept = survivors(less, own, program_settings, check=True)[0]
            datasets = generate_block(less, program_settings, 20, 1).records
            scratch = verify_block(less, datasets, program_settings, 6).claims
            assert {c for c, flag in zip(own, kept, strict=True) if flag} == {c for c in scratch if c.m == 1}


def test_no_claims_no_survivors(releases: list[Release], program_settings: ProgramSettings) -> None:
    assert survivors(releases[0], [], program_settings, check=True)[0].size == 0


def test_without_the_line_that_counts_everybody_a_claim_loses_its_column(
    bits: Schema, releases: list[Release], claims: Mapping[str, BlockClaims], program_settings: ProgramSettings
) -> None:
    """Withheld zeros alone cost nothing here. With V.0 missing too nobody knows V: at k at most those of k + 1 are left."""
    lab = TrialBlocks(releases, claims, program_settings, check=True)
    everybody = named_gap(bits, ["V.0"], "")
    before, zeros, both = (
        lab.households(gap, withhold).sum(axis=0) for gap, withhold in ((NO_GAP, ()), (NO_GAP, (0,)), (everybody, (0,)))
    )
    assert before[:3].min() > 0
    assert zeros.tolist() == before.tolist()
    assert lab.households(everybody, ()).sum(axis=0).tolist() == before.tolist()
    assert (both[:-1] <= before[1:]).all()
    assert both.sum() > 0


def test_the_search_finds_the_line_that_was_left_out(
    bits: Schema, releases: list[Release], claims: Mapping[str, BlockClaims], program_settings: ProgramSettings
) -> None:
    """A paper that lost what V.0 costs is explained by V.0."""
    lab = TrialBlocks(releases, claims, program_settings, check=False)
    before, after = (
        lab.households(gap, withhold).sum(axis=0) for gap, withhold in ((NO_GAP, ()), (named_gap(bits, ["V.0"], ""), (0,)))
    )
    paper = np.nan_to_num(losses(before, after))
    ranked, larger = Search(lab, paper, len(bits.queries), ROUNDS).steps(possible_gaps(bits), 2)
    assert ranked[0].gap.cells == {bits.position["V.0"]}
    assert ranked[0].table5 == pytest.approx(0)
    assert ranked[0].table4 == 0
    assert ranked[0].score == pytest.approx(100 / len(bits.queries))
    assert [step.score for step in ranked] == sorted(step.score for step in ranked)
    assert all(ranked[0].gap.cells < step.gap.cells for step in larger)
    frame = steps_frame([*ranked, *larger])
    assert frame["missing"].iloc[0].endswith("V.0")
    assert set(frame["size"]) == {1, 2}


def test_a_block_is_decided_once(
    bits: Schema, releases: list[Release], claims: Mapping[str, BlockClaims], program_settings: ProgramSettings
) -> None:
    lab = TrialBlocks(releases, claims, program_settings, check=False)
    lab.households(NO_GAP, (0,))
    known = len(lab.known)
    lab.households(Gap("answers that are withheld anyway", frozenset({bits.position["V.1"]})), (0,))
    assert len(lab.known) == known == len(claims)


def test_blocks_without_claims_have_no_households(releases: list[Release], program_settings: ProgramSettings) -> None:
    assert TrialBlocks(releases, {}, program_settings, check=True).households(NO_GAP, ()).sum() == 0


def test_losses_and_their_distance() -> None:
    lost = losses([10, 10, 0, 4, 0], [5, 10, 0, 1, 0])
    assert lost[:2].tolist() == [0.5, 0.0]
    assert np.isnan(lost[2])
    assert distance(lost, np.array([0.5, 0.2, 0.2, 0.75, 1.0])) == pytest.approx(10)
    assert paper_losses(PRINTED["table5"]["variants"], "no_zeros").tolist() == [0.5] * 5


def test_a_false_claim_is_an_error(bits: Schema, records: pd.DataFrame) -> None:
    wrong = claim_columns([Claim((1,) * 8, 1)], bits.domain.names).assign(block="0")
    with pytest.raises(DataError, match="block 0: a verified singleton claim is false"):
        find_households(wrong, records)


def test_codes_are_forced_into_blocks_that_lack_them(records: pd.DataFrame) -> None:
    forced = _force_codes(records, {"A": 1, "B": 1}, 1)
    has = (forced["A"] == 1) & (forced["B"] == 1)
    assert (has.groupby(forced["block"]).sum() >= 1).all()
    before = (records["A"] == 1) & (records["B"] == 1)
    changed = (forced != records).any(axis=1).groupby(records["block"]).sum()
    assert (changed == (before.groupby(records["block"]).sum() == 0)).all()
    pd.testing.assert_frame_equal(forced, _force_codes(records, {"A": 1, "B": 1}, 1))


def test_one_code_is_forced_into_columns_as_they_are_stored(records: pd.DataFrame) -> None:
    stored = records.astype({"A": "int8", "B": "int8"})
    forced = _force_codes(stored, {"A": 1}, 1)
    assert forced.dtypes.equals(stored.dtypes)
    assert (forced["A"].eq(1).groupby(forced["block"]).sum() >= 1).all()


def test_the_onehot_program_is_asked_what_holds_without_zeros(
    releases: list[Release], claims: Mapping[str, BlockClaims], program_settings: ProgramSettings
) -> None:
    chosen = list(choose_claims(releases, claims, program_settings, 2, 1))
    assert {claim.k for _, claim in chosen} <= {6, 7, 8}
    assert max(pd.Series([claim.k for _, claim in chosen]).value_counts()) <= 2
    found = decide_both(chosen, "highs", 10_000, 60.0)
    counted = _verified_by_k(found)
    assert (counted["tried"] == counted["with_zeros"]).all()
    assert (counted["tried"] == counted["without_zeros"]).all()
    assert counted["tried"].sum() == len(chosen) > 0


def test_the_table_and_the_page(
    bits: Schema, releases: list[Release], claims: Mapping[str, BlockClaims], program_settings: ProgramSettings
) -> None:
    gaps = {"exact": NO_GAP, "nobody": named_gap(bits, ["V.0"], "")}
    decided = try_gaps(gaps, releases, claims, program_settings)
    assert len(decided) == 2 * len(WITHHELD) * len(releases) * 5
    onehot = pd.DataFrame({"k": [6, 6], "with_zeros": ["verified"] * 2, "without_zeros": ["verified", "undecided"]})
    table = losses_table(decided, onehot, PRINTED, 1, "synthetic")
    by = table.set_index(["explanation", "withheld", "k"])
    assert by.loc[("exact", "no_zeros", 6), "loss"] == 0
    assert by.loc[("exact", "no_zeros", 6), "paper_loss"] == 50
    assert by.loc[("nobody", "no_zeros", 8), "loss"] == 100
    assert by.loc[("one-hot program", "no_zeros", 6), "loss"] == 50
    assert by.loc[("Table 4, ten, one column later", "no_zeros", 6), "after"] == 8
    assert (table["low"].isna() | (table["low"] <= table["loss"])).all()
    lab = TrialBlocks(releases, claims, program_settings, check=False)
    steps = list(Search(lab, np.full(5, 0.5), len(bits.queries), ROUNDS).steps(possible_gaps(bits), 1))
    page = zeros_page(table, steps_frame(steps[0]), onehot, PRINTED, "synthetic")
    assert "Data: **synthetic**" in page
    assert "| nobody | V.0 | 1 |" in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"explanations": {"odd": {"records": "gone"}}}, "explanation odd is about the records 'gone', which do not exist"),
        ({"records": {"sampled": {"TEN": 4}}}, "records must hold `sampled: {}`"),
        ({"explanations": {"odd": {"mising": []}}}, "unknown setting zeros.explanations.odd.mising: did you mean missing"),
        ({"explanations": {"../odd": {}}}, "cannot be a name"),
    ],
)
def test_settings_that_cannot_be_meant(config: dict[str, Any], change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_config(merge(config, {"zeros": change}))


def test_an_explanation_is_a_change_to_the_default(config: dict[str, Any]) -> None:
    zeros = parse_config(config).zeros
    assert zeros.explanations["occupied"].records == "sampled"
    assert zeros.explanations["occupied"].missing
