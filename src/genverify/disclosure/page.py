"""The frame of a report: one HTML file with its style inside, readable offline, in light and dark, on paper and phones."""

from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #22313f; --soft: #5c6a75; --paper: #fff; --card: #f4f6f8; --line: #d5dbe0;
  --bar: #1b4f72; --mark: #e08214; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaee; --soft: #a5b0ba; --paper: #14191e; --card: #1f262d;
  --line: #39434c; --bar: #6fa8cf; --mark: #f0a04b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem; max-width: 62rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .4rem 0; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
p { margin: .5rem 0; } .soft { color: var(--soft); font-size: .92rem; }
.note { border-left: 4px solid var(--mark); padding: .3rem .8rem; background: var(--card); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.8rem, 1fr)); gap: .6rem; padding: 0;
  list-style: none; }
.cards li { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem; }
.cards b { display: block; font-size: 1.5rem; } .cards span { font-size: .88rem; color: var(--soft); }
.wide { overflow-x: auto; margin-bottom: .8rem; } td { overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td.bar { width: 22%; min-width: 6rem; } td:first-child:not(.n) { min-width: 7.5rem; }
.bar i { display: block; height: .8rem; margin-top: .3rem; background: var(--bar); border-radius: .2rem; min-width: 1px; }
code, pre { font: .85rem/1.45 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
pre { background: var(--card); padding: .6rem; overflow-x: auto; white-space: pre-wrap; }
details { border-bottom: 1px solid var(--line); padding: .45rem 0; } summary { cursor: pointer; }
@media (max-width: 40rem) { td.bar { min-width: 2.5rem; width: 15%; } th, td { padding: .3rem .35rem; } }
@media print { body { max-width: none; font-size: 10.5pt; } details, tr, .cards li { break-inside: avoid; } }
""".strip()


def page(title: str, body: Iterable[str]) -> str:
    """A whole page; the parts of the body are HTML already, the title is not."""
    view = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f"<head>{view}<title>{escape(title)}</title><style>\n{STYLE}\n</style></head>"
    return "\n".join(["<!doctype html>", f'<html lang="en">{head}', "<body>", *body, "</body></html>", ""])


def heading(text: str) -> str:
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str, kind: str = "") -> str:
    return f"<p{f' class={kind}' if kind else ''}>{escape(text)}</p>"


def cards(values: Sequence[tuple[object, str]]) -> str:
    """Numbers with a word about each."""
    items = "".join(f"<li><b>{escape(str(value))}</b><span>{escape(words)}</span></li>" for value, words in values)
    return f'<ul class="cards">{items}</ul>'


def table(head: Sequence[str], rows: Iterable[Sequence[object]], bar: int | None = None) -> str:
    """
    A table; numbers stand to the right. `bar` is a column of numbers that is also drawn, as a last column of bars.

    >>> "<td class=n>3</td>" in table(["cell", "count"], [("a", 3)])
    True
    """
    listed = [list(row) for row in rows]
    longest = max([float(str(row[bar])) for row in listed], default=0) if bar is not None else 0
    numbers = [all(isinstance(row[at], int | float) for row in listed) and bool(listed) for at in range(len(head))]
    top = "".join(f"<th{' class=n' if right else ''}>{escape(word)}</th>" for word, right in zip(head, numbers, strict=True))
    lines = []
    for row in listed:
        cells = "".join(
            f"<td{' class=n' if right else ''}>{escape(str(x))}</td>" for x, right in zip(row, numbers, strict=True)
        )
        if bar is not None:
            width = 100 * float(str(row[bar])) / longest if longest else 0
            cells += f'<td class=bar aria-hidden=true><i style="width:{width:.1f}%"></i></td>'
        lines.append(f"<tr>{cells}</tr>")
    end = "<th></th>" if bar is not None else ""
    return f'<div class="wide"><table><thead><tr>{top}{end}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def folded(summary: str, lines: Iterable[str]) -> str:
    """A line that opens to more of them."""
    return f"<details><summary>{escape(summary)}</summary><pre>{escape(chr(10).join(lines))}</pre></details>"
