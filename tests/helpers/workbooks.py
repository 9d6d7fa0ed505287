"""A workbook with every kind of cell that the page has to read as the package for workbooks does."""

from datetime import date, datetime, time
from importlib import import_module
from typing import Any


def odd_workbook() -> Any:
    """Three sheets: a table with a percentage, dates, errors, rich text and merged cells; a hidden one; an empty one."""
    book = import_module("openpyxl").Workbook()
    sheet = book.active
    for row in (
        ["ward", "young", "old", "Total", "share"],
        ["North", "*", 5, 8, 0.4],
        ["South", 4, "*", 9, 0.45],
        ["Total", 7, 10, 17, 1],
    ):
        sheet.append(row)
    for row in range(2, 5):
        sheet.cell(row, 5).number_format = "0%"
    sheet.append([])
    sheet.append(
        [True, date(2020, 1, 2), datetime(2020, 1, 2, 3, 4, 5), time(1, 2, 3), "=1/0", "#N/A", " x ", 1e20, -3, 0.1 + 0.2]
    )
    formats = ["[Red]0.00;[Blue]-0", "[h]:mm:ss", '"day" 0', "d-mmm-yy", "mm/yyyy", "0.00E+00"]
    for column, form in enumerate(formats, 1):
        cell = sheet.cell(8, column, [43831, 1.5, 5, 44000.25, 12, 12345][column - 1])
        cell.number_format = form
    rich, font = import_module("openpyxl.cell.rich_text"), import_module("openpyxl.cell.text").InlineFont(b=True)
    sheet["A10"] = rich.CellRichText("plain ", rich.TextBlock(font, "bold"))
    sheet.merge_cells("A12:C13")
    sheet["A12"] = "merged\nlines"
    hidden = book.create_sheet("hidden")
    hidden.sheet_state = "hidden"
    hidden["C4"] = "x"
    book.create_sheet("empty")
    return book
