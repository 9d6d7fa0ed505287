"""No retired word in a text that a user sees; CONTRIBUTING.md lists them."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LISTED = re.search(r"\| retired \|.*?\n\n", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
assert LISTED
ROWS = [row.split(" | ")[0].partition(" (")[0] for row in LISTED[0].splitlines()[2:] if row]
WORDS = [word for row in ROWS for word in row.strip("| ").split(", ")]
NO = r"(?<!there )(?<!that )(?<!what )\b(?:is|are) no (?!longer|more|less|such|two|one)[a-z]"  # X is no Y
RETIRED = re.compile(
    "|".join(NO if "X" in word else rf"(?<!quotation )(?<!tick )\b{word}\b(?! apart)" for word in WORDS), re.IGNORECASE
)
ALLOWED = {
    "src/genverify/reading/numerals.py": "withheld",  # what legends of tables say
    "src/studies/gtv/extension_figures.py": "withheld|marks",  # drawn in figures of the reference set
    "src/studies/gtv/withheld_zeros.py": "withholds?|withheld",  # as above
    "scripts/gtv/attack_zeros.py": "withheld",  # as above
    "src/studies/gtv/tables.py": "is no r",  # printed in tables of the reference set
    "workflow/gtv/captions/calibration.rst": "marks",  # captions of the reference set
    "workflow/gtv/captions/fig1.rst": "marked",  # as above
    "workflow/cellbounds/captions/cellbounds.rst": "marked",  # as above
    "workflow/housing/captions/housing_variability.rst": "limit struck",  # as above
}
MARKDOWN = [
    *ROOT.glob("*.md"),
    *(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "reference" and page.name != "modules.md"),
    *(ROOT / "config").glob("*.md"),
]
SCRIPTS = [*(ROOT / "page/src").rglob("*.js"), *(ROOT / "src/genverify/explorer/page").glob("*.js")]
MARKUP = [*(ROOT / "src").rglob("*.j2"), ROOT / "page/src/page.html", *(ROOT / "src/genverify/explorer/page").glob("*.html")]
CAPTIONS = [*(ROOT / "workflow").rglob("*.rst")]


def prose(text: str) -> str:
    """A page without code, links' targets and the list of retired words itself."""
    text = re.sub(r"\| retired \|.*?\n\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    return re.sub(r"`[^`]*`|\]\([^)]*\)|<[^>]+>", " ", text)


def python_texts(path: Path) -> Iterator[str]:
    """Sentences of a module: its own docstring, and every text with a space that is no other docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {
        id(own.body[0].value)
        for own in ast.walk(tree)
        if isinstance(own, (ast.ClassDef, ast.FunctionDef)) and isinstance(own.body[0], ast.Expr)
    }
    for own in ast.walk(tree):
        if isinstance(own, ast.Constant) and isinstance(own.value, str) and " " in own.value and id(own) not in inner:
            yield prose(own.value)


def script_texts(text: str) -> Iterator[str]:
    """Texts of JavaScript with a space: in double quotes, or in backquotes without what is filled in."""
    text = re.sub(r"^\s*(//|\*|/\*).*$", "", text, flags=re.MULTILINE)
    for double, back in re.findall(r'"([^"\n]*)"|`([^`]*)`', text):
        said = double or re.sub(r"\$\{[^}]*\}", " ", back)
        if " " in said:
            yield said


def texts() -> Iterator[tuple[str, str]]:
    for path in MARKDOWN:
        if path.name != "CHANGELOG.md":
            yield str(path.relative_to(ROOT)), prose(path.read_text(encoding="utf-8"))
    for home in ("src/genverify", "src/studies", "scripts"):
        for path in (ROOT / home).rglob("*.py"):
            yield from ((str(path.relative_to(ROOT)), said) for said in python_texts(path))
    for path in (ROOT / "examples/notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        yield from (
            (str(path.relative_to(ROOT)), prose("".join(own["source"]))) for own in cells if own["cell_type"] == "markdown"
        )
    for path in SCRIPTS:
        yield from ((str(path.relative_to(ROOT)), said) for said in script_texts(path.read_text(encoding="utf-8")))
    for path in (*MARKUP, *CAPTIONS):
        text = re.sub(r"\{[%{].*?[%}]\}|<(style|script)\b.*?</\1>", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        yield str(path.relative_to(ROOT)), prose(text.replace("\n    ", "\n"))


def test_no_retired_word_is_left() -> None:
    found = {
        (path, match[0])
        for path, text in texts()
        for match in RETIRED.finditer(text)
        if not re.fullmatch(ALLOWED.get(path, "-"), match[0], re.IGNORECASE)
    }
    assert sorted(found) == []


@pytest.mark.parametrize(
    "text", ["The office withheld it.", "What a mark means", "as told", "'x' is no number", "make it anew"]
)
def test_a_retired_word_is_found(text: str) -> None:
    assert RETIRED.search(prose(text))


@pytest.mark.parametrize(
    "text", ["`withhold: [1]`", "There is no table here.", "a quotation mark", "it is no longer printed"]
)
def test_other_words_are_not(text: str) -> None:
    assert not RETIRED.search(prose(text))


def test_scripts_and_templates_are_read() -> None:
    assert list(script_texts('const a = `withheld ${b} cells`; // told\nf("as told", "x");')) == [
        "withheld   cells",
        "as told",
    ]
    assert any(path.endswith(".html.j2") and "suppress" in text for path, text in texts())


def test_the_glossary_links_to_the_literature() -> None:
    rows = re.findall(
        r"^\| (.+?) \| .+ \| \[.+\]\((.+?)\)", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(rows) >= 25
