"""docs/raprank.md states the numbers of docs/reference: every line about the default run, and no number beside them."""

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from studies.raprank.rank import HOLDOUT, started

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "docs" / "reference"
PAGE = (ROOT / "docs" / "raprank.md").read_text()
RATES = pd.read_csv(REFERENCE / "raprank.csv").set_index(["experiment", "source"])
ORDERS = pd.read_csv(REFERENCE / "raprank_orders.csv").set_index(["better", "worse"])
TASKS = pd.read_csv(REFERENCE / "survey_tasks.csv").set_index(["task", "number"])

RANDOM, AT_HOLDOUT = started("random"), started(HOLDOUT)
ABOVE = ["tract", "county", "state", "national"]
SURVEY = ["employment", "coverage", "mobility"]
# what the paper prints, its k/u, and settings: no numbers of ours
OTHERS = ["0.1 / 0.5 / 1", "above 0.9 up to k/u = 0.5", '"well above 0.8 even at the lowest rank"', "9.5 %", "9.5,"]


def cells(experiment: str, source: str) -> str:
    """A mean match rate, and the rates at k/u = 0.1, 0.5 and 1."""
    if (experiment, source) not in RATES.index:
        return ""
    row = RATES.loc[experiment, source]
    return f"{row['mean']:.3f} ({row['at 0.1']:.2f} / {row['at 0.5']:.2f} / {row['at 1']:.2f})"


def mean(experiment: str, source: str, digits: int = 3) -> str:
    return f"{RATES.loc[experiment, source]['mean']:.{digits}f}"


def interval(experiment: str, source: str) -> str:
    row = RATES.loc[experiment, source]
    return f"{row['mean']:.3f} ({row['low']:.3f} to {row['high']:.3f})"


def at(experiment: str, source: str, place: str) -> str:
    return f"{RATES.loc[experiment, source][f'at {place}']:.2f}"


def order(better: tuple[str, str], worse: tuple[str, str], word: bool = True) -> str:
    """Whether an order is seen, the difference and its interval; `not run` where a source is missing."""
    row = ORDERS.loc["/".join(better), "/".join(worse)]
    text = f"{row['difference']:.3f} ({row['low']:.3f} to {row['high']:.3f})"
    return f"{row['seen']}, {text}" if word else text


def row(*parts: str) -> str:
    return re.sub(r"  (?=\|)", " ", f"| {' | '.join(parts)} |")


def rate_rows() -> list[str]:
    experiments = ["tracts", "tracts_plain", "person_blocks", "blocks"]
    counts = (f"{RATES.loc[name, RANDOM]['areas']}" for name in experiments)
    names = ["tracts with BLOCK", "tracts without BLOCK", "blocks of persons", "blocks of households"]
    rows = [row("source", *(f"{name} ({count})" for name, count in zip(names, counts, strict=True)))]
    words = {RANDOM: "RAP-RANK, random start", AT_HOLDOUT: "RAP-RANK, started at the holdout", HOLDOUT: "the holdout half"}
    for source in [RANDOM, AT_HOLDOUT, HOLDOUT, *ABOVE]:
        rows.append(row(words.get(source, source), *(cells(name, source) for name in experiments)))
    return rows


def survey_rows() -> list[str]:
    words = {RANDOM: "RAP-RANK, {}-way marginals", HOLDOUT: "the holdout half", "national": "national (not in the figure)"}
    asked = [(RANDOM, 2), (RANDOM, 3), (HOLDOUT, 2), ("national", 2)]
    return [row(words[s].format(ways), *(cells(f"{task}_{ways}", s) for task in SURVEY)) for s, ways in asked]


def order_rows() -> list[str]:
    """The paper's orders, one by one, as the table of orders has them."""
    rows = []
    panels = {"tracts": "1 left", "tracts_plain": "1 right", "person_blocks": "3 left", "blocks": "3 left, households"}
    for name, figure in panels.items():
        for source in reversed(ABOVE):
            if (f"{name}/{RANDOM}", f"{name}/{source}") in ORDERS.index:
                rows.append((figure, f"a random start above {source}", order((name, RANDOM), (name, source))))
        rows.append((figure, "the holdout half above a random start", order((name, HOLDOUT), (name, RANDOM))))
    rows.append(("1", "without BLOCK above with BLOCK", order(("tracts_plain", RANDOM), ("tracts", RANDOM))))
    for name, figure in (("tracts", "2"), ("person_blocks", "3 right"), ("blocks", "3 right, households")):
        rows.append((figure, "started at the holdout above the holdout half", order((name, AT_HOLDOUT), (name, HOLDOUT))))
    for task in SURVEY:
        for ways in (2, 3):
            found = order((f"{task}_{ways}", RANDOM), (f"{task}_{ways}", HOLDOUT))
            rows.append((f"4, {task}", f"{ways}-way marginals above the holdout half", found))
        rows.append((f"4, {task}", "3-way above 2-way marginals", order((f"{task}_3", RANDOM), (f"{task}_2", RANDOM))))
    seen = [(f"Fig. {figure}", words, *found.split(", ", 1)) for figure, words, found in rows]
    return [row(figure, words, "yes" if yes == "yes" else f"**{yes}**", by) for figure, words, yes, by in seen]


def dose_rows() -> list[str]:
    shares = {"fivefold_0": "0", "fivefold_1": "9.5 %", "fivefold_2": "25 %", "fivefold_3": "50 %"}
    asked = [((HOLDOUT,), (RANDOM,)), ((AT_HOLDOUT,), (HOLDOUT,))]
    return [row(share, *(order((name, *b), (name, *w)) for b, w in asked)) for name, share in shares.items()]


def table1_rows() -> list[str]:
    rows = []
    for task in SURVEY:
        numbers = [TASKS.loc[task, name] for name in ("dimension", "2-way marginals", "3-way marginals")]
        rows.append(row(task, *(", ".join(f"{int(n[who]):,}" for n in numbers) for who in ("ours", "paper"))))
    return rows


@pytest.mark.parametrize("line", [*rate_rows(), *survey_rows(), *order_rows(), *dose_rows(), *table1_rows()])
def test_tables_of_the_page_are_those_of_the_reference(line: str) -> None:
    assert line in PAGE.splitlines()


def every(names: Sequence[str], source: str, digits: int = 2) -> str:
    *first, last = (mean(name, source, digits) for name in names)
    return f"{', '.join(first)} and {last}"


def sentences() -> list[str]:
    dose = [f"fivefold_{number}" for number in range(4)]
    lowest = ", ".join(f"{task} {at(f'{task}_2', RANDOM, '1')} and {at(f'{task}_3', RANDOM, '1')}" for task in SURVEY)
    better = " / ".join(
        f"{RATES.loc[f'{task}_3', 'national']['mean'] - RATES.loc[f'{task}_3', RANDOM]['mean']:.3f}" for task in SURVEY
    )
    return [
        f"(ours: {RATES.loc['tracts_plain', RANDOM]['at 0.5']:.3f} at 0.5)",
        f"ours at k = u from 2-way and 3-way marginals: {lowest}",
        f"the holdout half has {every(dose, HOLDOUT)} at shares",
        f"a random start {every(dose, RANDOM)}",
        f"started at the holdout {every(dose, AT_HOLDOUT)}",
        f"D_tract has {interval('tracts', HOLDOUT)}, below county {interval('tracts', 'county')}, state "
        f"{interval('tracts', 'state')} and nation {interval('tracts', 'national')}",
        f"the rows of the nation lie above RAP-RANK by {better} (3-way)",
    ]  # fmt: skip


@pytest.mark.parametrize("sentence", sentences())
def test_sentences_of_the_page_are_those_of_the_reference(sentence: str) -> None:
    assert sentence in " ".join(PAGE.split())


def section(title: str) -> str:
    [found] = [part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE) if part.startswith(f"{title}\n")]
    return found


@pytest.mark.parametrize("title", ["The default run", "The paper's orders", "Rows that stand five times"])
def test_no_other_decimal_stands_in_the_sections_about_the_reference(title: str) -> None:
    """A section without its checked lines and sentences has no decimal left: whatever is added must be checked."""
    known = [*rate_rows(), *survey_rows(), *order_rows(), *dose_rows()]
    text = " ".join(" ".join(line for line in section(title).splitlines() if line not in known).split())
    for sentence in [*sentences(), *OTHERS]:
        text = text.replace(sentence, "")
    assert re.findall(r"\d\.\d+", text) == []


# where curves begin and cross, and a height: read off the pictures, not in the reference
READ_OFF = {
    "Figure 1": "0.94 0.73 0.2 0.5 0.4", "Figure 2": "0.92 0.73", "Figure 3": "0.80 0.53 0.25 0.73", "Households": "0.12",
    "Figure 4": "0.74 0.66 0.38 0.47 0.35 0.06", "State by state": "",
}  # fmt: skip
SHOWN = {
    "Figure 1": ["tracts", "tracts_plain"], "Figure 2": ["tracts"], "Figure 3": ["person_blocks"], "Households": ["blocks"],
    "Figure 4": [f"{task}_{ways}" for task in SURVEY for ways in (2, 3)], "State by state": [],
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_figures_are_described_with_the_rates_of_the_reference(name: str) -> None:
    [words] = [part for part in section("The figures, looked at").split("\n* ")[1:] if part.lstrip("[*").startswith(name)]
    text = words.split("\n\n")[0].replace("k/u = 0.1, 0.5 and 1", "")
    rates = RATES[RATES.index.get_level_values("experiment").isin(SHOWN[name])][["at 0.1", "at 0.5", "at 1"]]
    known = {f"{rate:.2f}" for rate in rates.to_numpy().ravel()} | set(READ_OFF[name].split())
    assert set(re.findall(r"\d\.\d+", text)) <= known


def test_rates_by_size_of_block_have_the_means_of_the_reference() -> None:
    """As many blocks of each size: the mean of a row is the mean over all."""
    names = {
        "RAP-RANK, random start": RANDOM,
        "RAP-RANK, started at D_block": AT_HOLDOUT,
        "D_block": HOLDOUT,
        "nation": "national",
    }
    rows = [line.split("|")[1:-1] for line in section("Figure 3 by size of block").splitlines() if line.startswith("| ")][2:]
    assert len(rows) == 7
    for source, *rates in rows:
        mean_rate = sum(map(float, rates)) / len(rates)
        name = names.get(source.strip(), source.strip())
        assert mean_rate == pytest.approx(RATES.loc["person_blocks", name]["mean"], abs=0.005)
