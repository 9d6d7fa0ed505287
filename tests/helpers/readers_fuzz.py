"""
Random tables with a known truth, written in the formats and with the oddities that published files have, then asked about.

An escape is a false statement: a range that leaves the true count out, fewer withheld cells than the file has, or `safe`
where a count follows. A traceback is anything but an error in words; a hang uses up its CPU seconds. Files that were damaged
at random have no truth: only tracebacks and hangs are counted for them.
"""

import csv
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from genverify.model import errors
from genverify.reading.source import column_name as letters
from readings import OutOfTimeError, ask

SECONDS = 20.0  # of CPU for one case; an honest one takes less than one
SYMBOLS = ["*", "[c]", "[x]", "..", ":", "S", "D", "N", "NA", "x", "Suppressed", "[REDACTED]", "Masked", "-"]
HEADERS = ["Total", "persons", "people", "number", "n", "value", "count", "frequency", "All", "sum", "All groups", "Count"]
LABELS = ["A", "x, B=y", 'say "a"', "total_stated", "All other races", "ALL CITY SCHOOL", "N", "S", "<5", "0-4", "5-9",
          "2019",
          "*", "[c]", "1", "Subtotal", "nan", "a=b", "=1+1", "\u00e9t\u00e9", "of which x", "-"]  # fmt: skip
WORDS = [
    "*=suppressed",
    "*=1-4",
    "*=4-1",
    "blank=0",
    "=",
    "*",
    "x" * 3000,
    "*=9" + "9" * 40,
    "Total=suppressed",
    "-=0",
    "*=<5",
]
KINDS = {name for name, own in vars(errors).items() if isinstance(own, type) and issubclass(own, errors.GenverifyError)}


@dataclass
class Cell:
    """A text, and the count behind it where it is one; `hidden` where a symbol stands for it."""

    text: str
    truth: int | None = None
    hidden: bool = False


Grid = list[list[Cell]]


@dataclass
class Case:
    """Files to ask about with their options; what is true of the places that hold counts, or None where nothing is known."""

    files: list[Path]
    options: list[str] = field(default_factory=list)
    truth: dict[str, int] | None = None
    hidden: int = 0
    follows: bool = False  # a withheld count follows from the other cells of its row or column
    what: str = ""


def table(rng: Random) -> tuple[Grid, str]:
    """A table of counts by two things with its totals, some of them withheld; and the symbol that is used."""
    rows, columns, big = rng.randint(2, 5), rng.randint(2, 4), rng.choice([9, 9, 40, 3000])
    counts = [[rng.randint(0, big) for _ in range(columns)] for _ in range(rows)]
    counts = [[*row, sum(row)] for row in counts]
    counts.append([sum(row[at] for row in counts) for at in range(columns + 1)])
    symbol = rng.choice(SYMBOLS)
    names = [*(f"r{at}" for at in range(rows)), "Total"]
    head = [Cell("area"), *(Cell(f"g{at}") for at in range(columns)), Cell("Total")]
    part = rng.choice([0.0, 0.1, 0.3, 0.7])
    body = [[Cell(name), *(Cell(str(n), n) for n in row)] for name, row in zip(names, counts, strict=True)]
    for row in body:
        for cell in row[1:]:
            if rng.random() < part:
                cell.text, cell.hidden = symbol, True
    return [head, *body], symbol


def follows(grid: Grid) -> bool:
    """Whether a row or a column of a plain table with totals has one withheld count alone."""
    body = [row[1:] for row in grid[1:]]
    lines = [*body, *map(list, zip(*body, strict=True))]
    return any(sum(cell.hidden for cell in line) == 1 for line in lines)


def signs(grid: Grid, rng: Random) -> None:
    """Thousands with another sign."""
    sign = rng.choice([".", ",", " ", "\u00a0", "'"])
    for cell in (cell for row in grid for cell in row if cell.truth is not None and not cell.hidden):
        cell.text = f"{cell.truth:,}".replace(",", sign)


def renamed(grid: Grid, rng: Random) -> None:
    for row in rng.sample(grid[1:], rng.randint(1, len(grid) - 1)):
        row[0].text = rng.choice(LABELS)


def headed(grid: Grid, rng: Random) -> None:
    if rng.random() < 0.5:
        grid[0][-1].text = rng.choice(HEADERS)
    elif rng.random() < 0.5:
        for cell in grid[0][1:]:
            cell.text = "Count"
    else:
        rng.choice(grid[0][1:]).text = rng.choice([*LABELS, ""])


def blanks(grid: Grid, rng: Random) -> None:
    """A blank row or column, a title, a footnote, a heading, a second row of headers, a total without counts."""
    width, at = len(grid[0]), rng.randint(0, len(grid))
    kind = rng.randrange(7)
    if kind == 0:
        grid.insert(at, [Cell("") for _ in range(width)])
    elif kind == 1:
        place = rng.randint(0, width)
        for row in grid:
            row.insert(place, Cell(""))
    elif kind == 5:
        grid.insert(at, [Cell(cell.text) for cell in grid[0]])
    else:
        text = {2: "People by area", 3: "Note: made up", 4: "Part one", 6: "Total"}[kind]
        grid.insert(at, [Cell(text), *(Cell("") for _ in range(width - 1))])


def indented(grid: Grid, rng: Random) -> None:
    """A row is split into two that stand further in below it."""
    at = rng.randint(1, len(grid) - 2)
    first = [rng.randint(0, cell.truth or 0) for cell in grid[at][1:-1]]
    for name, parts in (("one", first), ("two", [(c.truth or 0) - n for c, n in zip(grid[at][1:-1], first, strict=True)])):
        parts = [*parts, sum(parts)]
        hide = rng.random() < 0.7
        symbol = next((c.text for row in grid[1:] for c in row[1:] if c.hidden), "*")
        new = [Cell(symbol if hide else str(n), n, hide) for n in parts]
        grid.insert(at + 1, [Cell(f"  {name}"), *new])


def percentages(grid: Grid, rng: Random) -> None:
    """A percentage beside each count, of its row, its column or everyone."""
    kind, whole = rng.randrange(3), grid[-1][-1].truth or 0
    totals = [cell.truth or 0 for cell in grid[-1][1:]]
    for number, row in enumerate(grid):
        new = [row[0]]
        for at, cell in enumerate(row[1:]):
            of = [row[-1].truth or 0, totals[at], whole][kind] if number else 0
            share = f"{100 * (cell.truth or 0) / of:.1f}" if of else "0.0"
            new += [cell, Cell("%" if not number else share)]
        row[:] = new


def plain(grid: Grid, rng: Random) -> None:
    """Nothing: the table as it is."""


CHANGES: list[Callable[[Grid, Random], None]] = [plain, plain, signs, renamed, headed, blanks, indented, percentages]


def places(grid: Grid) -> dict[str, int]:
    return {
        f"{letters(at)}{number}": cell.truth
        for number, row in enumerate(grid, 1)
        for at, cell in enumerate(row)
        if cell.truth is not None
    }


def as_text(grid: Grid, folder: Path, rng: Random) -> Path:
    delimiter, ending = rng.choice([(",", "csv"), (";", "csv"), ("\t", "tsv"), ("|", "txt")])
    path = folder / f"t{rng.randrange(1000)}.{ending}"
    with path.open("w", encoding=rng.choice(["utf-8", "utf-8-sig", "utf-16"]), newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([cell.text for cell in row] for row in grid)
    return path


def as_book(grid: Grid, folder: Path, rng: Random) -> Path:
    book = import_module("openpyxl").Workbook()
    sheet = book.active
    for number, row in enumerate(grid, 1):
        for at, cell in enumerate(row, 1):
            plain = cell.truth is not None and not cell.hidden and cell.text.isdecimal() and rng.random() < 0.9
            sheet.cell(number, at).value = int(cell.text) if plain else cell.text or None
            sheet.cell(number, at).data_type = "s" if isinstance(sheet.cell(number, at).value, str) else "n"
    if rng.random() < 0.3:
        sheet["A1048576"].number_format = sheet["XFD3"].number_format = "0.0"
    if rng.random() < 0.2:
        book.create_sheet("raw")["A1"] = "only words"
        book["raw"].sheet_state = "hidden"
    if rng.random() < 0.2:
        sheet.row_dimensions[2].hidden = True
    if rng.random() < 0.2:
        sheet.merge_cells(start_row=1, start_column=2, end_row=1, end_column=rng.choice([3, 16384]))
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def crosstab(folder: Path, rng: Random) -> Case:
    """A table as people print it, changed in one or two ways."""
    grid, symbol = table(rng)
    sure = follows(grid)
    chosen = sorted({rng.choice(CHANGES) for _ in range(rng.randint(1, 2))}, key=CHANGES.index)  # percentages come last
    for change in chosen:
        change(grid, rng)
    hidden = sum(cell.hidden for row in grid for cell in row)
    path = as_book(grid, folder, rng) if rng.random() < 0.4 else as_text(grid, folder, rng)
    told = ["--mark", f"{symbol}=suppressed"] if hidden and rng.random() < 0.8 else []
    what = f"{path.suffix} {' '.join(change.__name__ for change in chosen)}"
    return Case([path], told, places(grid), hidden, sure and set(chosen) <= {plain, signs}, what)


def lines(folder: Path, rng: Random) -> Case:
    """A line for each cell, as CSV, JSON-stat or PC-Axis."""
    grid, symbol = table(rng)
    rows, columns = [row[0].text for row in grid[1:]], [cell.text for cell in grid[0][1:]]
    cells = [cell for row in grid[1:] for cell in row[1:]]
    kind = rng.choice(["csv", "json", "px"])
    path = folder / f"t.{kind}"
    numbered = {"csv": "C{}", "json": "value {}", "px": "value {}"}[kind]
    truth = {numbered.format(at + {"csv": 2, "json": 1, "px": 1}[kind]): cell.truth for at, cell in enumerate(cells)}
    if kind == "csv":
        names = [(row, column) for row in rows for column in columns]
        head = f"area,group,{rng.choice(['count', 'n', 'value', 'persons', 'OBS_VALUE'])}"
        path.write_text("\n".join([head, *(f"{a},{b},{c.text}" for (a, b), c in zip(names, cells, strict=True))]) + "\n")
    elif kind == "json":
        values = {str(at): cell.truth for at, cell in enumerate(cells) if not cell.hidden}
        own = {"area": {"category": {"index": rows}}, "group": {"category": {"index": columns}}}
        status = {str(at): symbol for at, cell in enumerate(cells) if cell.hidden}
        size = [len(rows), len(columns)]
        dataset = {"id": ["area", "group"], "size": size, "value": values, "status": status, "dimension": own}
        path.write_text(json.dumps(dataset))
    else:
        listed = [",".join(f'"{name}"' for name in own) for own in (rows, columns)]
        data = " ".join(f'"{cell.text}"' if cell.hidden else cell.text for cell in cells)
        path.write_text(
            f'STUB="area";\nHEADING="group";\nVALUES("area")={listed[0]};\nVALUES("group")={listed[1]};\nDATA=\n{data};\n'
        )
    hidden = sum(cell.hidden for cell in cells)
    told = ["--mark", f"{symbol}=suppressed"] if hidden and rng.random() < 0.8 else []
    known = {place: count for place, count in truth.items() if count is not None}
    return Case([path], told, known, hidden, follows(grid), f"{kind} lines")


def years(folder: Path, rng: Random) -> Case:
    """Two years with the same labels and other people."""
    files, truth, hidden, symbol = list[Path](), dict[str, int](), 0, "*"
    for year in (2019, 2020):
        grid, symbol = table(rng)
        path = folder / f"people_{year}.csv"
        path.write_text("\n".join(",".join(cell.text for cell in row) for row in grid) + "\n")
        files.append(path)
        truth |= {f"{path.name}, {place}": count for place, count in places(grid).items()}
        hidden += sum(cell.hidden for row in grid for cell in row)
    return Case(files, ["--mark", f"{symbol}=suppressed"] if hidden else [], truth, hidden, False, "two years")


def argus(folder: Path, rng: Random) -> Case:
    """A tau-Argus table; what its metadata say of a hierarchy may be anything."""
    grid, _ = table(rng)
    text = "\n".join(
        f"{row[0].text},{h.text},{c.truth},{'U' if c.hidden else 'S'}"
        for row in grid[1:]
        for h, c in zip(grid[0][1:], row[1:], strict=True)
    )
    (folder / "t.tab").write_text(text + "\n")
    lead, file = rng.choice(["@", "", "@@", " "]), rng.choice(["a.hrc", "../a.hrc", "/etc/passwd", "b.hrc", "a.txt"])
    hierarchy = f'<HIERCODELIST> "{file}"\n<HIERLEADSTRING> "{lead}"\n' if rng.random() < 0.7 else ""
    tags = f'area\n<RECODEABLE>\n<TOTCODE> "Total"\n{hierarchy}group\n<RECODEABLE>\nn\n<FREQUENCY>\nstat\n<STATUS>\n'
    (folder / "t.rda").write_text(f'<SEPARATOR> ","\n{tags}')
    names = [row[0].text for row in grid[1:-1]]
    (folder / "a.hrc").write_text(
        "\n".join(rng.choice(["", "@", "@@"]) + rng.choice(names) for _ in range(rng.randint(1, 6)))
    )
    truth = {f"C{at}": cell.truth for at, cell in enumerate((c for row in grid[1:] for c in row[1:]), 2)}
    hidden = sum(cell.hidden for row in grid for cell in row)
    known = {place: count for place, count in truth.items() if count is not None}
    return Case([folder / "t.tab"], ["--mark", "status U=suppressed"] if hidden else [], known, hidden, False, "tau-Argus")


def damaged(folder: Path, rng: Random) -> Case:
    """The bytes of a file changed at random, or cut."""
    case = rng.choice([crosstab, lines, argus])(folder, rng)
    path = rng.choice(sorted(folder.iterdir()))
    raw = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 3, 30])):
        at = rng.randrange(len(raw) + 1)
        piece = rng.choice(
            [b"", b"\0", b'"', b"\n", b"9" * 30, b"9" * 5000, b",", b"<", b"\xff\xfe", b"*", rng.randbytes(3)]
        )
        raw[at : at + rng.randrange(8)] = piece
    path.write_bytes(raw[: rng.randrange(len(raw) + 1)] if rng.random() < 0.2 else raw)
    return Case(case.files, case.options, None, what=f"damaged {case.what}")


def optioned(folder: Path, rng: Random) -> Case:
    """Options that nobody would give."""
    case = rng.choice([crosstab, lines])(folder, rng)
    (folder / "h.hrc").write_text(rng.choice(["r0\n@r1\n@@r0\n", "Total\n@r0\n@r1\n", "@r0\n", "", "r0\nr0\n", "@" * 5000]))
    names = [case.files[0].stem, "t", "area", "group", "columns", "Total", "r0", "g0", "x"]
    words = {
        "mark": WORDS,
        "rule": ["round=5", "random=0", "round=" + "9" * 50, "key=3", "suppress=5", "exact", "round=-1", "=", "x"],
        "total": [f"{rng.choice(names)}={rng.choice(names)}"], "inside": [f"{rng.choice(names)}={rng.choice(names)}"],
        "hierarchy": [f"{rng.choice(names)}={folder / 'h.hrc'}", f"area={folder}", "area=/dev/zero"],
        "fact": ["area=r0 >= 3", "area=r0 >= " + "9" * 60, "percent area=r0 of everyone = 12.5", "mean x of y = 1",
                 "x" * 20_000],
        "label": names, "no-total": names,
    }  # fmt: skip
    chosen = [(name, rng.choice(words[name])) for name in rng.choices(sorted(words), k=rng.randint(1, 3))]
    more = [f"--{name}={value}" for name, value in chosen]
    return Case(case.files, [*case.options, *more], None, what=f"options {case.what}")


MAKERS: list[Callable[[Path, Random], Case]] = [
    crosstab,
    crosstab,
    crosstab,
    lines,
    years,
    argus,
    damaged,
    damaged,
    optioned,
]


def outcome(case: Case, folder: Path) -> tuple[str, str]:
    """What came of a case (refused, answered, ESCAPE, TRACEBACK or HANG), and the reason of the last three."""
    out = folder / "out"
    limits = ("--search-seconds", "0", "--seconds", "5")
    try:
        reply = ask(*case.files, *case.options, *limits, folder=out, seconds=SECONDS)
    except OutOfTimeError:
        return "HANG", "out of time"
    except Exception as error:
        return "TRACEBACK", f"{type(error).__name__}: {str(error)[:200]}"
    if reply.refused:
        known = not reply.kind or reply.kind in KINDS or reply.kind == "CertificateError"
        return ("refused", "") if known else ("TRACEBACK", reply.kind)
    wrong = false_statement(case, reply.answer, out)
    return ("ESCAPE", wrong) if wrong else ("answered", "")


def false_statement(case: Case, answer: dict[str, Any], out: Path) -> str:
    """The first false statement of an answer, or nothing."""
    if case.truth is None:
        return ""
    with (out / "cells.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    for cell in cells:
        place = cell["place"].split("/")[-1]
        true = case.truth.get(place, case.truth.get(place.rpartition(", ")[2]))
        if true is not None and not (int(cell["lower"]) <= true <= (int(cell["upper"]) if cell["upper"] else true)):
            return f"{place} is {true}, said {cell['lower']} to {cell['upper']}"
    if not answer.get("left_out") and answer["suppressed"] < case.hidden:
        return f"{answer['suppressed']} withheld cells said, {case.hidden} there"
    if case.follows and answer["safe"] is not False and not (answer["safe"] is None and answer.get("left_out")):
        return "called safe, though a withheld count follows from its row or column"
    return ""


def run(cases: int, seed: int, only: Sequence[int] = ()) -> tuple[Counter[str], list[str]]:
    """The outcomes of a number of cases, and the failures in words."""
    outcomes, failures = Counter[str](), list[str]()
    for number in only or range(cases):
        rng = Random(f"{seed} {number}")
        with TemporaryDirectory() as name:
            folder = Path(name) / "in"
            folder.mkdir()
            case = rng.choice(MAKERS)(folder, rng)
            found, why = outcome(case, Path(name))
        outcomes[found] += 1
        if why:
            failures.append(f"{found} case {number} ({case.what}; {' '.join(case.options)[:120]}): {why}")
    return outcomes, failures
