"""What the site has beyond docs/ (`hooks` of mkdocs.yml): reference pages, and copies of files that pages link to."""

import json
import re
from pathlib import Path
from typing import Any

import genverify
from genverify.run.config import read_shipped
from genverify.run.layout import PARTS
from genverify.run.manual import commands_page, python_page, settings_page
from genverify.run.parsers import parser

LINK = re.compile(r"(\]\()((?:\.\./)+[^)#\s]+)((?:#[^)\s]*)?\))")
COPIES = "repository"
DRAWN = re.compile(r"```mermaid\ngraph TD\n(.*?)```\n", re.DOTALL)
ARROW = re.compile(r"^  \w+\[(.+?)\] -->\|(\d+)\| \w+\[(.+?)\]$", re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """Add the reference pages, and a copy of every file outside docs/ that a page links to."""
    from mkdocs.structure.files import File

    root = Path(config.docs_dir).parent
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
    return "\n".join(["| room | imports from | times |", "| --- | --- | --- |", *rows, ""])


def outside(page: str, link: str) -> str | None:
    """
    The path, from the root of the repository, of a file outside docs/ that a page of docs/ links to.

    >>> outside("tutorials/figure.md", "../../CONTRIBUTING.md"), outside("tutorials/figure.md", "../gtv.md")
    ('CONTRIBUTING.md', None)
    """
    depth = page.count("/")
    ups = len(re.findall(r"\.\./", link))
    return link.removeprefix("../" * ups) if ups > depth else None
