"""Where several readings fit, none is guessed: wholes of percentages, levels that were rounded, sums of rounded numbers."""

from pathlib import Path
from random import Random

import pytest

from genverify.disclosure.sources import disclose
from genverify.disclosure.tables_audit import TablesAudit
from genverify.model.errors import DataError
from genverify.reading.reading import read
from genverify.reading.source import read_source
from genverify.reading.totals import spread

HIDDEN = {"*": "suppressed"}


def audit(folder: Path, text: str, **options: object) -> TablesAudit:
    (folder / "t.csv").write_text(text)
    found = disclose(folder / "t.csv", symbol=HIDDEN if "*" in text else {}, **options)
    assert isinstance(found, TablesAudit)
    return found


def ends(found: TablesAudit) -> dict[str, tuple[float, float]]:
    """The ends of every cell, infinite where nothing limits it."""
    upper = found.cells["upper"].replace("", None).astype(float).fillna(float("inf"))
    return dict(zip(found.cells["cell"], zip(found.cells["lower"].astype(float), upper, strict=True), strict=True))


def test_a_whole_that_cannot_be_compared_stays_open(tmp_path: Path) -> None:
    """Two halves agree with their column, by chance as well; of their row and of everyone nothing speaks against them."""
    text = ",Men,,Women,\nstatus,n,%,n,%\nnever,1,50,*,50\nformer,1,50,*,50\nTotal,2,100,*,100\n"
    found = audit(tmp_path, text, allow_partial=True)
    assert any("they could be of their column or of their row" in one for one in found.left_out)
    assert found.counts["suppressed_known_exactly"] == 0


def test_a_whole_that_chance_does_not_explain_is_taken(tmp_path: Path) -> None:
    text = ",Men,,Women,\nstatus,n,%,n,%\nnever,137,31.5,*,22.7\nformer,298,68.5,*,77.3\nTotal,435,100.0,900,100.0\n"
    found = audit(tmp_path, text)
    assert not found.left_out
    assert found.counts["suppressed_known_exactly"] == 2


@pytest.mark.parametrize("heads", [("% boys", "% girls"), ("share 1 (%)", "share 2 (%)")])
def test_percentages_beside_each_other_are_of_counts_in_their_order(tmp_path: Path, heads: tuple[str, str]) -> None:
    """By their headers or their order, the first is of the boys: 40.0 % of 200 are 80."""
    rows = [("north", "*", "61", "40.0", "12.2"), ("south", "*", "139", "35.0", "27.8"),
            ("east", "50", "300", "25.0", "60.0"),
            ("Total", "200", "500", "100.0", "100.0")]  # fmt: skip
    text = "\n".join([",".join(("area", "boys", "girls", *heads)), *map(",".join, rows)]) + "\n"
    found = audit(tmp_path, text)
    assert ends(found)["area=north, columns=boys"] == (80, 80)


def test_a_percentage_beside_several_suppressed_counts_is_left_out(tmp_path: Path) -> None:
    """Of which count it is, neither a number nor a word tells."""
    text = "area,boys,girls,share (%)\nnorth,*,*,40.0\nsouth,*,*,60.0\n"
    found = audit(tmp_path, text, allow_partial=True)
    assert any("it is not clear of which counts to their left" in one for one in found.left_out)


def levels(seed: int) -> tuple[str, dict[str, int]]:
    """Places of four regions, of 13 kinds, with some suppressed; the regions and the country are rounded to tens."""
    random, lines, true = Random(seed), ["level,region,place,kind,n"], dict[str, int]()
    for kind in range(13):
        country = 0
        for region in "NSEW":
            counts = [random.randint(1, 400) for _ in range(5)]
            country += sum(counts)
            lines.append(f"regional,{region},,k{kind},{(sum(counts) + 5) // 10 * 10}")
            for place, count in enumerate(counts):
                hidden = random.random() < 0.2
                lines.append(f"local,{region},{region}{place},k{kind},{'*' if hidden else count}")
                true[f"kind=k{kind}, place={region}{place}"] = count
        lines.append(f"national,,,k{kind},{(country + 5) // 10 * 10}")
    return "\n".join(lines) + "\n", true


@pytest.mark.parametrize("seed", range(4))
def test_a_level_that_was_rounded_gives_intervals_and_no_contradiction(tmp_path: Path, seed: int) -> None:
    text, true = levels(seed)
    with pytest.raises(DataError, match=r"multiples of 10, others are not: were they rounded.*--rule levels"):
        audit(tmp_path, text)
    table = read([read_source(tmp_path / "t.csv")]).tables[0]
    assert {base for own in table.rounded.values() for base in own.values()} == {10}
    for options in ({"rule": ["levels"]}, {"allow_partial": True}):
        found = ends(audit(tmp_path, text, **options))
        assert all(lo <= true[name] <= hi for name, (lo, hi) in found.items() if name in true)
        assert sum(name in true for name in found) == len(true)


def test_sums_of_numbers_that_were_each_rounded_are_asked_about(tmp_path: Path) -> None:
    """Estimates with decimals, rounded one by one: their sums are off by one or two, and no count is wrong."""
    random, lines = Random(5), ["area,a,b,c,Total"]
    for row in range(60):
        parts = [random.uniform(5, 500) for _ in range(3)]
        lines.append(",".join([f"r{row}", *(str(round(part)) for part in (*parts, sum(parts)))]))
    text = "\n".join(lines) + "\n"
    with pytest.raises(DataError, match=r"agree only up to rounding to whole numbers.*--tolerance 2"):
        audit(tmp_path, text)
    assert audit(tmp_path, text, tolerance=2).left_out == ()
    assert any("--tolerance 2" in one for one in audit(tmp_path, text, allow_partial=True).left_out)


def test_what_is_compared_is_spread_over_all_periods_of_a_layout() -> None:
    assert {at % 8 for at in spread(range(8_000), 300)} == set(range(8))
    assert len(set(spread(range(7919 * 3), 300))) == 300
