"""The block explorer: what its pieces hold, that a proof serves its whole group, that nothing gets out that should not."""

import json
import re
import shutil
from base64 import b64encode
from hashlib import sha256
from html import unescape
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from genverify.attack.explain import exactly
from genverify.checker.certificate import read_lines, read_proofs
from genverify.explorer.explorer_site import (
    ALPHABET,
    NEVER,
    STEPS,
    in_pieces,
    levels,
    mask_width,
    pack,
    read_places,
    render_page,
)
from genverify.export.proof_programs import shortest
from genverify.model.errors import ConfigError, DataError
from genverify.model.query import table_titles
from genverify.model.release import Schema, read_releases, read_schema
from genverify.solve.program_settings import ProgramSettings

FIRST = "010010201001000"


def piece(explorer: Path, name: str) -> Any:
    text = (explorer / "pieces" / f"{name}.js").read_text()
    start = f"genverify.take({json.dumps(name)},"
    assert text.startswith(start)
    assert text.endswith(");\n")
    return json.loads(text[len(start) : -3])


def unpacked(study: dict[str, Any], packed: str) -> list[list[int]]:
    """The numbers of every packed form, read as the page reads them."""
    rows, at = [], 0
    while at < len(packed):
        row = []
        for width in study["packing"]["widths"]:
            number = 0
            for letter in packed[at : at + width]:
                number = number * len(ALPHABET) + ALPHABET.index(letter)
            row.append(number)
            at += width
        rows.append(row)
    return rows


def test_packed_numbers_come_back() -> None:
    numbers = [np.array([0, 5, 8280]), np.array([90, 1, 0])]
    packed = pack(numbers, [2, 1])
    assert len(packed) == 9
    assert unpacked({"packing": {"widths": [2, 1]}}, packed) == [[0, 90], [5, 1], [8280, 0]]
    assert json.dumps(ALPHABET) == f'"{ALPHABET}"'
    assert mask_width(10) == 2


def test_probabilities_keep_two_digits() -> None:
    p = np.array([1.0, 0.42, 0.0371, 1e-12, 1e-60])
    back = 10.0 ** (-levels(p) / STEPS)
    assert back[:4] == pytest.approx(p[:4], rel=0.006)
    assert levels(p)[4] == NEVER - 1
    assert levels(np.array([0.0]))[0] == NEVER


def test_the_list_of_blocks_and_the_figures_by_state(explorer: Path, small_explorer: ModuleType) -> None:
    study = piece(explorer, "study")
    rows = {row[0]: row for state in study["states"] for row in piece(explorer, f"state-{state}")}
    assert set(rows) == set(small_explorer.BLOCKS)
    assert rows[FIRST][:5] == [FIRST, 3, [0], 14, 0]
    # by hand: the cat, the dog and the fish owner are each the only one; all three columns are known of the fish owner only
    assert rows[FIRST][5] == [3, 3, 1]
    assert study["all"]["households"] == sum(map(len, small_explorer.BLOCKS.values()))
    assert study["all"]["single"][0] == sum(row[5][0] for row in rows.values())
    assert study["all"]["exposed"][0] == sum(row[5][0] > 0 for row in rows.values())
    assert study["states"]["56"]["blocks"] == 1
    assert (study["designs"], study["data"], study["synthetic"], study["listed"]) == (
        ["all"],
        "synthetic microdata",
        True,
        True,
    )


def test_a_block_holds_its_counts_and_every_verified_claim_once(explorer: Path) -> None:
    study, home = piece(explorer, "study"), explorer.parent / "study"
    claims = pd.read_parquet(home / "claims.parquet")
    names = [column["name"] for column in study["columns"]]
    for state in study["states"]:
        for row in piece(explorer, f"state-{state}"):
            entry = piece(explorer, f"blocks-{row[6]}")[row[0]]
            told = {
                (group["m"], *(code if mask >> place & 1 else -1 for place, code in enumerate(group["codes"])))
                for group in entry["groups"]
                for mask, *_ in unpacked(study, group["forms"])
            }
            own = claims[claims["block"] == row[0]]
            assert told == set(own[["m", *names]].fillna(-1).astype(int).itertuples(index=False, name=None))
            assert sum(len(unpacked(study, group["forms"])) for group in entry["groups"]) == len(own) == row[3]
            assert all(group["codes"].count(-1) == len(names) - unpacked(study, group["forms"])[0][0].bit_count()
                       for group in entry["groups"])  # fmt: skip
    counts = piece(explorer, "blocks-0")[FIRST]["counts"]
    cells = {study["cells"][cell][0]: count for cell, count in zip(counts[::2], counts[1::2], strict=True)}
    assert cells["T1.fish"] == 1
    assert "T1A.fish" not in cells


def test_likely_claims_stand_beside_the_verified_ones_with_their_probability(
    explorer: Path, small_explorer: ModuleType
) -> None:
    study = piece(explorer, "study")
    assert study["weighed"] == ["tract", "state", "nation", "uniform"]
    entries = {
        block: entry
        for file in (explorer / "pieces").glob("blocks-*.js")
        for block, entry in piece(explorer, file.stem).items()
    }
    assert [one["codes"] for one in entries[small_explorer.LIKELY]["likely"]] == [[1, 2, 3], [2, 1, 2]]
    first, second = entries[small_explorer.LIKELY]["likely"]
    # never rounded up to certainty; not asked under the state's prior
    assert first["chance"] == [[0.9999] * 3, None, [0.95] * 3, [0.9] * 3]
    assert (first["exact"], second["exact"]) == (True, False)
    assert second["chance"][0] == [0.75, 0.6, 0.75]
    assert entries["010010201001001"]["likely"] == []
    assert "likely" not in entries[FIRST]


def test_probabilities_of_another_run_are_refused(
    explorer: Path, small_explorer: ModuleType, tmp_path: Path, toy: Path
) -> None:
    study = tmp_path / "study"
    shutil.copytree(explorer.parent / "study", study)
    weighed = pd.read_parquet(study / "weighed.parquet")
    weighed.assign(verified=False).to_parquet(study / "weighed.parquet", index=False)
    with pytest.raises(DataError, match="disagree about what is verified"):
        small_explorer.build(study, tmp_path / "page", toy)


def half_holds(
    schema: Schema, counts: dict[int, int], layout: list[Any], claims: list[dict[str, int]], m: int, s: int
) -> bool:
    """Whether a half of a laid-out proof is right for every claim, tried on every record that its reasons allow."""
    _, over, flat, sides, because = layout
    cells = list(zip(flat[::2], flat[1::2], strict=True))

    def inside(cell: int, record: dict[str, int]) -> bool:
        return cell < 0 or all(record[c] in codes for c, codes in schema.queries[cell].predicate.clauses)

    def possible(record: dict[str, int]) -> bool:
        for reason in because:
            whole, *parts = [reason] if isinstance(reason, int) else reason
            if inside(whole, record) and not any(inside(part, record) for part in parts):
                return False
        return True

    assert (over, sides) == (1, [])
    if sum(y * counts.get(cell, 0) for y, cell in cells) != m:
        return False
    for codes in product(*(column.codes for column in schema.domain.columns)):
        record = dict(zip(schema.domain.names, codes, strict=True))
        value = sum(y for y, cell in cells if inside(cell, record))
        for claim in claims if possible(record) else []:
            matches = all(record[column] == code for column, code in claim.items())
            if value < 0 < s or (value > matches if s < 0 else value < matches):
                return False
    return True


def test_one_layout_proves_every_claim_of_its_group(explorer: Path) -> None:
    home = explorer.parent / "study"
    schema = read_schema(home / "schema.json")
    releases = {release.block: release for release in read_releases(home / "000.parquet", schema)}
    laid_out = {found["block"]: found["proofs"] for found in read_lines(home / "explained.jsonl.gz")}
    tried = 0
    for found in read_proofs(home / "000.jsonl.gz"):
        release = releases[found["about"]["name"]]
        counts = {-1: release.n, **dict(zip(release.cells.tolist(), release.hi.tolist(), strict=True))}
        for place, (lower, upper) in enumerate(laid_out[found["about"]["name"]]):
            group = [claim for claim in found["statements"] if claim["proof"] == place]
            claims = [claim["where"] for claim in group]
            assert half_holds(schema, counts, lower, claims, group[0]["m"], -1)
            assert half_holds(schema, counts, upper, claims, group[0]["m"], +1)
            tried += len(claims)
    assert tried == len(pd.read_parquet(home / "claims.parquet"))


def test_the_shortest_claims_of_a_group() -> None:
    group = [{"A": 1, "B": 2, "C": 3}, {"A": 1, "C": 3}, {"B": 2}]
    assert {str(where) for where in shortest([exactly(where) for where in group])} == {"A=1 and C=3", "B=2"}


def test_the_same_study_gives_the_same_bytes(explorer: Path, small_explorer: ModuleType, tmp_path: Path, toy: Path) -> None:
    again = small_explorer.build(explorer.parent / "study", tmp_path, toy)
    files = sorted(path.relative_to(explorer) for path in explorer.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
    assert all((explorer / file).read_bytes() == (again / file).read_bytes() for file in files)


def test_the_page_runs_only_its_own_scripts_and_names_no_address(explorer: Path) -> None:
    page = (explorer / "index.html").read_text()
    policy = unescape(re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0])
    assert policy.startswith("default-src 'none'; script-src 'self' file: 'sha256-")
    for text in re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", page, re.DOTALL):
        assert f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy
    assert not re.findall(r"https?://|innerHTML|insertAdjacentHTML|document\.write|\beval\b|unsafe-inline", page)


def test_hostile_names_stay_text(explorer: Path, small_explorer: ModuleType) -> None:
    for file in explorer.rglob("*.js"):
        assert file.read_text().isascii()
    assert small_explorer.LABEL in [column["label"] for column in piece(explorer, "study")["columns"]]
    assert "<title>a &lt;b&gt;</title>" in render_page("<title>{{ title }}</title>", "", [], "a <b>")


def test_real_data_show_aggregates_only_unless_the_switch_is_set(
    small_explorer: ModuleType, toy_schema: Schema, program_settings: ProgramSettings, tmp_path: Path, toy: Path
) -> None:
    study = small_explorer.write_study(tmp_path / "study", toy_schema, program_settings, source="ppmf")
    closed = small_explorer.build(study, tmp_path / "closed", toy)
    assert [file.name for file in (closed / "pieces").iterdir()] == ["study.js"]
    told = piece(closed, "study")
    assert (told["listed"], told["synthetic"], told["data"], told["designs"]) == (False, False, "PPMF", [])
    assert set(told["all"]) == {"blocks", "households", "claims", "unique", "single", "exposed"}
    everything = "".join(file.read_text() for file in closed.rglob("*") if file.is_file())
    assert not [block for block in small_explorer.BLOCKS if json.dumps(block)[1:-1] in everything]
    opened = small_explorer.build(study, tmp_path / "opened", toy, show_households=True)
    assert piece(opened, "study")["listed"]
    assert FIRST in piece(opened, "blocks-0")


def test_an_explorer_that_is_built_again_keeps_no_old_piece(
    explorer: Path, small_explorer: ModuleType, tmp_path: Path, toy: Path
) -> None:
    (tmp_path / "pieces").mkdir()
    (tmp_path / "pieces" / "blocks-99.js").write_text("old")
    small_explorer.build(explorer.parent / "study", tmp_path, toy)
    assert not (tmp_path / "pieces" / "blocks-99.js").exists()


def test_pieces_hold_so_many_entries() -> None:
    assert list(in_pieces([("a", 1), ("b", 2), ("c", 3)], 2)) == [{"a": 1, "b": 2}, {"c": 3}]
    assert list(in_pieces([], 2)) == []


def test_titles_of_tables_say_their_iteration(toy: Path) -> None:
    titles = table_titles(yaml.safe_load((toy / "tables.yaml").read_text()))
    assert titles["T1"] == "Pets"
    assert titles["T1B"] == "Pets (in a flat)"


def test_every_state_of_the_country_has_a_tile_of_its_own(root: Path) -> None:
    places = read_places(root / "data" / "census" / "places.yaml")
    states = yaml.safe_load((root / "data" / "synthetic" / "states.yaml").read_text())["states"]
    assert {state: entry["name"] for state, entry in states.items()}.items() <= {
        s: p["name"] for s, p in places.items()
    }.items()
    assert len({tuple(place["at"]) for place in places.values()}) == len(places)


def test_a_file_that_holds_no_places_is_named(tmp_path: Path) -> None:
    (tmp_path / "places.yaml").write_text("places: {'01': {short: AL}}")
    with pytest.raises(DataError, match=r"places\.yaml: not a file of places"):
        read_places(tmp_path / "places.yaml")


def test_the_explored_variant_must_exist(config: dict[str, Any]) -> None:
    from genverify.run.config import parse_config

    config["explorer"]["variant"] = "papr"
    with pytest.raises(ConfigError, match="did you mean paper"):
        parse_config(config)
