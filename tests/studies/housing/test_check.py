"""The check of a detection: forged tables and forged certificates are refused; what is accepted is what the proofs show."""

import shutil
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

from genverify.checker.certificate import read_proofs, write_proofs
from genverify.model.errors import GenverifyError
from genverify.model.proof_form import HOUSING, new_certificate
from genverify.solve.program_settings import DEFAULT
from studies.housing import check
from studies.housing.check import Detection, check_detection
from studies.housing.detect import detect_block, detected_frame
from studies.housing.households import read_household_file
from studies.housing.joint_program import provable_parts, read_block, read_percentages, read_statistics

DATA = Path(__file__).parents[3] / "data" / "housing"
PROGRAM = DEFAULT.but(max_types=100_000, iterations=100_000, seconds=30.0)
ZEROS = {f"SIZE_{x}": 0 for x in range(1, 8)} | {f"RACE_{x}": 0 for x in range(1, 15)} | {"CHILDREN": 0}
PERCENT = ("BED_2", "BED_3", "BLACK", "NATIVE", "ASIAN_PACIFIC", "HISPANIC", "MINORITY", "ONE_ADULT", "TWO_ADULTS")
Text = dict[str, Any]


def block(name: str, twos: int, threes: int, **changes: int) -> Text:
    """Households of two and of three persons, all subsidized and in units of one bedroom: each of three is a violation."""
    n, persons = twos + threes, 2 * twos + 3 * threes
    hud = {"HUD_N": n, "HUD_P": persons, "HUD_UNITS": n, "HUD_BED_1": 100} | {f"HUD_{percent}": 0 for percent in PERCENT}
    return {"block": name, "N": n, "P": persons, **ZEROS, "SIZE_2": twos, "SIZE_3": threes, "RACE_1": n, **hud, **changes}


ROWS = [block("one", 2, 1), block("two", 1, 2), block("none", 3, 0), block("odd", 2, 1, P=6)]
LEAST = {"one": 1, "two": 2, "none": 0}  # of every dataset that fits; none fits the block "odd"


def detect(home: Path, rows: list[Text], reading: str = "appendix_e") -> Detection:
    """The files of a detection."""
    names = ("statistics.parquet", "blocks.parquet", "proofs.jsonl.gz")
    found = Detection(*(home / name for name in names), DATA / "domain.yaml", DATA / "published.yaml", reading)
    pd.DataFrame(rows).to_parquet(found.statistics)
    file, percentages = read_household_file(found.domain), read_percentages(found.published)
    read = read_statistics(found.statistics, percentages)
    blocks = [detect_block(row, name, file, percentages, reading, PROGRAM) for name, row in read]
    detected_frame(blocks).to_parquet(found.blocks, index=False)
    write_proofs([one.certificate for one in blocks if one.certificate], found.proofs)
    return found


@pytest.fixture(scope="module")
def detected(tmp_path_factory: pytest.TempPathFactory) -> Detection:
    """Detected once; tests change copies."""
    return detect(tmp_path_factory.mktemp("detected"), ROWS)


@pytest.fixture
def found(tmp_path: Path, detected: Detection) -> Detection:
    files = {name: shutil.copy(getattr(detected, name), tmp_path) for name in ("statistics", "blocks", "proofs")}
    return replace(detected, **{name: Path(path) for name, path in files.items()})


def lines_of(found: Detection) -> list[Text]:
    return [{str(k): v for k, v in line.items()} for line in pd.read_parquet(found.blocks).to_dict("records")]


def rewrite(found: Detection, lines: list[Text], texts: list[Text]) -> Detection:
    pd.DataFrame(lines).to_parquet(found.blocks, index=False)
    write_proofs(texts, found.proofs)
    return found


def test_an_honest_detection_is_right(found: Detection) -> None:
    assert check_detection(found) == {"violation": 2, "possible": 1, "contradiction": 1}
    assert {line["block"]: line["least_violations"] for line in lines_of(found)} == {**LEAST, "odd": 0}


FORGED_LINES: list[tuple[str, str, Text, str]] = [
    ("possible called a violation", "none", {"verdict": "violation"}, "'violation' has no certificate in"),
    ("counted, but not flagged", "none", {"verdict": "violation", "least_violations": 1}, "has no certificate"),
    ("possible, but flagged", "none", {"flagged": True}, "flagged is True, but False by"),
    ("possible, with a least number", "none", {"least_violations": 1}, "least_violations is 1, but 0 by"),
    ("more than is proved", "one", {"least_violations": 2}, "least_violations is 2, but 1 by"),
    ("less than is proved", "two", {"least_violations": 1}, "least_violations is 1, but 2 by"),
    ("violation, not flagged", "one", {"flagged": False}, "flagged is False, but True by"),
    ("violation called a contradiction", "one", {"verdict": "contradiction"}, "'contradiction', but 'violation' by"),
    ("contradiction called a violation", "odd", {"verdict": "violation"}, "'violation', but 'contradiction' by"),
    ("contradiction with a least number", "odd", {"least_violations": 3}, "least_violations is 3, but 0 by"),
    (
        "a proof that is not counted",
        "one",
        {"verdict": "possible", "flagged": False, "least_violations": 0},
        "'possible', but",
    ),
    ("unknown verdict", "none", {"verdict": "certain"}, "'certain' is not a verdict"),
    ("verdict in capitals", "none", {"verdict": "Possible"}, "'Possible' is not a verdict"),
    ("no verdict", "none", {"verdict": None}, "None is not a verdict"),
    ("other households", "none", {"n": 4}, "n is 4, but 3 by"),
    ("other subsidized households", "one", {"n_s": 1}, "n_s is 1, but 3 by"),
    ("unknown block", "none", {"block": "other"}, "block none, which is in .*statistics.parquet, is missing"),
    ("duplicated block", "none", {"block": "one"}, "'one' is duplicated"),
]


@pytest.mark.parametrize(
    ("name", "changes", "message"), [line[1:] for line in FORGED_LINES], ids=[x[0] for x in FORGED_LINES]
)
def test_a_row_that_its_proof_does_not_show_is_refused(found: Detection, name: str, changes: Text, message: str) -> None:
    lines = [{**line, **changes} if line["block"] == name else line for line in lines_of(found)]
    rewrite(found, lines, list(read_proofs(found.proofs)))
    with pytest.raises(GenverifyError, match=message):
        check_detection(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:-1], "block odd, which is in .*statistics.parquet, is missing"),
        (lambda lines: [*lines, {**lines[0], "block": "more"}], "block more, which is in .*blocks.parquet, is missing"),
        (lambda lines: [*lines, lines[2]], "'none' is duplicated"),
        (lambda lines: [{k: v for k, v in line.items() if k != "flagged"} for line in lines], "flagged"),
        (
            lambda lines: [{**line, "least_violations": float(line["least_violations"])} for line in lines],
            "least_violations",
        ),
        (lambda lines: [{**line, "flagged": int(line["flagged"])} for line in lines], "flagged is 1, but True"),
    ],
    ids=["missing", "added", "duplicated", "no column", "no integers", "no truth values"],
)
def test_a_table_of_other_blocks_or_values_is_refused(
    found: Detection, change: Callable[[list[Text]], list[Text]], message: str
) -> None:
    rewrite(found, change(lines_of(found)), list(read_proofs(found.proofs)))
    with pytest.raises(GenverifyError, match=message):
        check_detection(found)


def bare(found: Detection, name: str) -> Text:
    """A certificate about a block that shows nothing, with the digest of its release."""
    file, percentages = read_household_file(found.domain), read_percentages(found.published)
    row = dict(read_statistics(found.statistics, percentages))[name]
    parts = provable_parts(read_block(row, name, file, percentages, found.reading), file, found.reading)
    return new_certificate(HOUSING, name, parts[0].digest, lemmas=[], proofs=[])


def bounds_of(text: Text) -> list[Text]:
    return [said for said in text["statements"] or [] if said["goal"] == "at least"]


NEVER_EMPTY = {"goal": "never", "where": {}, "m": 0, "proof": {"kind": "empty", "y": {"N": -1}, "c": 1}}
"""It is impossible that the block holds no household: true of every block, and about no violation."""
ANYBODY = {"goal": "at least", "where": {}, "m": 1, "proof": {"kind": "bound", "y": {"N": -1}}}
NOBODY = {"goal": "at least", "where": {"VIOLATION": 1}, "m": 0, "proof": {"kind": "bound", "y": {}}}
SHORT = {"goal": "at least", "where": {"VIOLATION": 0}, "m": 1, "proof": {"kind": "bound", "y": {"SIZE_2": -1}}}
FORGED_PROOFS: list[tuple[str, Text, str]] = [
    ("null", {"statements": [{"goal": "nothing fits", "proof": None}]}, "proof: NoneType .* is not an object"),
    ("an impossible count of anything", {"statements": [NEVER_EMPTY]}, "shows nothing"),
    ("nothing", {"statements": []}, "shows nothing"),
    ("a bound on all households", {"statements": [ANYBODY]}, r"shows COUNT\(.*\) >= 1"),
    ("a bound on those that obey", {"statements": [SHORT]}, r"shows COUNT\(VIOLATION=0\) >= 1"),
    ("no violation or more", {"statements": [NOBODY]}, r"shows COUNT\(VIOLATION=1\) >= 0"),
    ("two bounds", {"statements": [NOBODY, NOBODY]}, "takes one statement"),
    ("a bound that is not shown", {"statements": [{**NOBODY, "m": 1}]}, "shows only COUNT >= 0"),
    ("no statements", {"statements": None}, "has no list of statements"),
    (
        "no contradiction",
        {"statements": [{"goal": "nothing fits", "proof": {"kind": "empty", "y": {"N": 1}}}]},
        "the sum is 3, not below 0",
    ),
    ("another model", {"model": "records", "about": {"kind": "release", "name": "none", "digest": ""}}, "where housing is"),
]


@pytest.mark.parametrize(("forged", "message"), [x[1:] for x in FORGED_PROOFS], ids=[x[0] for x in FORGED_PROOFS])
@pytest.mark.parametrize("verdict", ["violation", "contradiction"])
def test_a_certificate_that_shows_something_else_is_refused(
    found: Detection, forged: Text, message: str, verdict: str
) -> None:
    """The block without a violation, flagged with a certificate that is well formed but shows no such thing."""
    texts = list(read_proofs(found.proofs))
    claimed = {"verdict": verdict, "flagged": True, "least_violations": int(verdict == "violation")}
    lines = [{**line, **claimed} if line["block"] == "none" else line for line in lines_of(found)]
    rewrite(found, lines, [*texts, bare(found, "none") | forged])
    with pytest.raises(GenverifyError, match=message):
        check_detection(found)


def test_races_contradict_only_where_the_reading_takes_one_race_each(tmp_path: Path) -> None:
    """Appendix E reads sets of races: six races of three households are no contradiction, though single ones would be."""
    found = detect(tmp_path, [block("none", 3, 0, RACE_2=3), block("one", 2, 1)])
    assert check_detection(found) == {"possible": 1, "violation": 1}
    [text], lines = list(read_proofs(found.proofs)), lines_of(found)
    node = {"kind": "empty", "y": {"N": 1, "RACE_1": -1, "RACE_2": -1}}
    forged = bare(found, "none") | {"statements": [{"goal": "nothing fits", "proof": node}]}
    rewrite(found, [{**lines[0], "verdict": "contradiction", "flagged": True}, lines[1]], [forged, text])
    with pytest.raises(GenverifyError, match="'RACE_1' is not a published cell"):
        check_detection(found)
    exact = detect(tmp_path, [block("none", 3, 0, RACE_2=3)], "exact")
    assert check_detection(exact) == {"contradiction": 1}


def test_more_violations_than_subsidized_households_are_a_contradiction(found: Detection) -> None:
    """Of counts that no dataset fits any bound follows: the multipliers of the contradiction, taken often enough."""
    texts, lines = list(read_proofs(found.proofs)), lines_of(found)
    text = texts[-1]
    assert text["about"]["name"] == "odd"
    leaf = text["statements"][0]["proof"]
    leaf = {"kind": "bound", "y": {cell: 1000 * y for cell, y in leaf["y"].items()}}
    text["statements"] = [{"goal": "at least", "where": {"VIOLATION": 1}, "m": 1000, "proof": leaf}]
    lines[-1] |= {"verdict": "violation", "least_violations": 1000}
    with pytest.raises(GenverifyError, match="1000 violations are shown of 3 subsidized households"):
        check_detection(rewrite(found, lines, texts))


def test_statistics_that_name_a_block_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GenverifyError, match="block one: it is duplicated"):
        detect(tmp_path, [ROWS[0], ROWS[0]])


# Random forgeries

COLUMNS: dict[str, list[Any]] = {
    "verdict": ["violation", "possible", "contradiction", "undecided", "suppressed", "", None],
    "flagged": [True, False],
    "least_violations": [0, 1, 2, 3, -1],
    "n": [2, 3, 4],
    "n_s": [0, 3],
    "block": ["one", "two", "none", "odd"],
}


def forge_line(random: Random, lines: list[Text], texts: list[Text]) -> None:
    column = random.choice(["verdict", "flagged", "least_violations", *COLUMNS])
    random.choice(lines)[column] = random.choice(COLUMNS[column])


def forge_verdict(random: Random, lines: list[Text], texts: list[Text]) -> None:
    """A row that agrees with itself."""
    verdict = random.choice(["violation", "possible", "contradiction", "undecided"])
    least = random.randint(1, 3) if verdict == "violation" else 0
    random.choice(lines).update(verdict=verdict, flagged=verdict in ("violation", "contradiction"), least_violations=least)


def forge_m(random: Random, lines: list[Text], texts: list[Text]) -> None:
    """Another bound, in the certificate and in the row."""
    text, m = random.choice(texts), random.randint(0, 3)
    for statement in bounds_of(text):
        statement["m"] = m
    for line in lines:
        if line["block"] == text["about"]["name"]:
            line["least_violations"] = m


def forge_where(random: Random, lines: list[Text], texts: list[Text]) -> None:
    for statement in bounds_of(random.choice(texts)):
        statement["where"] = random.choice([{}, {"VIOLATION": 0}, {"BEDROOMS": 1}, {"VIOLATION": 1, "BEDROOMS": 1}])


def forge_multiplier(random: Random, lines: list[Text], texts: list[Text]) -> None:
    text = random.choice(texts)
    nodes = [statement["proof"] for statement in text["statements"] or []]
    for node in nodes:
        while node and "kind" not in node:
            node = node[random.choice(["below", "above"])]
        if node:
            cell = random.choice([*node["y"], "N", "P", "HUD_N", "HUD_P", "SIZE_3"])
            node["y"][cell] = node["y"].get(cell, 0) + random.choice([-2, -1, 1, 2])


def forge_text(random: Random, lines: list[Text], texts: list[Text]) -> None:
    """A certificate of another kind, dropped, doubled, or given to another block."""
    text = random.choice(texts)
    kind = random.choice(["drop", "double", "give", "replace"])
    if kind == "drop":
        texts.remove(text)
    elif kind == "double":
        texts.append(deepcopy(text))
    elif kind == "give":
        texts.append({**deepcopy(text), "about": text["about"] | {"name": random.choice(COLUMNS["block"])}})
    else:
        texts[texts.index(text)] = {**text, **deepcopy(random.choice(FORGED_PROOFS)[1])}


FORGERIES = [forge_line, forge_verdict, forge_m, forge_where, forge_multiplier, forge_text]


def wrong(lines: list[Text], texts: list[Text]) -> list[str]:
    """Blocks whose row is false of its statistics, or says something else than its certificate."""
    certified = {text["about"]["name"]: text for text in texts}
    truth = {row["block"]: row for row in ROWS}
    found = [] if sorted(line["block"] for line in lines) == sorted(truth) else ["blocks"]
    for line in lines:
        name, verdict, least = (line[column] for column in ("block", "verdict", "least_violations"))
        text = certified.get(name)
        right = (line["n"], line["n_s"]) == (truth[name]["N"], truth[name]["HUD_N"])
        if verdict == "violation":
            right &= text is not None and [x["m"] for x in bounds_of(text)] == [least] and 1 <= least <= LEAST.get(name, 0)
        elif verdict == "contradiction":
            right &= (
                text is not None
                and [x["goal"] for x in text["statements"]] == ["nothing fits"]
                and name == "odd"
                and least == 0
            )
        else:
            right &= verdict in ("possible", "undecided") and text is None and least == 0
        right &= line["flagged"] == (verdict in ("violation", "contradiction"))
        found += [] if right else [name]
    return found


def test_no_forged_detection_is_accepted_for_what_is_false(found: Detection, monkeypatch: pytest.MonkeyPatch) -> None:
    for read in (read_statistics, read_percentages, read_household_file):  # files that are not forged, read once
        monkeypatch.setattr(check, read.__name__, cache(read))
    random, lines, texts = Random(11), lines_of(found), list(read_proofs(found.proofs))
    tried = accepted = changed = 0
    while tried < 250:
        forged, certificates = deepcopy(lines), deepcopy(texts)
        for _ in range(random.choice([1, 1, 2, 3])):
            if certificates:
                random.choice(FORGERIES)(random, forged, certificates)
        tried += 1
        try:
            check_detection(rewrite(found, forged, certificates))
        except GenverifyError:
            continue
        accepted += 1
        changed += (forged, certificates) != (lines, texts)
        assert not wrong(forged, certificates), (forged, certificates)
    assert changed >= 3, "what is weaker but true was accepted too, so the check refuses for what it should"
    assert accepted < tried / 2
