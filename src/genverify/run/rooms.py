"""The rooms of the library as a page: which imports from which, and every module with its first sentence."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
PAPERS = "papers"


def add_parser(commands: Any) -> None:
    """Add `rooms` to the commands."""
    parser = commands.add_parser("rooms", help="print the rooms of the library, their imports and every module (Markdown)")
    parser.set_defaults(run=lambda options: print(rooms_page(), end=""))


def rooms_page() -> str:
    """The page: a picture of the imports between rooms (Mermaid), then every module."""
    modules = {path: path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py"}
    rooms = list(dict.fromkeys(_room(place.parts) for place in modules.values()))
    arrows = Counter(arrow for path, place in modules.items() for arrow in _arrows(path, _room(place.parts)))
    lines = ["# The rooms", "", "Made by `genverify rooms`; each arrow says how many imports it stands for.", ""]
    lines += ["```mermaid", "graph TD"]
    lines += [f"  {_id(one)} -->|{times}| {_id(other)}" for (one, other), times in sorted(arrows.items())]
    lines += ["```", ""]
    for room in rooms:
        lines += [f"## {room or 'the front door'}", "", "| module | what it is |", "| --- | --- |"]
        lines += [f"| `{place}` | {_sentence(path)} |" for path, place in modules.items() if _room(place.parts) == room]
        lines += [""]
    return "\n".join(lines)


def _room(parts: tuple[str, ...]) -> str:
    """The room of a module; each paper is one."""
    depth = 2 if parts[0] == PAPERS else 1
    return "/".join(parts[:depth]) if len(parts) > 1 else ""


def _id(room: str) -> str:
    return f"{room.replace('/', '_') or 'door'}[{room or 'front door'}]"


def _arrows(path: Path, room: str) -> Iterator[tuple[str, str]]:
    """The other rooms that a module imports from, once per import."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE.name}."):
            parts = (node.module or "").split(".")[1:]
            other = _room((*parts, "")) if (PACKAGE / parts[0]).is_dir() else ""
            if other != room:
                yield room, other


def _sentence(path: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return text.splitlines()[0].replace("|", "\\|")
