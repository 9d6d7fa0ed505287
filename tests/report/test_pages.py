"""Tables as pages of the report: Markdown and CSV become HTML, and text stays text."""

from pathlib import Path

import pandas as pd
import pytest

from genverify.report.pages import bullets, document, markdown_table, table_page


def test_what_the_package_writes_as_markdown_comes_out_as_html(tmp_path: Path) -> None:
    table = markdown_table(["condition", "ours"], [["HHT=1|2", 1500], ["**all** <b>", 0.25]])
    text = document("Title & more", "synthetic microdata", [table, "## Notes", bullets(["one", "two `x`"])])
    (tmp_path / "t.md").write_text(text)
    page = table_page(tmp_path / "t.md")
    body = [line for line in page[page.index("<main") : page.index("</main>")].splitlines() if line][1:]
    assert body == [
        "<h1>Title &amp; more</h1>",
        "<p>Data: <b>synthetic microdata</b>.</p>",
        '<div class="wide"><table>',
        '<thead><tr><th>condition</th><th class="n">ours</th></tr></thead>',
        "<tbody>",
        '<tr><td>HHT=1|2</td><td class="n">1,500</td></tr>',
        '<tr><td><b>all</b> &lt;b&gt;</td><td class="n">0.25</td></tr>',
        "</tbody>",
        "</table></div>",
        "<h2>Notes</h2>",
        "<ul><li>one</li>",
        "<li>two <code>x</code></li>",
        "</ul>",
    ]


@pytest.mark.parametrize("value", ["<script>alert(1)</script>", '"><img src=x>', "a | b", "{title}"])
def test_a_hostile_cell_is_escaped(tmp_path: Path, value: str) -> None:
    (tmp_path / "a.md").write_text(markdown_table([value, "b"], [[value, 1]]) + "\n")
    pd.DataFrame({"a": [value], "data": [value]}).to_csv(tmp_path / "a.csv", index=False)
    for file in ("a.md", "a.csv"):
        page = table_page(tmp_path / file)
        assert "<script" not in page
        assert "<img" not in page
        assert page.count("<td") == page.count("</td>") >= 1


def test_a_csv_file_names_its_data_above_the_table(tmp_path: Path) -> None:
    pd.DataFrame({"figure": ["blocks"], "value": [484.0], "data": ["synthetic microdata"]}).to_csv(
        tmp_path / "t.csv", index=False
    )
    page = table_page(tmp_path / "t.csv")
    assert "<p>Data: <b>synthetic microdata</b>.</p>" in page
    assert '<tr><td>blocks</td><td class="n">484</td></tr>' in page
    assert "<th>data</th>" not in page
