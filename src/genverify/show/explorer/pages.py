"""The files of the explorer: one page with its style and scripts inside, and pieces of data that it loads as scripts."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from genverify.core.errors import DataError
from genverify.core.files import file_name, read_yaml

POLICY = (
    "default-src 'none'; script-src 'self' file: {scripts}; style-src {styles}; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)
# named in full, so that the digest of a job's code covers them
TEMPLATE = "show/explorer/page/index.html"
STYLE = "show/explorer/page/explorer.css"
SCRIPTS = (
    "show/explorer/page/1-data.js",
    "show/explorer/page/2-words.js",
    "show/explorer/page/3-proof.js",
    "show/explorer/page/4-side.js",
    "show/explorer/page/5-likely.js",
    "show/explorer/page/6-block.js",
    "show/explorer/page/7-main.js",
)


def page_text(title: str) -> str:
    """The page from the files of page/: the template, the style sheet and the scripts, in their order."""
    template, style, *scripts = (files("genverify").joinpath(name).read_text() for name in (TEMPLATE, STYLE, *SCRIPTS))
    return render_page(template, style, scripts, title)


def render_page(template: str, style: str, scripts: Sequence[str], title: str) -> str:
    """The page: nothing but its own style, its own scripts and pieces from beside it can ever be loaded or run."""
    inside = "".join(f"<script>{script}</script>\n" for script in scripts)
    policy = POLICY.format(scripts=" ".join(map(_source, scripts)), styles=_source(style))
    parts = {"title": escape(title), "policy": policy, "style": f"<style>{style}</style>", "scripts": inside}
    for name, text in parts.items():
        template = template.replace(f"{{{{ {name} }}}}", text)
    return template


def _source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def write_piece(folder: Path, name: str, content: Any) -> None:
    """A piece of data as a script that hands itself over; the same content gives the same bytes."""
    (folder / f"{file_name(name)}.js").write_text(f"genverify.take({json.dumps(name)},{_plain(content)});\n")


def write_list(folder: Path, name: str, rows: Iterable[Any]) -> None:
    """A piece that is a list, written row by row."""
    with (folder / f"{file_name(name)}.js").open("w") as file:
        file.write(f"genverify.take({json.dumps(name)},[")
        for place, row in enumerate(rows):
            file.write(f"{',' if place else ''}{_plain(row)}")
        file.write("]);\n")


def _plain(content: Any) -> str:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=True)


def read_places(path: Path) -> Mapping[str, Any]:
    """Where each state stands on the map of tiles."""
    try:
        return {
            str(state): {
                "short": str(place["short"]),
                "name": str(place["name"]),
                "at": [int(place["row"]), int(place["column"])],
            }
            for state, place in read_yaml(path)["places"].items()
        }
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{path}: not a file of places ({error!r}); see data/census/places.yaml for the form") from None


def in_pieces(entries: Iterable[tuple[str, Any]], size: int) -> Iterator[dict[str, Any]]:
    """Entries by name, some at a time."""
    piece: dict[str, Any] = {}
    for name, entry in entries:
        piece[name] = entry
        if len(piece) == size:
            yield piece
            piece = {}
    if piece:
        yield piece
