"""Detection of blocks with a violation: against all datasets that fit, on blocks so small that they can be listed."""

import copy
import json
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from genverify.checker.certificate import CertificateError
from genverify.checker.record_proofs import check_block
from genverify.model.domain import Predicate
from genverify.model.errors import DataError
from genverify.solve.bounds import Bounder
from genverify.solve.program import condition_classes
from genverify.solve.program_settings import DEFAULT
from studies.housing.detect import DetectionResult, Verdict, detect_block
from studies.housing.households import read_household_file
from studies.housing.joint_program import counts_behind, largest_size, read_block, read_percentages

DATA = Path(__file__).parents[3] / "data" / "housing"
FILE, PERCENTAGES = read_household_file(DATA / "domain.yaml"), read_percentages(DATA / "published.yaml")
PROGRAM = DEFAULT.but(max_types=100_000, iterations=100_000, seconds=30.0)
Household = tuple[int, int, int, int]  # bedrooms, size, children, race


def percent(count: int, base: int) -> int:
    return (200 * count + base) // (2 * base)


def statistics(block: list[Household]) -> dict[str, int]:
    """What the two agencies publish about a block."""
    own = [h for h in block if h[0]]
    row = {"N": len(block), "P": sum(h[1] for h in block), "CHILDREN": sum(h[2] for h in block)}
    row |= {f"SIZE_{x}": sum(min(h[1], 7) == x for h in block) for x in range(1, 8)}
    row |= {f"RACE_{x}": sum(h[3] == x for h in block) for x in range(1, 15)}
    row |= {"HUD_N": len(own), "HUD_UNITS": len(own), "HUD_P": sum(h[1] for h in own)}
    for p in PERCENTAGES:
        if p.where is not None:
            names = ("BEDROOMS", "SIZE", "CHILDREN", "RACE")
            held = [all(h[names.index(name)] in codes for name, codes in p.where.clauses) for h in own]
            row[p.name] = percent(sum(held), len(own))
    row["HUD_ONE_ADULT"] = percent(sum(h[2] > 0 and h[1] - h[2] <= 1 for h in own), len(own))
    row["HUD_TWO_ADULTS"] = percent(sum(h[2] > 0 and h[1] - h[2] > 1 for h in own), len(own))
    return row


def violations(block: tuple[Household, ...] | list[Household]) -> int:
    return sum((h[0] == 1 and h[1] > 2) or (h[0] == 2 and h[1] > 4) for h in block)


def tally(kinds: list[Household]) -> dict[str, Any]:
    """What every kind of household adds to the counts of a block; races are left to the test of races."""
    bedrooms, size, children, _ = np.array(kinds).T
    own = bedrooms > 0
    added = {f"SIZE_{x}": np.minimum(size, 7) == x for x in range(1, 8)}
    added |= {f"HUD_BED_{x}": bedrooms == x for x in (1, 2, 3)}
    added |= {"P": size, "CHILDREN": children, "HUD_N": own, "HUD_P": own * size, "PARENTS": own & (children > 0)}
    return {**added, "VIOLATIONS": np.array([violations([kind]) for kind in kinds])}


def fits(row: dict[str, int], counts: dict[str, Any], exact: bool) -> Any:
    """Which datasets have the statistics, as each reading takes them."""
    same = np.all([counts[name] == row[name] for name in ("P", "HUD_N", *(f"SIZE_{x}" for x in range(1, 8)))], axis=0)
    for name in ("CHILDREN", "HUD_P"):
        same &= counts[name] == row[name] if exact else counts[name] >= row[name]
    for x in (1, 2, 3):
        count, (lo, hi) = counts[f"HUD_BED_{x}"], counts_behind(row[f"HUD_BED_{x}"], row["HUD_UNITS"])
        same &= (lo <= count) & ((count <= hi) | (not exact))
    (lo, hi), (more_lo, more_hi) = (counts_behind(row[name], row["HUD_N"]) for name in ("HUD_ONE_ADULT", "HUD_TWO_ADULTS"))
    return same & (lo + more_lo <= counts["PARENTS"]) & (counts["PARENTS"] <= hi + more_hi)


def some_block(random: Random) -> list[Household]:
    """Three or four households, at least one of them subsidized; few sizes, so that all datasets can be listed."""
    sizes = random.sample([1, 2, 3, 5, 7, 8], 2)
    block = []
    for place in range(random.randint(2, 4)):
        size = random.choice(sizes)
        block.append(
            (random.randint(1, 3) if place == 0 else random.randint(0, 3), size, random.randint(0, min(size, 3)), 1)
        )
    return block


def least_of_all(block: list[Household], row: dict[str, int], exact: bool) -> int:
    """The fewest violations over every dataset that fits."""
    sizes = range(1, max(largest_size(row), 1) + 1)
    used = [x for x in sizes if row[f"SIZE_{min(x, 7)}"]]
    kinds = [(b, x, c, 1) for b in range(4) for x in used for c in range(x + 1)]
    if len(kinds) ** len(block) > 150_000:
        return -1
    every = np.array(list(combinations_with_replacement(range(len(kinds)), len(block))))
    counts = {name: added[every].sum(axis=1) for name, added in tally(kinds).items()}
    return int(counts["VIOLATIONS"][fits(row, counts, exact)].min())


def detected(row: dict[str, int], reading: str) -> DetectionResult:
    return detect_block(row, "b", FILE, PERCENTAGES, reading, PROGRAM)


def test_detection_is_that_of_brute_force_and_its_certificates_are_accepted() -> None:
    random, seen = Random(8), {"violation": 0, "possible": 0}
    for _ in range(100):
        block = some_block(random)
        row = statistics(block)
        for reading in ("appendix_e", "exact"):
            least = least_of_all(block, row, reading == "exact")
            found = detected(row, reading)
            found.check()
            if least >= 0:
                assert found.least == least, (block, reading)
                seen[found.verdict.value] += 1
                assert found.flagged == (least > 0)
            assert found.least <= violations(block)
    assert min(seen.values()) > 30


def test_no_mutated_certificate_flags_a_block_that_need_not_have_a_violation() -> None:
    random, tried = Random(5), 0
    while tried < 300:
        block = some_block(random)
        row = statistics(block)
        found = detected(row, "exact")
        if found.verdict is not Verdict.VIOLATION:
            continue
        innocent = detected(statistics([(3, *h[1:]) if h[0] else h for h in block]), "exact")
        assert innocent.verdict is Verdict.POSSIBLE
        assert found.certificate is not None
        for _ in range(20):
            text = json.loads(json.dumps(found.certificate))
            for bound in text["statements"]:
                leaf = bound["proof"]
                while "kind" not in leaf:
                    leaf = leaf[random.choice(["below", "above"])]
                name = random.choice([*leaf["y"], "N", "P", "HUD_P", "HUD_BED_1", "HUD_BED_3"])
                leaf["y"][name] = leaf["y"].get(name, 0) + random.choice([-2, -1, 1, 2])
            text["lemmas"] = []
            tried += 1
            with pytest.raises(CertificateError):
                check_block(innocent.release, text)


def test_the_certificate_of_a_violation_is_refused_for_other_counts() -> None:
    found = detected(statistics([(1, 3, 1, 1), (1, 2, 0, 1)]), "exact")
    assert (found.verdict, found.least) == (Verdict.VIOLATION, 1)
    text = copy.deepcopy(found.certificate)
    assert text is not None
    text["statements"][0]["m"] = 2
    with pytest.raises(CertificateError, match="shows only COUNT >= 1"):
        check_block(found.release, text)
    for wrong in (replace(found, least=2), replace(found, verdict=Verdict.CONTRADICTION), replace(found, certificate=None)):
        with pytest.raises(CertificateError):
            wrong.check()


def test_by_hand_a_full_house_in_one_bedroom() -> None:
    """All three households are subsidized, one bedroom each, seven persons: one of them has three or more."""
    block = [(1, 2, 0, 1), (1, 2, 0, 1), (1, 3, 1, 1)]
    assert detected(statistics(block), "appendix_e").least == 1
    assert detected(statistics([(0, 3, 1, 1), *block[:2], (3, 3, 1, 1)]), "appendix_e").verdict is Verdict.POSSIBLE


def test_counts_that_contradict_each_other_are_told_from_a_violation() -> None:
    row = statistics([(1, 2, 1, 1), (0, 2, 0, 2)])
    assert detected({**row, "HUD_P": 4}, "exact").verdict is Verdict.CONTRADICTION
    assert detected({**row, "HUD_BLACK": 100}, "exact").verdict is Verdict.CONTRADICTION
    assert detected({**row, "HUD_P": 4}, "appendix_e").verdict is Verdict.POSSIBLE


@pytest.mark.parametrize("reading", ["appendix_e", "exact"])
def test_percentages_of_more_households_than_there_are_contradict_with_a_proof(reading: str) -> None:
    """Nine subsidized households in ten have children and one adult, and as many have two: 18 of 10."""
    row = statistics([(1, 2, 1, 1)] * 9 + [(1, 2, 0, 1)])
    assert row["HUD_ONE_ADULT"] == 90
    found = detected({**row, "HUD_TWO_ADULTS": 90}, reading)
    assert (found.verdict, found.flagged, found.least) == (Verdict.CONTRADICTION, True, 0)
    found.check()


def test_the_races_do_not_change_what_is_detected() -> None:
    """Detection leaves races out: with all of them in one program the least number of violations is the same."""
    random = Random(3)
    for _ in range(40):
        block = [(*h[:3], random.choice([1, 2, 9])) for h in some_block(random)]
        row = statistics(block)
        release = read_block(row, "b", FILE, PERCENTAGES, "exact")
        bounder: Bounder = PROGRAM.bounder(release)
        sizes = release.schema.domain["SIZE"].codes
        limits = [({"BEDROOMS": [b], "SIZE": [s for s in sizes if s > most]}) for b, most in FILE.occupancy.items()]
        rows = [condition_classes(bounder.program, Predicate.of(where))[0] for where in limits]
        least, _ = bounder.maximum(-np.sum(rows, axis=0))
        assert detected(row, "exact").least == -least


@pytest.mark.parametrize("base", [3, 11, 40, 199, 350])
def test_a_percentage_gives_back_every_count_that_is_published_so(base: int) -> None:
    for count in range(base + 1):
        lo, hi = counts_behind(percent(count, base), base)
        assert lo <= count <= hi
        assert {percent(k, base) for k in range(lo, hi + 1)} == {percent(count, base)}


def test_a_percentage_that_no_count_has_is_taken_with_its_neighbours() -> None:
    assert counts_behind(10, 3) == (0, 1)


def test_means_of_several_properties_leave_a_percentage_more_open() -> None:
    row = statistics([(1, 2, 0, 1)] * 99 + [(2, 2, 0, 1)])
    known, open_ = (read_block({**row, "HUD_SLACK": off}, "b", FILE, PERCENTAGES, "exact") for off in (0, 1))
    place = [query.id for query in known.queries].index("HUD_BED_2")
    assert (known.lo[place], known.hi[place]) == (1, 1)
    assert (open_.lo[place], open_.hi[place]) == (0, 2)


def test_no_household_is_larger_than_the_population_allows() -> None:
    sizes = {f"SIZE_{x}": 0 for x in range(1, 8)}
    assert largest_size({**sizes, "N": 2, "P": 6, "SIZE_2": 1, "SIZE_4": 1}) == 6
    assert largest_size({**sizes, "N": 2, "P": 15, "SIZE_7": 2}) == 8
    assert largest_size({**sizes, "N": 3, "P": 20, "SIZE_2": 1, "SIZE_7": 1}) == 17  # one household without a size


def test_a_wrong_household_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "domain.yaml").write_text("columns: {A: {codes: {1: one}}}\nattributes: {}\noccupancy: {}\n")
    with pytest.raises(DataError, match="needs BEDROOMS, SIZE, CHILDREN, RACE"):
        read_household_file(tmp_path / "domain.yaml")
