"""Files that may come from anybody: limits, YAML and JSON; duplicate keys, bombs and broken files are refused."""

import csv
import gzip
import json
import os
import re
import shutil
import unicodedata
import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import file_digest, sha256
from math import prod
from pathlib import Path
from typing import Any

import yaml

from genverify.model.errors import DataError, DiskError, naming, refusing

# Files of lines from anybody: their lines, rows and size are checked before they are read into memory.

UNREADABLE = (OSError, EOFError, ValueError, zlib.error, csv.Error)  # what reading a broken file raises


@dataclass(frozen=True)
class FileLimits:
    """How much a file may hold: rows, bytes when unpacked, combinations of labels; `remedy`: how to read a larger one."""

    rows: int = 5_000_000
    size: int = 2 * 2**30
    remedy: str = "split the file into several"
    cells: int = 500_000  # a system of more takes minutes and gigabytes; a file of 1 kB can name a billion combinations

    def check(self, path: Path, rows: int, size: int) -> None:
        """An error for more rows or bytes than allowed."""
        if rows > self.rows:
            raise DataError(f"{path}: holds more than {self.rows:,} rows; if that is meant, {self.remedy}")
        if size > self.size:
            raise DataError(f"{path}: holds more than {self.size:,} bytes when unpacked; if that is meant, {self.remedy}")

    def check_combinations(self, source: Path | str, sizes: Iterable[int], what: str) -> None:
        """An error for dimensions whose combinations are too many, before any of them is made."""
        sizes = list(sizes)
        if (number := prod(sizes)) > self.cells:
            factors = " x ".join(map(str, sizes[:6])) + (" x ..." if len(sizes) > 6 else "")
            said = f"{factors} = {f'{number:,}' if number < 10**12 else 'over 10^12'} combinations, more than {self.cells:,}"
            remedy = "leave out a column that only describes another one, or split the table"
            raise DataError(f"{source}: {what} has {said}; {remedy}")


LIMITS = FileLimits(remedy="allow more with --max-rows or --max-bytes (in a release file: max_rows, max_bytes)")


def one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def decode(data: bytes) -> tuple[str, str]:
    """The text of a file: in UTF-16 by its first bytes, else UTF-8, else the Windows code page; and which."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace"), "utf-16"
    try:
        return data.decode("utf-8-sig"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace"), "cp1252"


def delimiter_of(lines: Sequence[str]) -> str:
    """The delimiter that cuts most lines into the same number of cells, above one."""
    best = (0, 0, ",")
    for delimiter in ",;\t|":
        with suppress(csv.Error):
            wide = [len(row) for row in csv.reader(lines, delimiter=delimiter) if len(row) > 1]
            usual = max(set(wide), key=wide.count, default=0)
            best = max(best, (wide.count(usual), usual, delimiter), key=lambda one: one[:2])
    return best[2]


def guarded_lines(path: Path, longest: int, limits: FileLimits, row: str, packed: bool) -> Iterator[bytes]:
    """The lines of a file, `packed` with gzip or not; an error for a line, a number of lines or a size beyond the limits."""
    number = size = 0
    with gzip.open(path, "rb") if packed else path.open("rb") as file:
        while line := file.readline(longest + 1):
            number, size = number + 1, size + len(line)
            if len(line) > longest:
                raise DataError(f"{path}, line {number}: longer than {longest} bytes, too long for {row}")
            limits.check(path, number - 1, size)  # the first line is the header
            yield line


# Files that may come from anybody: duplicate keys, bombs and broken files are refused. Files and folders that are written:
# whole or not at all, and under names that stay in their folder whatever the data call them.

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LARGEST_BYTES = 64 * 2**20  # bounds memory and time of parsing: settings are far smaller
MOST_VALUES = 1_000_000  # of a YAML file, with every alias written out
DEEPEST = 100  # the parser recurses: a hostile file must not exhaust the stack
MERGE = "tag:yaml.org,2002:merge"
LISTED = "files.json"  # of a folder of results: what each command wrote there; nothing else is ever replaced
LONGEST_NAME = 60  # characters of a name from data: with its ending it stays below 255 bytes
PLAIN_NAME, ONE_WORD = re.compile(r"\w(?:[\w .-]*\w)?"), re.compile(r"\w(?:[\w.-]*\w)?")
TAKEN_NAME = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?|.*-[0-9a-f]{12}", re.IGNORECASE | re.DOTALL)


class _Loader(LOADER):  # type: ignore[misc]
    """The safe loader; a duplicate key in a mapping is an error, not silently the last one."""

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
        result: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        return result


def _size(node: Any, known: dict[int, int]) -> int:
    """How many values a node holds when every alias in it is written out."""
    if known.get(id(node)) == 0:
        raise DataError(f"line {node.start_mark.line + 1}: an alias is inside what it names")
    if id(node) not in known:
        known[id(node)] = 0
        items = [] if isinstance(node, yaml.ScalarNode) else node.value
        parts = [part for item in items for part in (item if isinstance(item, tuple) else (item,))]
        known[id(node)] = 1 + sum(_size(part, known) for part in parts)
    if known[id(node)] > MOST_VALUES:
        raise DataError(f"line {node.start_mark.line + 1}: its aliases stand for more than {MOST_VALUES} values")
    return known[id(node)]


def _check_depth(text: str) -> None:
    """The C library builds nested values by recursion, without a limit: too deep a file would end the program."""
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise DataError(f"line {event.start_mark.line + 1}: nested more than {DEEPEST} levels deep")


def read_yaml(path: Path) -> dict[str, Any]:
    with naming(path), refusing((yaml.YAMLError, ValueError), f"{path}: not valid YAML"):
        content = _read(path, "check the path in config.yaml")
        _check_depth(content)
        text = yaml.load(content, Loader=_Loader)
    if not isinstance(text, dict):
        raise DataError(f"{path}: holds no settings; a mapping is expected")
    return text


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file that holds an object; a duplicate key is an error."""
    with refusing((ValueError, RecursionError), f"{path}: not valid JSON"):
        text = json.loads(_read(path, "check the path"), object_pairs_hook=refuse_duplicates)
    if not isinstance(text, dict):
        raise DataError(f"{path}: an object is expected")
    return text


def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs of a JSON object; an error for a key that is duplicated, where JSON takes the last one silently."""
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in names if names.count(key) > 1)!r} is duplicated")
    return result


def regular_file(path: Path, hint: str = "give a file, no folder, pipe or device") -> Path:
    """A path that is no folder, pipe or device, which might never end; that there is such a file shows when it is opened."""
    with refusing(OSError, f"{path}: cannot be read", hint):
        if path.exists() and not path.is_file():
            raise DataError(f"{path}: not a regular file; {hint}")
    return path


def sha256_of(path: Path) -> str:
    with regular_file(path).open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def file_name(text: str, rest: re.Pattern[str] = PLAIN_NAME) -> str:
    """A name from data as that of a file: never a path, different for different names (if changed, it ends in a digest)."""
    same = unicodedata.normalize("NFC", text) == text and len(text) <= LONGEST_NAME
    if same and rest.fullmatch(text) and not TAKEN_NAME.fullmatch(text):
        return text
    safe = re.sub(r"[^A-Za-z0-9_]+", "_", text)[:LONGEST_NAME]
    return f"{safe}-{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def write_whole(path: Path, text: str | bytes) -> None:
    """Write a file that is whole or as it was before."""
    if not path.parent.is_dir():
        raise DiskError(f"{path}: there is no folder {path.parent}; make it, or give another path")
    part = path.with_name(f".{path.name[:LONGEST_NAME]}.{os.getpid()}.part")
    try:
        part.write_bytes(text.encode() if isinstance(text, str) else text)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def written_folder(path: Path, command: str) -> Iterator[Path]:
    """A new folder, which takes the place of the old one as a whole or not at all; what other commands wrote there stays."""
    home = Path(os.path.abspath(path) if "\0" in str(path) else os.path.realpath(path))
    new, old = (home.with_name(f".{home.name[:LONGEST_NAME]}.{os.getpid()}.{end}") for end in ("part", "old"))
    with refusing((OSError, ValueError), f"{path}: this folder cannot be made", "give another one with --out", DiskError):
        listed, rest = _listed(path, home, command)
        home.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
    try:
        yield new
        contents = _files(new)
        for name in (name for name in rest if name not in contents):
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            if (home / name).is_dir():  # an empty one, which another command wrote
                (new / name).mkdir()
            else:
                shutil.copy2(home / name, new / name)
        (new / LISTED).write_text(json.dumps({**listed, command: contents}, indent=1) + "\n", encoding="utf-8")
        if home.exists():
            home.rename(old)
        new.rename(home)
    finally:
        if old.exists() and not home.exists():
            old.rename(home)
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _listed(path: Path, home: Path, command: str) -> tuple[dict[str, Any], list[str]]:
    """What each command wrote into a folder, and the files that stay when this one writes again."""
    if not home.exists():
        return {}, []
    remedy = "give a folder of its own with --out"
    if not home.is_dir():
        raise DiskError(f"{path}: this folder cannot be made (a file is there); give another one with --out")
    if os.path.ismount(home) or home == Path.cwd() or home in Path.cwd().parents:
        raise DiskError(f"{path}: a folder in use, which cannot be replaced as a whole; {remedy}, for instance {path}/audit")
    listed = read_json(home / LISTED) if (home / LISTED).exists() else {}
    ours = {name: by for by, names in listed.items() if isinstance(names, list) for name in map(str, names)}
    there = [name for name in _files(home) if name != LISTED]
    foreign = [name for name in there if name not in ours and not name.startswith(".")]
    if foreign:
        raise DiskError(f"{path}: holds {foreign[0]} and {len(foreign) - 1} more files that this program did not list as "
                        f"its own in {LISTED}; it replaces no such files: {remedy}, or remove it")  # fmt: skip
    return listed, [name for name in there if ours.get(name) != command]


def _files(folder: Path) -> list[str]:
    files = (file for file in folder.rglob("*") if not file.is_dir() or not any(file.iterdir()))
    return sorted(str(file.relative_to(folder).as_posix()) for file in files)


def _read(path: Path, hint: str) -> str:
    with refusing(OSError, f"{path}: cannot be read", hint):
        if regular_file(path, hint).stat().st_size > LARGEST_BYTES:
            raise DataError(f"{path}: larger than {LARGEST_BYTES} bytes, too large for a file of settings; {hint}")
        return path.read_text()


# What the microdata are called on every figure and table made from them.


def data_label(manifest: Path) -> str:
    """The name of the data in a manifest: "synthetic microdata", or the file they come from."""
    return str(json.loads(manifest.read_text())["label"])


def data_labels(manifests: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(data_label(Path(manifest)) for manifest in manifests))
