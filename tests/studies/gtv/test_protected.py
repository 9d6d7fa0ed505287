"""Protected counts: what noise guarantees, that published counts fit a dataset, which claims from them are false."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import brute_force as brute
from genverify.attack.generate import generate_block
from genverify.attack.verify import claim_columns
from genverify.checker.record_proofs import check_block
from genverify.model.claims import ATTACKED, CONTRADICTORY, UNDECIDED, Claim
from genverify.model.domain import read_domain
from genverify.model.errors import ConfigError, DataError
from genverify.model.release import Release, Schema, empty_ranges, ranges_frame
from genverify.model.settings import ReleaseSettings, merge
from genverify.model.tabulate import tabulate
from genverify.run.config import parse_config
from genverify.solve.program_settings import ProgramSettings
from studies.country.sample import chosen_blocks
from studies.country.store import write_microdata
from studies.gtv.protected_attack import (
    Attack,
    Kinds,
    Noise,
    Search,
    TargetRanges,
    _noise_variance,
    _possible_schema,
    _queries_of,
    _read_blocks,
    build_kinds,
    check_unprotected,
    contradictory_rows,
    half_width,
    judge,
    publish,
    summarise,
)
from studies.gtv.settings import SwapColumns

NAMES = ("PET", "HOME", "AGE")
RECORDS = [(1, 1, 1), (2, 1, 3), (3, 2, 2), (1, 2, 4)]
PRIVATE = {"010010201001000": RECORDS, "010010201001001": [(1, 1, 1)] * 3}
SWAPPING = SwapColumns(key=["HOME"], size="HOME")


@pytest.fixture(scope="module")
def possible(toy: Path, toy_settings: ReleaseSettings) -> Schema:
    return _possible_schema(toy / "domain.yaml", toy_settings)


@pytest.fixture(scope="module")
def kinds(possible: Schema) -> Kinds:
    return build_kinds(possible, 1000)


def counts_of(schema: Schema, records: list[tuple[int, int, int]]) -> np.ndarray:
    columns = dict(zip(NAMES, np.array(records).T, strict=True))
    return tabulate(columns, np.array([0]), schema.domain, schema.queries)[0]


def release_of(schema: Schema, lo: np.ndarray, hi: np.ndarray, n: int) -> Release:
    return Release(schema, "010010201001000", n, np.arange(len(schema.queries)), lo, hi)


def table_of(blocks: dict[str, list[tuple[int, int, int]]]) -> pa.Table:
    """Blocks of records in the layout of the microdata store."""
    ids = [block for block, records in blocks.items() for _ in records]
    values = np.array([record for records in blocks.values() for record in records], dtype=np.int8)
    return pa.table({"block": ids, **dict(zip(NAMES, values.T, strict=True))})


def attack(kinds: Kinds, settings: ProgramSettings, min_k: int = 1) -> Attack:
    return Attack(settings, 20, min_k, lambda: kinds)


def test_kinds_are_the_records_that_the_rules_allow(kinds: Kinds, possible: Schema) -> None:
    records = brute.records_of(possible)
    assert len(records) == 3 * 2 * 4 - 4  # no dog in a flat
    drawn = {tuple(kinds.records(np.array([kind]), np.random.default_rng(seed))[0].tolist())
             for kind in range(kinds.program.classes) for seed in range(20)}  # fmt: skip
    assert drawn == set(records)


def test_replacing_a_record_changes_no_more_counts_than_the_noise_is_scaled_to(kinds: Kinds, possible: Schema) -> None:
    inside = {record: np.array([brute.matches(q.predicate, NAMES, record) for q in possible.queries])
              for record in brute.records_of(possible)}  # fmt: skip
    worst = max(int((inside[one] != inside[other]).sum()) for one, other in combinations(inside, 2))
    most = kinds.most(kinds.varies)
    assert most == max(int(flags[kinds.varies].sum()) for flags in inside.values())
    assert most < worst <= 2 * most
    rho = Fraction(2 * most) / (2 * _noise_variance(most, 0.5))  # squared sensitivity / (2 sigma^2)
    assert rho == Fraction(1, 2)


def test_a_smaller_strategy_needs_less_noise(kinds: Kinds, possible: Schema) -> None:
    everything, few = _queries_of(possible, "all"), _queries_of(possible, ["T1"])
    assert everything.sum() == len(possible.queries)
    assert [q.table for q, chosen in zip(possible.queries, few, strict=True) if chosen] == ["T1"] * 3
    assert Noise.of(kinds, few, 1.0, None).sigma2 < Noise.of(kinds, everything, 1.0, None).sigma2


def test_what_the_universe_fixes_gets_no_noise(census_possible: tuple[Schema, Kinds]) -> None:
    schema, kinds = census_possible
    fixed = [query.id for query, varies in zip(schema.queries, kinds.varies, strict=True) if not varies]
    assert fixed == [query.id for query in schema.queries if "VACS" in query.predicate.columns]
    assert {"H3.occupied", "H3.vacant"} <= set(fixed)


@pytest.fixture
def census_possible(root: Path, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> tuple[Schema, Kinds]:
    """Tables about all households and those about vacant ones, so that few kinds are left."""
    monkeypatch.chdir(root)
    settings = ReleaseSettings(**config["release"]).but(tables=["H3", "H5", "H13"])
    schema = _possible_schema(Path(config["microdata"]["domain"]), settings)
    return schema, build_kinds(schema, 2_000_000)


@pytest.mark.parametrize("rho", [0.2, 5.0])
def test_noised_microdata_fit_and_keep_n(
    kinds: Kinds, possible: Schema, program_settings: ProgramSettings, rho: float
) -> None:
    noise = Noise.of(kinds, _queries_of(possible, "all"), rho, None)
    counts, moved = counts_of(possible, RECORDS), 0
    for seed in range(15):
        lo, hi = noise.publish(counts, 4, np.random.default_rng(seed))
        assert (lo == hi).all()
        moved += bool((lo != counts).any())
        found = generate_block(release_of(possible, lo, hi, 4), program_settings, 3, seed)
        assert found.records.shape[1] == 4
    assert moved


def test_with_hardly_any_noise_the_microdata_have_the_true_counts(kinds: Kinds, possible: Schema) -> None:
    noise = Noise.of(kinds, _queries_of(possible, "all"), 10_000.0, None)
    counts = counts_of(possible, RECORDS)
    for seed in range(20):
        assert (noise.publish(counts, 4, np.random.default_rng(seed))[0] == counts).all()


def test_the_search_finds_what_brute_force_finds(kinds: Kinds, possible: Schema) -> None:
    """The least error over all datasets of three records, for noisy counts of several seeds."""
    rng = np.random.default_rng(3)
    every = brute.Truth(release_of(possible, np.zeros(16, dtype=int), np.full(16, 3), 3)).datasets
    columns = {name: every[:, :, place].ravel() for place, name in enumerate(NAMES)}
    counts = tabulate(columns, np.arange(0, every.shape[0] * 3, 3), possible.domain, possible.queries)
    for _ in range(10):
        wanted = TargetRanges(*(2 * [counts_of(possible, RECORDS[:3]) + rng.integers(-1, 2, 16)]))
        search = Search(kinds, wanted, 3, rng)
        assert search.error(search.nearest()) == wanted.errors(counts).sum(axis=1).min()


@pytest.mark.parametrize(("rho", "confidence"), [(3.0, 0.8), (2.0, 0.5)])
def test_intervals_hold_the_true_counts_with_the_stated_confidence(
    kinds: Kinds, possible: Schema, rho: float, confidence: float
) -> None:
    noise = Noise.of(kinds, _queries_of(possible, "all"), rho, confidence)
    counts, runs = counts_of(possible, RECORDS), 400
    held = 0
    for seed in range(runs):
        lo, hi = noise.publish(counts, 4, np.random.default_rng(seed))
        held += bool((lo <= counts).all() and (counts <= hi).all())
    assert confidence - 0.04 < held / runs < 1


def test_ranges_of_a_smaller_strategy_speak_of_its_queries_only(kinds: Kinds, possible: Schema) -> None:
    noise = Noise.of(kinds, _queries_of(possible, ["T1"]), 1.0, 0.9)
    frame = publish(table_of(PRIVATE), possible, noise, 1, "few")
    assert set(frame["query"]) == {"N", "T1.cat", "T1.dog", "T1.fish", "T1B.dog"}  # no dog lives in a flat, as is known
    as_microdata = Noise.of(kinds, _queries_of(possible, ["T1"]), 1.0, None)
    published = set(publish(table_of(PRIVATE), possible, as_microdata, 1, "few")["query"])
    assert published == {"N", *(query.id for query in possible.queries)}


@pytest.mark.parametrize("width", [0, 1])
def test_what_is_verified_from_ranges_is_what_brute_force_verifies(
    kinds: Kinds, possible: Schema, program_settings: ProgramSettings, width: int
) -> None:
    counts = counts_of(possible, RECORDS[:3])
    release = release_of(possible, np.maximum(counts - width, 0), np.minimum(counts + width, 3), 3)
    release.hi[:3] = release.lo[:3] = counts[:3]  # pets stay exact, so that something is left to verify
    found = attack(kinds, program_settings).block(release, 1)
    assert (found.status, found.undecided) == (ATTACKED, 0)
    truth = brute.Truth(release)
    verified = {claim.codes for claim in found.verified.claims} if found.verified else set()
    assert check_block(release, found.certificate).claims == len(verified)
    first = truth.datasets[0]
    expected = {codes for codes in candidates(first) if len(truth.counts(codes)) == 1}
    assert verified == expected
    assert verified


def candidates(records: np.ndarray) -> set[tuple[int, ...]]:
    """Every claim about at least one column that matches a record."""
    masks = [np.array(mask, dtype=bool) for mask in np.ndindex(2, 2, 2) if any(mask)]
    return {tuple(np.where(mask, record, -1).tolist()) for record in records for mask in masks}


def test_a_release_too_large_for_the_program_is_searched_and_the_rest_left_undecided(
    kinds: Kinds, possible: Schema, program_settings: ProgramSettings
) -> None:
    counts = counts_of(possible, RECORDS[:3])
    tiny = attack(kinds, program_settings.but(max_types=1))
    open_ = release_of(possible, np.zeros(16, dtype=int), np.full(16, 3), 3)
    assert tiny.block(open_, 1).status == ATTACKED
    assert tiny.block(open_, 1).verified is None
    assert tiny.block(open_, 1).undecided == 0
    known = release_of(possible, counts, counts, 3)
    exact = tiny.block(known, 1)
    assert exact.status == UNDECIDED
    first = np.arange(16) < 3
    some = release_of(possible, np.where(first, counts, 0), np.where(first, counts, 3), 3)
    left = tiny.block(some, 1)
    assert left.status == ATTACKED
    assert left.undecided >= 3  # one cat, one dog, one fish
    for release, entry in ((known, exact), (some, left)):
        assert check_block(release, entry.certificate).claims == 0


def test_contradictory_counts_are_reported(
    kinds: Kinds, possible: Schema, program_settings: ProgramSettings, tmp_path: Path
) -> None:
    counts = counts_of(possible, RECORDS)
    wrong = counts + (np.arange(16) == 0)  # a cat too many
    release = release_of(possible, wrong, wrong, 4)
    found = attack(kinds, program_settings).block(release, 1)
    assert found.status == CONTRADICTORY
    assert check_block(release, found.certificate).contradiction
    unproved = attack(kinds, program_settings.model_copy(update={"leaves": 0})).block(release, 1)  # no proof may have a leaf
    assert (unproved.status, check_block(release, unproved.certificate).contradiction) == (UNDECIDED, False)
    noise = Noise(kinds, kinds.varies, Fraction(100), 1)  # w is far too small, so that some range is empty
    lo, hi = noise.publish(counts, 4, np.random.default_rng(0))
    assert (lo > hi).any()
    path = tmp_path / "counts.parquet"
    ranges_frame([release_of(possible, lo, hi, 4)]).to_parquet(path)
    assert empty_ranges(path) == {"010010201001000"}
    row = {"block": "010010201001000", "n_households": 4, "status": CONTRADICTORY, "undecided_claims": 0}
    assert contradictory_rows(path, empty_ranges(path)) == [row]


def store(tmp_path: Path, toy: Path) -> tuple[Path, dict[str, list[tuple[int, int, int]]]]:
    """Two states of twenty blocks of five records."""
    rng = np.random.default_rng(5)
    blocks = {}
    for state in ("01", "56"):
        for number in range(20):
            values = rng.integers([1, 1, 1], [4, 3, 5], size=(5, 3))
            values[(values[:, 1] == 2) & (values[:, 0] == 2), 0] = 1
            blocks[f"{state}0010201001{number:03d}"] = [tuple(map(int, row)) for row in values]
    write_microdata([table_of(blocks)], tmp_path / "store", read_domain(toy / "domain.yaml").domain)
    return tmp_path / "store", blocks


def rows_of(table: pa.Table, *columns: str) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row[name] for name in columns) for row in table.to_pylist())


def test_swapping_keeps_the_key_of_every_block_and_the_records_of_every_state(
    tmp_path: Path, toy: Path, possible: Schema, kinds: Kinds, program_settings: ProgramSettings
) -> None:
    folder, blocks = store(tmp_path, toy)
    keeps = read_domain(toy / "domain.yaml").universe("owners").keeps
    plain = _read_blocks(folder, set(blocks), keeps, NAMES, 0.0, SWAPPING, 1)
    swapped = _read_blocks(folder, set(blocks), keeps, NAMES, 0.5, SWAPPING, 1)
    assert rows_of(plain, "block", *NAMES) == Counter((b, *r) for b, records in blocks.items() for r in records)
    assert rows_of(swapped, "block", "HOME") == rows_of(plain, "block", "HOME")
    assert rows_of(swapped, *NAMES) == rows_of(plain, *NAMES)
    changed = rows_of(swapped, "block", *NAMES) - rows_of(plain, "block", *NAMES)
    assert 20 < changed.total() <= 100
    some = sorted(blocks)[:3]
    part = _read_blocks(folder, some, keeps, NAMES, 0.5, SWAPPING, 1)
    assert rows_of(part, "block", *NAMES) == Counter(
        {row: n for row, n in rows_of(swapped, "block", *NAMES).items() if row[0] in some}
    )
    frame = publish(part, possible, None, 1, "swapped")
    for _, own in frame.groupby("block"):
        counts = own["lo"].to_numpy()[1:]
        assert attack(kinds, program_settings).block(release_of(possible, counts, counts, 5), 1).status == ATTACKED


def test_false_claims_are_counted_by_hand() -> None:
    """RECORDS hold one dog, one fish, two cats, of which one in a flat."""
    said = [
        (Claim((2, -1, -1), 1), "true, one"),
        (Claim((2, 1, -1), 1), "true, one"),
        (Claim((3, 1, -1), 1), "false, one: the fish lives in a flat"),
        (Claim((1, -1, -1), 1), "false, one: there are two cats"),
        (Claim((1, -1, -1), 2), "true, two"),
        (Claim((-1, 2, -1), 3), "false, three: two live in flats"),
    ]
    claims = claim_columns([claim for claim, _ in said], NAMES).assign(block="010010201001000")
    records = table_of(PRIVATE).to_pandas()
    blocks = pd.DataFrame(
        [{"block": block, "n_households": len(rows), "status": status, "undecided_claims": 0}
         for (block, rows), status in zip(PRIVATE.items(), (ATTACKED, CONTRADICTORY), strict=True)]
    )  # fmt: skip
    judged = judge(claims, blocks, records)
    row = judged.iloc[0]
    assert (row["claims"], row["false"], row["singleton_claims"], row["singleton_false"]) == (6, 3, 4, 2)
    assert row["households_singled_out"] == 1  # the dog's
    assert judged.iloc[1][["claims", "false", "households_singled_out"]].tolist() == [0, 0, 0]
    how = {"swap": 0.0, "rho": None}
    summary = summarise("none", how, judged, 1)
    assert summary["contradictory_blocks"] == 1
    assert (summary["all_claims_verified_from_release"], summary["all_claims_false"]) == (6, 3)
    assert summary["all_share_false"] == 0.5
    assert summary["singleton_share_false"] == 0.5
    with pytest.raises(DataError, match=r"3 claims verified from unprotected counts \(none\) are false"):
        check_unprotected(summary)
    check_unprotected({**summary, "rho": 1.0})
    check_unprotected({**summary, "swap": 0.1})


def test_without_claims_there_is_no_share(tmp_path: Path) -> None:
    blocks = pd.DataFrame([{"block": "010010201001000", "n_households": 4, "status": ATTACKED, "undecided_claims": 2}])
    summary = summarise("x", {"swap": 0.0, "rho": 1.0}, judge(pd.DataFrame({"block": []}), blocks, pd.DataFrame()), 1)
    assert summary["all_claims_verified_from_release"] == 0
    assert np.isnan(summary["all_share_false"])
    assert summary["undecided_claims"] == 2


@pytest.mark.parametrize("rho", [0.0, -1.0, float("inf"), float("nan")])
def test_a_budget_must_be_above_0(rho: float) -> None:
    with pytest.raises(ConfigError, match=r"a budget rho of .*: give a number above 0"):
        _noise_variance(3, rho)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 1.5])
def test_a_confidence_must_lie_between_0_and_1(confidence: float) -> None:
    with pytest.raises(ConfigError, match=r"a confidence of .*: give a number above 0 and below 1"):
        half_width(Fraction(1), 16, confidence)


def test_a_swap_rate_above_1_and_an_unknown_column_are_refused(tmp_path: Path, toy: Path) -> None:
    folder, blocks = store(tmp_path, toy)
    keeps = read_domain(toy / "domain.yaml").universe("owners").keeps
    with pytest.raises(ConfigError, match=r"swap rate 1\.5: .* from 0 to 1"):
        _read_blocks(folder, set(blocks), keeps, NAMES, 1.5, SWAPPING, 1)
    with pytest.raises(ConfigError, match=r"protected\.swapping: no column 'HOM': did you mean HOME\?"):
        _read_blocks(folder, set(blocks), keeps, NAMES, 0.1, SWAPPING.but(key=["HOM"]), 1)


def test_an_unknown_table_and_an_unknown_design_are_refused(possible: Schema) -> None:
    with pytest.raises(ConfigError, match=r"unknown table 'T9': .*known: T1, T1A"):
        _queries_of(possible, ["T1", "T9"])
    sample = pd.DataFrame({"block": ["1"], "design": ["country_median"]})
    with pytest.raises(DataError, match=r"protected\.blocks\.design is 'median', .*known: country_median"):
        chosen_blocks(sample, "median", 3, 1, "protected")


def test_records_that_cannot_exist_are_refused_where_noise_is_scaled_to_the_others(kinds: Kinds, possible: Schema) -> None:
    noise = Noise.of(kinds, _queries_of(possible, "all"), 1.0, None)
    with pytest.raises(DataError, match="1 records break the rule 'no-dog-in-a-flat', the first of them in block 0100102"):
        publish(table_of({"010010201001000": [(2, 2, 1), (1, 1, 1)]}), possible, noise, 1, "noised")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"swap": 1.2}, "protected.protections.odd.swap = 1.2: input should be less than or equal to 1"),
        ({"noise": {"rho": 0.0}}, "noise.rho = 0.0: input should be greater than 0"),
        ({"noise": {"confidence": 1.0}}, "noise.confidence = 1.0: input should be less than 1"),
        ({"noise": {"confidence": None}}, "protections.odd: noise.publish is intervals and noise.confidence None: give one"),
        ({"noise": {"publish": "microdata"}}, "noise.publish is microdata and noise.confidence 0.9: set it to null"),
    ],
)
def test_wrong_settings_are_named(config: dict[str, Any], change: dict[str, Any], words: str) -> None:
    right = {"swap": 0.0, "noise": {"rho": 1.0, "publish": "intervals", "confidence": 0.9, "tables": "all"}}
    parse_config(merge(config, {"protected": {"protections": {"odd": right}}}))
    with pytest.raises(ConfigError) as error:
        parse_config(merge(config, {"protected": {"protections": {"odd": merge(right, change)}}}))
    assert words in str(error.value)
