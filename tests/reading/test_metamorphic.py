"""The same table printed another way gives the same reading: moved, with other numbers, symbols, names and frames."""

import csv
import io
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from genverify.reading.read_command import read_files, told_of
from genverify.reading.reading import AMONG_COUNTS, Reading, cell_roles, write_reading

Lines = list[list[str]]
Known = dict[frozenset[str], str]  # the labels of a cell, in any order, to its text
TOTAL = "Total"
AREAS = ["North", "South", "East", "West", "Centre", "Islands"]
KINDS = ["Single", "Married", "Widowed", "Divorced"]


def crosstab(draw: random.Random, symbol: str = "*", times: int = 1, total: bool = True) -> Lines:
    """A table of areas by kinds with totals; some inner cells are suppressed."""
    areas, kinds = AREAS[: draw.randint(3, 6)], KINDS[: draw.randint(2, 4)]
    counts = {(a, k): draw.randint(5, 900) * times for a in areas for k in kinds}
    text = {key: str(count) for key, count in counts.items()}
    for key in draw.sample(sorted(counts), max(1, len(counts) // 6)):
        text[key] = symbol
    lines = [["Area", *kinds, TOTAL]]
    lines += [[a, *(text[a, k] for k in kinds), str(sum(counts[a, k] for k in kinds))] for a in areas]
    lines.append([TOTAL, *(str(sum(counts[a, k] for a in areas)) for k in kinds), str(sum(counts.values()))])
    return lines


def tidy(draw: random.Random, areas: int = 5, symbol: str = "c") -> Lines:
    """A table with one row for every area, year and sex: a code beside the name, a count, and its percentage."""
    lines = [["area_code", "area_name", "year", "sex", "cases", "cases_percent"]]
    for at in range(areas):
        for year in (2019, 2020, 2021):
            men, women = draw.randint(5, 400), draw.randint(5, 400)
            for sex, own in (("Male", men), ("Female", women), ("Total", men + women)):
                hidden = draw.random() < 0.1 and sex != "Total"
                percent = f"{100 * own / (men + women):.1f}"
                lines.append(
                    [
                        f"E{at:05}",
                        f"Place {at}",
                        str(year),
                        sex,
                        symbol if hidden else str(own),
                        symbol if hidden else percent,
                    ]
                )
    return lines


def written(lines: Lines, path: Path, delimiter: str = ",") -> Path:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(lines)
    path.write_text(out.getvalue(), encoding="utf-8")
    return path


def cells(reading: Reading) -> Known:
    """The cells of the first table, by their labels in any order."""
    table = reading.tables[0]
    return {
        frozenset(key): str(entry.number) if entry.number is not None else entry.symbol
        for key, entry in table.entries.items()
    }


def totals(reading: Reading) -> set[str]:
    return {parent for table in reading.tables for axis in table.axes for parent, _ in axis.tree}


def expected(lines: Lines) -> Known:
    return {frozenset((row[0], head)): text for row in lines[1:] for head, text in zip(lines[0][1:], row[1:], strict=True)}


def transposed(lines: Lines) -> Lines:
    return [list(row) for row in zip(*lines, strict=True)]


def moved(draw: random.Random, lines: Lines) -> Lines:
    head, *body = lines
    draw.shuffle(body)
    order = list(range(1, len(head)))
    draw.shuffle(order)
    return [[row[at] for at in (0, *order)] for row in (head, *body)]


def framed(draw: random.Random, lines: Lines) -> Lines:
    width = len(lines[0]) - 1
    above = [["Table 4: People by area and marital status, 2020", *[""] * width], [""] * (width + 1)]
    below = [
        [""] * (width + 1),
        ["* Counts are suppressed to protect people.", *[""] * width],
        ["Source: a survey", *[""] * width],
    ]
    return above + lines + below


def repeated(draw: random.Random, lines: Lines) -> Lines:
    at = draw.randint(2, len(lines) - 1)
    return [*lines[:at], lines[0], *lines[at:]]


MOVES: dict[str, Callable[[random.Random, Lines], Lines]] = {
    "moved": moved,
    "transposed": lambda draw, lines: transposed(lines),
    "framed": framed,
    "repeated": repeated,
    "framed and moved": lambda draw, lines: framed(draw, moved(draw, lines)),
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("seed", range(12))
def test_crosstab_moved(tmp_path: Path, move: str, seed: int) -> None:
    draw = random.Random(f"{move} {seed}")
    lines = crosstab(draw)
    reading = read_files([written(MOVES[move](draw, lines), tmp_path / "t.csv")], told_of([]))
    assert cells(reading) == expected(lines)
    assert totals(reading) == {TOTAL}
    assert reading.conserved
    assert not reading.left_out


@pytest.mark.parametrize(
    "symbol", ["*", "[c]", "x", "..", "Masked", "[REDACTED]", "(D)", "S", ":", "<5", "\u2013", "N/A", "suppressed"]
)
@pytest.mark.parametrize("seed", range(3))
def test_other_symbols(tmp_path: Path, symbol: str, seed: int) -> None:
    lines = crosstab(random.Random(seed), symbol)
    reading = read_files([written(lines, tmp_path / "t.csv")], told_of([]))
    assert cells(reading) == expected(lines)
    assert reading.met == {symbol: sum(text == symbol for row in lines for text in row)}
    assert totals(reading) == {TOTAL}


@pytest.mark.parametrize(("sign", "delimiter"), [(",", ","), (".", ";"), (" ", "\t"), ("\u202f", ";"), ("'", ",")])
@pytest.mark.parametrize("seed", range(3))
def test_other_numbers(tmp_path: Path, sign: str, delimiter: str, seed: int) -> None:
    """Counts a thousand times as large, with any sign between thousands."""
    lines = crosstab(random.Random(seed), times=1000)
    printed = [[f"{int(text):,}".replace(",", sign) if text.isdigit() else text for text in row] for row in lines]
    reading = read_files([written(printed, tmp_path / "t.csv", delimiter)], told_of([]))
    assert cells(reading) == expected(lines)
    assert totals(reading) == {TOTAL}


NAMES = {
    "commas": lambda label: f"{label}, of them B={label}",
    "quotes": lambda label: f'the "{label}"',
    "total_": lambda label: f"total_{label}",
    "all": lambda label: f"all {label} people",
    "brackets": lambda label: f"{label} (part)",
    "letters": lambda label: label[0] if label in KINDS else label,
    "numbers": lambda label: f"{1 + (AREAS + KINDS).index(label)}. {label}",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_other_names(tmp_path: Path, name: str, seed: int) -> None:
    """Labels that look like totals or symbols, or hold commas and quotes, change nothing but the labels."""
    lines = crosstab(random.Random(seed))
    lines = [[NAMES[name](text) if text in AREAS + KINDS else text for text in row] for row in lines]
    reading = read_files([written(lines, tmp_path / "t.csv")], told_of([]))
    assert cells(reading) == expected(lines)
    assert totals(reading) == {TOTAL}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("areas", [4, 120])
def test_tidy_moved_and_longer(tmp_path: Path, seed: int, areas: int) -> None:
    """Rows and columns of a tidy file in any order, and a thousand lines more: the same roles, axes and totals."""
    draw = random.Random(seed)
    lines = tidy(draw, areas)
    order = list(range(6))
    draw.shuffle(order)
    body = lines[1:]
    draw.shuffle(body)
    mixed = [[row[at] for at in order] for row in (lines[0], *body)]
    for form in (lines, mixed):
        reading = read_files([written(form, tmp_path / "t.csv")], told_of([]))
        table = reading.tables[0]
        assert {column.head: column.role for column in table.columns} == {
            "area_code": "code", "area_name": "label", "year": "period", "sex": "label", "cases": "count",
            "cases_percent": "percentage",
        }  # fmt: skip
        assert {(axis.kind, len(axis.labels), len(axis.tree)) for axis in table.axes} == {
            ("parts", areas, 0), ("time", 3, 0), ("additive", 3, 1),
        }  # fmt: skip
        found = {frozenset(key): entry.text for key, entry in table.entries.items()}
        assert found == {frozenset((row[1], row[2], row[3])): row[4] for row in lines[1:]}


def test_a_reading_file_gives_the_same_reading(tmp_path: Path) -> None:
    for seed in range(8):
        draw = random.Random(seed)
        path = written(framed(draw, crosstab(draw)) if seed % 2 else tidy(draw), tmp_path / f"t{seed}.csv")
        reading = read_files([path], told_of([]))
        file = tmp_path / f"t{seed}.yaml"
        file.write_text(write_reading(reading))
        again = read_files([file], told_of([]))
        assert write_reading(again) == write_reading(reading)
        assert (again.roles, again.tables[0].entries) == (reading.roles, reading.tables[0].entries)


def test_a_role_is_one_line_to_correct(tmp_path: Path) -> None:
    path = written(
        [["size", "area", "n"], ["1", "a", "5"], ["2", "a", "7"], ["1", "b", "*"], ["2", "b", "9"]], tmp_path / "t.csv"
    )
    reading = read_files([path], told_of([]))
    text = write_reading(reading).replace('"A": {"role": "count"', '"A": {"role": "label"')
    (tmp_path / "t.yaml").write_text(text)
    again = read_files([tmp_path / "t.yaml"], told_of([]))
    assert [column.role for column in again.tables[0].columns] == ["label", "label", "count"]
    assert set(again.tables[0].entries) == {("1", "a"), ("2", "a"), ("1", "b"), ("2", "b")}


def hierarchy(draw: random.Random, name: str, deep: int, first: bool) -> tuple[list[str], dict[str, frozenset[str]]]:
    """Labels of a random hierarchy as a page lists them, totals first or last, and the finest labels of each."""
    order, leaves = list[str](), dict[str, frozenset[str]]()
    own = frozenset[str]()
    for at in range(draw.randint(2, 4)):
        child = f"{draw.choice(['', '', 'all ', 'total_', 'Total '])}{name[-3:]}{'abcd'[at]}"
        if deep > 1 and draw.random() < 0.5:
            inner, known = hierarchy(draw, child, deep - 1, first)
            order += inner
            leaves |= known
        else:
            order.append(child)
            leaves[child] = frozenset((child,))
        own |= leaves[child]
    leaves[name] = own
    return ([name, *order] if first else [*order, name]), leaves


def test_random_hierarchies_have_no_false_sum(tmp_path: Path) -> None:
    """Subtotals with names like totals, labels with names like totals: what is said to add up does, whatever the numbers."""
    said = 0
    for seed in range(150):
        draw = random.Random(seed)
        order, leaves = hierarchy(draw, draw.choice(["Total", "All", "everyone"]), draw.randint(1, 3), draw.random() < 0.5)
        if len(set(order)) < len(order):
            continue
        width, hidden = draw.randint(2, 4), draw.choice([0, 0, 0.1, 0.3])
        counts = {label: [draw.randint(0, 900) for _ in range(width)] for label, own in leaves.items() if own == {label}}
        lines = [["area", *(f"c{at}" for at in range(width))]]
        for label in order:
            sums = [sum(counts[leaf][at] for leaf in leaves[label]) for at in range(width)]
            lines.append([label, *("*" if draw.random() < hidden else str(number) for number in sums)])
        reading = read_files([written(lines, tmp_path / "t.csv")], told_of([]))
        for axis in reading.tables[0].axes:
            assert axis.name == "area" or not axis.tree, seed
            for parent, children in axis.tree:
                parts = [leaf for child in children for leaf in leaves[child]]
                assert sorted(parts) == sorted(leaves[parent]), (seed, parent, children)
                said += 1
    assert said > 100


def spoilt(draw: random.Random, text: str) -> str:
    """A file as mistakes make it: cells, lines and signs lost, doubled or mixed up."""
    lines = text.split("\n")
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(len(lines))
        act = draw.randrange(7)
        if act == 0:
            lines[at] = lines[at][: draw.randint(0, len(lines[at]))]
        elif act == 1:
            lines.insert(at, draw.choice(["", ",,,", "Note: 5 of 7", '"', "a;b;c", "\ufeff", "=1+1", "1,2,3,4,5,6,7,8,9"]))
        elif act == 2:
            lines[at] = lines[at].replace(",", draw.choice([";", "\t", ",,", ""]), draw.randint(1, 3))
        elif act == 3:
            lines[at] = "".join(draw.sample(lines[at], len(lines[at])))
        elif act == 4:
            lines.insert(at, lines[draw.randrange(len(lines))])
        elif act == 5:
            odd = draw.choice(
                ["\x00", "9" * 400, "-", "1e999", "%", "\u0661", "12 (", "<", "(5-", "NaN", "inf", "1.2.3", "--5"]
            )
            cells_ = lines[at].split(",")
            cells_[draw.randrange(len(cells_))] = odd
            lines[at] = ",".join(cells_)
        else:
            del lines[at]
            lines = lines or [""]
    return "\n".join(lines)


def fuzzed(seeds: Sequence[int], folder: Path) -> int:
    """Read spoilt files; how many cells were conserved."""
    total = 0
    for seed in seeds:
        draw = random.Random(seed)
        form = draw.choice([crosstab, tidy])
        out = io.StringIO()
        csv.writer(out).writerows(form(draw))
        path = folder / "f.csv"
        path.write_text(spoilt(draw, out.getvalue()), encoding="utf-8")
        reading = read_files([path], told_of([]))
        assert reading.conserved, seed
        one_by_one = Counter(cell.role for cell in cell_roles(reading))
        assert one_by_one == {role: often for role, often in reading.roles.items() if often and role != AMONG_COUNTS}, seed
        total += reading.cells
    return total


def test_spoilt_files_lose_no_cell(tmp_path: Path) -> None:
    assert fuzzed(range(150), tmp_path) > 1000


@pytest.mark.slow
def test_two_thousand_spoilt_files_lose_no_cell(tmp_path: Path) -> None:
    assert fuzzed(range(1000, 3000), tmp_path) > 10_000
