"""What the site has beyond docs/ (`hooks` of mkdocs.yml): reference pages, and copies of files that pages link to."""

import json
import re
from pathlib import Path
from typing import Any

import genverify
from genverify.cli import parser
from genverify.run.config import read_shipped
from genverify.run.layout import PARTS
from genverify.run.manual import commands_page, python_page, settings_page

LINK = re.compile(r"(\]\()((?:\.\./)+[^)#\s]+)((?:#[^)\s]*)?\))")
COPIES = "repository"


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
            name = outside(page.src_uri, link[2])
            if name and (root / name).is_file() and f"{COPIES}/{name}" not in files.src_uris:
                files.append(File.generated(config, f"{COPIES}/{name}", content=(root / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links to files outside docs/ lead to their copies; those of a copy to what lies beside the original are plain text."""
    here = page.file.src_uri
    if here.startswith(f"{COPIES}/"):
        return re.sub(r"(?<!!)\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", markdown)

    def copied(link: re.Match[str]) -> str:
        name = outside(here, link[2])
        return f"{link[1]}{'../' * here.count('/')}{COPIES}/{name}{link[3]}" if name else link[0]

    return LINK.sub(copied, markdown)


def outside(page: str, link: str) -> str | None:
    """
    The path, from the root of the repository, of a file outside docs/ that a page of docs/ links to.

    >>> outside("tutorials/figure.md", "../../CONTRIBUTING.md"), outside("tutorials/figure.md", "../gtv.md")
    ('CONTRIBUTING.md', None)
    """
    depth = page.count("/")
    ups = len(re.findall(r"\.\./", link))
    return link.removeprefix("../" * ups) if ups > depth else None
