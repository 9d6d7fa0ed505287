"""Reading of YAML and JSON files that may come from anybody: duplicate keys, bombs and broken files are refused."""

import json
from collections.abc import Hashable
from pathlib import Path
from stat import S_ISREG
from typing import Any

import yaml

from genverify.core.errors import DataError

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LARGEST_BYTES = 64 * 2**20
MOST_VALUES = 1_000_000  # of a YAML file, with every alias written out
DEEPEST = 100
MERGE = "tag:yaml.org,2002:merge"


class _Loader(LOADER):  # type: ignore[misc]
    """
    The safe loader; a duplicate key in a mapping is an error, not silently the last one.

    >>> yaml.load("a: 1\\na: 2", _Loader)
    Traceback (most recent call last):
    genverify.core.errors.DataError: line 2: the key 'a' is duplicated; keep one
    """

    def get_single_node(self) -> Any:
        node = super().get_single_node()
        if node is not None:
            _size(node, {})
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key_node in (key for key, _ in node.value if key.tag != MERGE):
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise DataError(f"line {key_node.start_mark.line + 1}: the key {str(key)!r} is duplicated; keep one")
            if isinstance(key, Hashable):
                seen.add(key)
        found: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        return found


def _size(node: Any, known: dict[int, int]) -> int:
    """How many values a node holds when every alias in it is written out."""
    if known.get(id(node)) == 0:
        raise DataError(f"line {node.start_mark.line + 1}: an alias stands inside of what it names")
    if id(node) not in known:
        known[id(node)] = 0
        items = [] if isinstance(node, yaml.ScalarNode) else node.value
        known[id(node)] = 1 + sum(_size(part, known) for item in items for part in _parts(item))
    if known[id(node)] > MOST_VALUES:
        raise DataError(f"line {node.start_mark.line + 1}: its aliases stand for more than {MOST_VALUES} values")
    return known[id(node)]


def _parts(item: Any) -> tuple[Any, ...]:
    return item if isinstance(item, tuple) else (item,)


def _check_depth(text: str) -> None:
    """The C library builds nested values by recursion, without a limit: too deep a file would end the program."""
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise DataError(f"line {event.start_mark.line + 1}: nested more than {DEEPEST} levels deep")


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file that holds a mapping."""
    try:
        content = _read(path, "check the path in config.yaml")
        _check_depth(content)
        text = yaml.load(content, Loader=_Loader)
    except (yaml.YAMLError, ValueError) as error:
        raise DataError(f"{path}: not valid YAML ({' '.join(str(error).split())})") from None
    except DataError as error:
        raise DataError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None
    if not isinstance(text, dict):
        raise DataError(f"{path}: holds no settings; a mapping is expected")
    return text


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file that holds an object; a duplicate key is an error."""
    try:
        text = json.loads(_read(path, "check the path"), object_pairs_hook=refuse_duplicates)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not valid JSON ({error})") from None
    if not isinstance(text, dict):
        raise DataError(f"{path}: an object is expected")
    return text


def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs of a JSON object; an error for a key that is duplicated, where JSON takes the last one silently."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in names if names.count(key) > 1)!r} is duplicated")
    return found


def regular_file(path: Path, hint: str = "check the path") -> Path:
    """The path of a regular file; an error for what is none: a device or a FIFO may never end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}); {hint}") from None
    if not S_ISREG(mode):
        raise DataError(f"{path}: is no regular file, so it is not read; {hint}")
    return path


def _read(path: Path, hint: str) -> str:
    regular_file(path, hint)
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise DataError(f"{path}: larger than {LARGEST_BYTES} bytes, too large for a file of settings; {hint}")
        return path.read_text()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); {hint}") from None
