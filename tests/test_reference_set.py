"""docs/reference as it is kept here: whole, complete, and of today's settings and data. No run is needed to see it."""

import re
from decimal import ROUND_HALF_UP, Decimal
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
import yaml

from genverify.run.config import parse_config, read_shipped, section
from genverify.run.layout import REFERENCE, STAGES
from reference_set import (
    MANIFEST,
    OUTDATED,
    REMEDY,
    Listing,
    Manifest,
    altered_files,
    changes,
    read_caption,
    read_listing,
    read_manifest,
    unlisted_targets,
)
from studies.raprank.settings import RapRank

ROOT = Path(__file__).parents[1]
RULES = "\n".join(path.read_text() for path in sorted((ROOT / "workflow").rglob("*.smk")))
MOST_BYTES = 4_000_000


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The paths of the set and of its sources are seen from the top of the repository."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def listing() -> Listing:
    return read_listing(STAGES)


@pytest.fixture
def manifest() -> Manifest:
    return read_manifest(REFERENCE / MANIFEST)


def test_every_file_is_there_with_its_digest_and_no_other(manifest: Manifest) -> None:
    assert list(altered_files(REFERENCE, manifest)) == []


def test_every_target_is_shown_or_absent_with_a_reason(manifest: Manifest, listing: Listing) -> None:
    assert list(unlisted_targets(manifest, listing)) == [], REMEDY
    assert all(manifest["absent"].values())


def test_settings_and_data_are_those_of_today(manifest: Manifest) -> None:
    """A change of code is not looked at: it may be a docstring. `genverify reference` tells of it."""
    found = changes(manifest, parse_config(read_shipped(ROOT)))
    assert [f"{finding.target}: {finding.text}" for finding in found if finding.kind in OUTDATED] == [], REMEDY


def test_the_set_is_small() -> None:
    assert sum(path.stat().st_size for path in REFERENCE.iterdir()) < MOST_BYTES


def made_by_the_workflow() -> set[str]:
    """The figures and tables that the stage files write, wildcards filled in: from the rule itself, or from a setting."""
    raprank = section(parse_config(read_shipped(ROOT)), RapRank)
    blocks = [name for name, own in raprank.experiments.items() if own.block_tables]
    named = {"figure": list(raprank.figures), "experiment": blocks}
    # of the study itself, all designs: those of other variants and designs are ablations
    named |= {"folder": [""], "only": [""], "first": [], "second": []}
    made = set()
    for rule in re.split(r"^rule ", RULES, flags=re.MULTILINE):
        values = {name: words.split("|") for name, words in re.findall(r'^        (\w+)="([\w|]+)",$', rule, re.MULTILINE)}
        targets = re.findall(r'pdf="(figures/[^"]+\.pdf)"', rule) + re.findall(r'="(results/tables/[^"]+\.csv)"', rule)
        for target in targets:
            names = re.findall(r"{(\w+)}", target)
            for choice in product(*((values | named)[name] for name in names)):
                made.add(target.format(**dict(zip(names, choice, strict=True))))
    return made


def test_the_listing_knows_every_figure_and_table_of_the_workflow(listing: Listing) -> None:
    made = made_by_the_workflow()
    assert {"figures/fig3.pdf", "figures/rap_fig1_states.pdf", "results/tables/housing_table1.csv"} <= made
    known = {*listing.targets, *listing.absent}
    assert made <= known, "add it to reference.yaml beside its stage: a result of a paper, or `absent`"
    assert known - made == {"results/paper/proofs.csv"}


def test_every_result_that_the_map_names_is_known(listing: Listing) -> None:
    assert set(on_the_map()) <= {Path(target).stem for target in [*listing.targets, *listing.absent]}


@pytest.mark.parametrize("paper", ["gtv", "raprank", "cellbounds", "housing", "mechanisms"])
def test_the_order_is_that_of_the_map(listing: Listing, paper: str) -> None:
    places = on_the_map()
    beyond = {"candidates", "proofs", "solvar", "calibration", "certainty"}
    stems = [Path(target).stem for target in listing.papers[paper].results]
    found = [places[stem] for stem in stems if stem in places and stem not in beyond]
    assert found
    assert found == sorted(found)


def on_the_map() -> dict[str, int]:
    """The figures and tables of docs/map.md that are named in full, with their places."""
    text = (ROOT / "docs" / "map.md").read_text()
    found = re.finditer(r"`(?:figures/|results/tables/)?([a-z]\w*)\.(?:pdf|csv)`", text)
    places: dict[str, int] = {}
    for match in found:
        places.setdefault(match[1], match.start())
    return places


def test_every_caption_is_there(listing: Listing) -> None:
    names = {name for paper in listing.papers.values() for name in paper.results.values()}
    assert all(read_caption(STAGES, name) for name in names)


def stated() -> dict[str, dict[str, str]]:
    """What the first tables of README.md and docs/gtv.md say of ours, by page and line, from numbers.csv."""
    numbers = pd.read_csv(ROOT / REFERENCE / "numbers.csv", keep_default_na=False)

    def of(key: str, scope: str = "") -> list[float]:
        return [float(value) for value in numbers[(numbers["key"] == key) & numbers["scope"].str.contains(scope)]["ours"]]

    def percent(key: str, scope: str = "", digits: int = 1) -> str:
        [value] = set(of(key, scope))
        return f"{value:.{digits}f} %"

    def medians(prior: str) -> str:
        return f"{max(of('median', f'{prior}, k = 6')):.1f} to {min(of('median', f'{prior}, k = 9')):.1f} %"

    both, shares = "both designs", (percent("zeros", digits=2), percent("ones", digits=2))
    blocks = {k: percent(f"blocks_k{k}", both) for k in (6, 8)}
    largest = {name: max(of(name, "tract, k = 6")) for name in ("percentile75", "percentile90")}
    readme = {
        "households singled out by k = 6 columns, answers of 1 suppressed": percent("no_ones_k6"),
        "households of any claim of k = 6 columns": percent("all_k6", both),
        "median probability of a claim, k = 6 to 9, tract prior": medians("tract"),
        "blocks with a singleton claim of k = 6 / k = 8 columns": " / ".join(blocks.values()),
        "answers that are 0 / 1, blocks of ten households": " / ".join(shares),
    }
    page = {
        "households of any claim, k = 6": percent("all_k6", both),
        "median baseline probability, tract and state, k = 6 to 9": f"{medians('tract')}, {medians('state')}",
        "blocks with a singleton claim, k = 8": blocks[8],
        "75th and 90th percentile of the baselines": f"{largest['percentile75']:.1f} %, {largest['percentile90']:.1f} %",
        "blocks reconstructed uniquely": percent("unique_blocks"),
        "answers of 0 and 1, blocks of ten": ", ".join(shares),
        "answers of 1 among those above 0": percent("ones_of_nonzero", digits=2),
        "blocks with a singleton claim, k = 6": blocks[6],
        "largest baseline probability": f"{max(of('maximum')):.1f} %",
    }
    return {"README.md": readme, "docs/gtv.md": page}


@pytest.mark.parametrize(("page", "line", "ours"), [(page, *item) for page, own in stated().items() for item in own.items()])
def test_pages_state_the_numbers_of_the_set(page: str, line: str, ours: str) -> None:
    [row] = [text for text in Path(page).read_text().splitlines() if text.startswith(f"| {line} |")]
    assert row.split("|")[3].strip().startswith(ours)


def test_pages_state_how_many_numbers_agree_and_how_many_are_open() -> None:
    numbers = pd.read_csv(REFERENCE / "numbers.csv")
    judged, why = (
        numbers["agrees"].dropna(),
        numbers.loc[numbers["agrees"] == "no", "why"].str.partition(":")[0].value_counts(),
    )
    yes, measured, still = (judged == "yes").sum(), why["measured"], why["open"]
    reasons = (
        f"names a run that shows what it depends on (**measured**, {measured}), or says what was tried (**open**, {still})."
    )
    said = {
        "README.md": f"Of {len(judged)} statements {yes} agree on seed 1;"
        f" of the others a run shows for {measured} what they depend on, {still} are open",
        "docs/gtv.md": f"Of {len(judged)} statements that can be judged {yes} agree and {len(judged) - yes} do not;"
        f" for each of these the column `why` {reasons}",
    }
    assert [page for page, text in said.items() if text not in " ".join(Path(page).read_text().split())] == []


def test_the_page_of_cell_bounds_counts_the_sentences_that_agree() -> None:
    equal = pd.read_csv(REFERENCE / "cellbounds_sentences.csv")["equal"]
    assert f"so do {equal.sum()} of the {len(equal)} sentences" in " ".join(Path("docs/cellbounds.md").read_text().split())


def test_the_page_describes_figure_3() -> None:
    numbers = pd.read_csv(REFERENCE / "numbers.csv").set_index(["key", "scope"])["ours"]
    six, eight = ([round(250 * float(numbers[key, scope]) / 100) for scope in ("state_median", "country_median")]
                  for key in ("blocks_k6", "blocks_k8"))  # fmt: skip
    said = f"{six[0]} and {six[1]} of 250 blocks have a claim about exactly one household that names k = 6 columns"
    assert f"{said}, {eight[0]} and {eight[1]} one of k = 8" in " ".join(Path("docs/gtv.md").read_text().split())


KEYS = {
    "housing_numbers": ["key", "condition", "unit"],
    "housing_conditions": ["condition"],
    "housing_simulation": ["measure"],
    "housing_table1": ["measure"],
    "numbers": ["key", "scope"],
    "table4": ["grouping", "design", "statistic", "columns"],
    "table5": ["grouping", "variant", "columns"],
    "table7": ["grouping", "design", "statistic", "columns"],
    "calibration": ["figure"],
    "proofs": ["figure"],
    "cellbounds_redesign": ["table", "counts", "merged"],
    "privacy_semantics": ["people", "person", "record"],
    "table3": ["k"],
}
"""The columns that name a row of a table of the set."""

SENTENCES: dict[str, list[str]] = yaml.safe_load((ROOT / "tests" / "data" / "stated.yaml").read_text())


def in_numbers(place: re.Match[str]) -> str:
    """
    The number of a place, as a page writes it.

    >>> in_numbers(re.match("<(.*)>", "<housing_numbers zero_simple/none/share 1%>"))
    '0.4'
    """
    name, row, *rest = [word.replace("~", " ") for word in place[1].split()]
    digits = rest.pop() if rest and re.fullmatch(r"\d%?", rest[-1]) else "0"
    table = pd.read_csv(ROOT / REFERENCE / f"{name}.csv", dtype=str).set_index(KEYS[name])
    value = Decimal(table.loc[tuple(row.split("/")) if len(KEYS[name]) > 1 else row, rest[0] if rest else "ours"])
    unit = Decimal(1).scaleb(-int(digits[0]))
    return f"{(value * (100 if digits.endswith('%') else 1)).quantize(unit, ROUND_HALF_UP):,}"


@pytest.mark.parametrize(("page", "sentence"), [(page, text) for page, own in SENTENCES.items() for text in own])
def test_sentences_state_the_numbers_of_the_set(page: str, sentence: str) -> None:
    text = " ".join(Path(page).read_text().split())
    assert re.sub(r"<([^<>]+)>", in_numbers, sentence) in text
