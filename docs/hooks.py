"""What the site has beyond docs/ (`hooks` of mkdocs.yml): commands, settings and the Python interface as pages."""

import argparse
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import genverify
from genverify.run.cli.commands import parser
from genverify.run.cli.shell import EXIT_CODES, leaves
from genverify.run.config import read_shipped
from genverify.run.layout import PARTS, STAGES
from genverify.run.registry import studies
from reference_set import read_listing

# Reference pages: commands from their parsers, settings from their schema, the Python interface from docstrings.

WIDTH = 84  # columns: pages of help are the same whatever the terminal


def commands_page(parser: argparse.ArgumentParser) -> str:
    """Every command with what its --help says."""
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    lines = ["# Commands", "", "What `--help` says of each command. [What they have in common](../shell.md).", ""]
    for one in leaves(commands):
        one.formatter_class = _wide(one.formatter_class)
        lines += [f"## {one.prog.removeprefix(parser.prog).strip()}", "", "```text", one.format_help().rstrip(), "```", ""]
    codes = [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    return "\n".join([*lines, "## Exit codes", "", "| code | meaning |", "| --- | --- |", *codes, ""])


def _wide(form: Any) -> Any:
    """The same form of help in a width that does not depend on the terminal."""
    return lambda prog: form(prog, width=WIDTH)


def settings_page(schema: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    """Every section of the settings with its keys, their kinds and limits, and the values that are shipped."""
    about = "What `config.yaml` and the files of `config/` may hold, from `config/schema.json`, with the shipped values."
    lines = ["# Settings", "", f"{about} `snakemake --configfile mine.yaml` lays a file over them.", ""]
    plain: list[str] = []
    sections: list[str] = []
    for name, form in schema["properties"].items():
        result = _resolved(form, schema)
        value = values.get(name)
        if "properties" in result:
            sections += ["", f"## {name}", "", *_described(result), "| key | kind | shipped |", "| --- | --- | --- |"]
            sections += list(_rows(name, result, schema, value if isinstance(value, Mapping) else {}))
        else:
            plain.append(f"| `{name}` | {_kind(form, schema)} | {_value(value)} |")
    return "\n".join([*lines, "| key | kind | shipped |", "| --- | --- | --- |", *plain, *sections, ""])


def _rows(prefix: str, form: Mapping[str, Any], schema: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[str]:
    for name, part in form["properties"].items():
        result, value = _resolved(part, schema), values.get(name)
        if "properties" in result and isinstance(value, Mapping):
            yield from _rows(f"{prefix}.{name}", result, schema, value)
        else:
            yield f"| `{prefix}.{name}` | {_kind(part, schema)} | {_value(value)} |"


def _described(form: Mapping[str, Any]) -> list[str]:
    text = " ".join(str(form.get("description", "")).split())
    return [text, ""] if text else []


def _resolved(form: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" in form:
        result: Mapping[str, Any] = schema["$defs"][form["$ref"].rpartition("/")[2]]
        return result
    return form


def _kind(form: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """
    A kind of value in words.

    >>> _kind({"type": "integer", "minimum": 1}, {}), _kind({"enum": ["highs", "gurobi"]}, {})
    ('integer, from 1', '`highs` or `gurobi`')
    """
    form = _resolved(form, schema)
    if "enum" in form or "const" in form:
        return " or ".join(f"`{one}`" for one in form.get("enum", [form.get("const")]))
    if "anyOf" in form:
        return " or ".join(dict.fromkeys(_kind(one, schema) for one in form["anyOf"]))
    if form.get("type") == "array":
        return f"list of {_kind(form.get('items', {}), schema)}"
    if "properties" in form:
        return "section"
    if form.get("type") == "object":
        return f"names, each with {_kind(form.get('additionalProperties') or {}, schema)}"
    limits = {"minimum": "from {}", "exclusiveMinimum": "above {}", "maximum": "to {}", "exclusiveMaximum": "below {}"}
    said = [words.format(form[name]) for name, words in limits.items() if name in form]
    return ", ".join([{"null": "nothing"}.get(str(form.get("type")), str(form.get("type", "any value"))), *said])


def _value(value: Any) -> str:
    text = " ".join(str(value).split()).replace("|", "\\|")
    return "" if value is None else f"`{text}`" if len(text) <= 60 else f"`{text[:57]}...`"


def python_page(module: Any) -> str:
    """What `import genverify` offers: every name with its signature and docstring."""
    lines = ["# Python", "", "`import genverify as gv`; each name is loaded when it is used.", "", *_doc(module), ""]
    for name in module.__all__:
        value = getattr(module, name)
        lines += [f"## {name}", "", "```python", f"gv.{name}{_signature(value)}", "```", "", *_doc(value), ""]
        lines += list(_members(value)) if inspect.isclass(value) else []
    return "\n".join(lines)


def _members(part: type) -> Iterator[str]:
    """The public methods and properties of a class that say what they do."""
    for name, member in vars(part).items():
        text = inspect.getdoc(member) if not name.startswith("_") else None
        if text and (callable(member) or hasattr(member, "__get__")):
            yield from [f"**`.{name}`** {' '.join(text.partition('>>>')[0].split())}", ""]


def _signature(part: Any) -> str:
    return re.sub(r"(?:\w+\.)+(\w+)", r"\1", str(inspect.signature(part))) if callable(part) else ""


def _doc(part: Any) -> list[str]:
    """A docstring as Markdown: examples as code, the rest as text."""
    lines: list[str] = []
    inside = False
    for line in (inspect.getdoc(part) or "").splitlines():
        if line.startswith(">>>") and not inside:
            lines, inside = [*lines, "```pycon"], True
        elif inside and not line.strip():
            lines, inside = [*lines, "```"], False
        lines.append(line)
    return [*lines, "```"] if inside else lines


# What the site has beyond docs/ (`hooks` of mkdocs.yml): reference pages, and copies of files that pages link to.

LINK = re.compile(r"(\]\()((?:\.\./)+[^)#\s]+)((?:#[^)\s]*)?\))")
COPIES = "repository"
# what can be tried on the site: the offline page, and the explorer of the tiny study, which `make site` makes first
LIVE = {
    "live/page.html": "src/genverify/disclosure/page.html",
    "live/explorer.html": "runs/site/results/explorer/all_in_one.html",
}
ABSENT = "<!doctype html><meta charset=utf-8><title>genverify</title><p>Not made yet: <code>make site</code> makes it.</p>"
PAPERS, REFERENCE = "Every figure and table", "reference/README.md"
DRAWN = re.compile(r"```mermaid\ngraph TD\n(.*?)```\n", re.DOTALL)
ARROW = re.compile(r"^  \w+\[(.+?)\] -->\|(\d+)\| \w+\[(.+?)\]$", re.MULTILINE)


def on_config(config: Any) -> Any:
    """Put the pages of the studies into the section of the papers: those that no other section has."""
    sections = (pages for section in config.nav for pages in section.values() if isinstance(pages, list))
    papers = next(pages for pages in sections if {PAPERS: REFERENCE} in pages)
    listed = re.findall(r"[\w/]+\.md", str(config.nav))
    order = list(read_listing(Path(config.docs_dir).parent / STAGES).papers)
    known = sorted(studies(), key=lambda study: order.index(study.name) if study.name in order else len(order))
    pages = [page for study in known for page in (f"{study.name}.md", *study.pages) if page not in listed]
    papers[:0] = [page for page in pages if (Path(config.docs_dir) / page).is_file()]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the reference pages, what can be tried, and a copy of every file outside docs/ that a page links to."""
    from mkdocs.structure.files import File

    root = Path(config.docs_dir).parent
    for name, path in LIVE.items():
        text = (root / path).read_text(encoding="utf-8") if (root / path).is_file() else ABSENT
        files.append(File.generated(config, name, content=text))
    pages = {
        "manual/commands.md": commands_page(parser()),
        "manual/settings.md": settings_page(json.loads((root / PARTS / "schema.json").read_text()), read_shipped(root)),
        "manual/python.md": python_page(genverify),
    }
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    for page in list(files.documentation_pages()):
        for link in LINK.finditer(page.content_string):
            linked = outside(page.src_uri, link[2])
            if linked and (root / linked).is_file() and f"{COPIES}/{linked}" not in files.src_uris:
                text = (root / linked).read_text(encoding="utf-8")
                files.append(File.generated(config, f"{COPIES}/{linked}", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links to files outside docs/ lead to their copies; a picture that a browser would load a library for is a table."""
    here = page.file.src_uri
    if here.startswith(f"{COPIES}/"):  # what lies beside the original does not lie beside its copy
        return re.sub(r"(?<!!)\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", markdown)

    def copied(link: re.Match[str]) -> str:
        name = outside(here, link[2])
        return f"{link[1]}{'../' * here.count('/')}{COPIES}/{name}{link[3]}" if name else link[0]

    return DRAWN.sub(_as_table, LINK.sub(copied, markdown))


def _as_table(drawn: re.Match[str]) -> str:
    rows = [f"| {one} | {other} | {times} |" for one, times, other in ARROW.findall(drawn[1])]
    return "\n".join(["| package | imports from | times |", "| --- | --- | --- |", *rows, ""])


def outside(page: str, link: str) -> str | None:
    """
    The path, from the root of the repository, of a file outside docs/ that a page of docs/ links to.

    >>> outside("tutorials/figure.md", "../../CONTRIBUTING.md"), outside("tutorials/figure.md", "../gtv.md")
    ('CONTRIBUTING.md', None)
    """
    depth = page.count("/")
    ups = len(re.findall(r"\.\./", link))
    return link.removeprefix("../" * ups) if ups > depth else None
