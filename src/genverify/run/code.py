"""Which code a script's results depend on: the definitions that it can reach, wherever they stand, and templates."""

import ast
import builtins
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from itertools import accumulate, chain, compress
from pathlib import Path
from typing import NamedTuple

from genverify.run.layout import repository

# A Python file cut into its top-level statements: what counts of each, what it names, and what runs when it is imported.
#
# What counts of a statement is its text without comments, blank lines and docstrings, and what its imported names stand
# for. That is the same in every version of Python, which the tokens of an f-string and the dump of a tree are not.

TEMPLATE = re.compile(r"[\w./-]+\.(?:j2|css|html|js|toml|yaml)")
# a text, or the spaces, comments and blank lines at the end of a line. A text ends at the first quotation mark of its kind:
# Python 3.11 allows none inside an f-string
LINE_ENDS = re.compile(r"""(?s)(("{3}|'{3}|"|')(?:\\.|.)*?\2)|[ \t]*(?:#[^\n]*)?(?:\n[ \t]*(?:#[^\n]*)?)*(?=\n|\Z)""")
# what may be called while a module is imported without any effect but its value; any other call may register something
HARMLESS = re.compile(
    r"(?:abc|collections|dataclasses|enum|fractions|pathlib|pydantic|re|types|typing)\.[\w.]+"
    r"|contextlib\.contextmanager|functools\.(?:cache|cached_property|lru_cache|partial|total_ordering|wraps)"
    r"|logging\.getLogger|operator\.(?:attr|item)getter|numpy\.(?:array|arange|linspace|zeros|dtype)"
    r"|builtins\.(?:bool|chr|classmethod|dict|float|frozenset|int|len|list|property|range|set|staticmethod|str|tuple|zip)"
)
IMPORTERS = {"importlib.import_module", "importlib.__import__", "builtins.__import__"}
# a definition that calls one of these uses names of its file that it does not spell; the second ones if nothing is given
HIDDEN = {"builtins.globals", "builtins.exec", "builtins.eval"}
HIDDEN_ALONE = {"builtins.vars", "builtins.dir", "builtins.locals"}
# with one of these it uses, of all that is imported, what it does not name: subclasses, docstrings, the source
UNNAMED = {"__subclasses__", "__init_subclass__", "__doc__", "getdoc", "getsource"}
WORD = re.compile(r"[^\W\d][\w.]*")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# a method counts where its name is used, unless its class has a base of elsewhere, which may call it without naming it here
QUIET_BASES = re.compile(
    r"builtins\.(?:object|\w*Error|Exception)|typing\.(?:NamedTuple|Protocol|Generic|TypedDict)|abc\.ABC|pydantic\.BaseModel"
)
QUIET_DECORATORS = re.compile(
    r"builtins\.(?:property|staticmethod|classmethod)|functools\.cached_property|abc\.abstractmethod|typing\.overload"
)
CALLED_BY_OTHERS = re.compile(r"__\w+__|model_\w+|_replace|_missing_")
MAKERS = {"__init__", "__new__", "__post_init__", "__set_name__", "__class_getitem__"}
FILE, IMPORTED, PACKAGES, METHODS = "file", "imported", "packages", "methods"
CLASS, VALUE = "class", "value"
Imports = dict[str, list[str]]  # a name, and the dotted paths that it may stand for


class _Piece(NamedTuple):
    digest: str
    lines: int
    start: int  # its first and last line
    end: int
    names: list[str]  # of its file
    paths: list[str]  # of the packages: what imported names stand for
    loads: list[str]  # modules that it imports when it runs
    texts: list[str]  # names of modules or templates
    # what counts whole with it: its FILE, all that is IMPORTED, the PACKAGES, all METHODS of classes; and whether it is a
    # CLASS whose methods count by their names, and one that makes a VALUE without running any code of the packages
    flags: list[str]
    attributes: list[str]  # names of attributes, among them those of methods
    methods: dict[str, list[int]]  # of a class: the pieces of its methods by their names
    bases: list[str]  # of a class


class Source(NamedTuple):
    pieces: list[_Piece]
    names: dict[str, list[int]]  # the pieces that bind a name
    always: list[int]  # those that run with every import: all but plain definitions
    values: dict[int, list[str]]  # of these the ones that only make a value, if the names that they call are plain classes
    imports: Imports  # what imported names stand for
    loads: list[str]
    lazy: list[str]  # the texts of a module that finds names by a __getattr__ of its own: some may name modules


def cut(content: bytes, package: str, roots: frozenset[str]) -> Source:
    """The pieces of a file of a package; `roots` are the packages whose names are followed."""
    lines = content.splitlines(keepends=True)
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # it runs nowhere, and counts as it stands
        whole = _Piece(_digest(content), len(lines), 1, len(lines), [], [], [], [], [], [], {}, [])
        return Source([whole], {}, [0], {}, {}, [], [])
    body = [node for node in tree.body if not _is_for_types(node) and not _is_text(node)]
    executed = [part for node in body for part in _executed(node)]
    statements = [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]
    reader = _Reader(package, roots, lines, _imports(executed, package), {})
    for number, statement in enumerate(statements):
        for name in sorted(_bound(statement)):
            reader.names.setdefault(name, []).append(number)
    methods = {number: reader.methods(statement) for number, statement in enumerate(statements)}
    pieces = [reader.piece(statement, methods[number]) for number, statement in enumerate(statements)]
    effects = {number: reader.effects(statement) for number, statement in enumerate(statements)}
    always = [number for number, calls in effects.items() if calls is None or calls]
    for number in methods:
        for method in methods[number]:
            name = f"{statements[number].name}.{method.name}"  # type: ignore[attr-defined]  # only classes have methods
            pieces[number].methods.setdefault(method.name, []).append(len(pieces))
            reader.names.setdefault(name, []).append(len(pieces))
            pieces.append(reader.piece(method))
    if extra := reader.unspelled():
        always.append(len(pieces))
        pieces.append(extra)
    imports = {name: followed for name, paths in reader.imports.items() if (followed := reader.followed(paths))}
    lazy = sorted(reader.texts) if "__getattr__" in reader.names else []
    values = {number: calls for number, calls in effects.items() if calls}
    loads = reader.followed(path for *_, path in _imported(executed, package))
    return Source(pieces, reader.names, always, values, imports, loads, lazy)


@dataclass
class _Reader:
    package: str
    roots: frozenset[str]
    lines: list[bytes]
    imports: Imports
    names: dict[str, list[int]]
    used: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def followed(self, paths: Iterable[str]) -> list[str]:
        return sorted({path for path in paths if path.partition(".")[0] in self.roots})

    def piece(self, statement: ast.stmt, methods: Sequence[ast.stmt] = ()) -> _Piece:
        """One statement, its methods left out; every name, attribute and text in it counts, whatever it is there for."""
        nodes, dotted, docstrings = _contents(statement, methods)
        scope = _imports(nodes, self.package, self.imports)
        stand_for = {path for name in dotted for path in self._stands_for(name, scope)}
        words = {word for name in dotted for word in name.split(".")} | {getattr(node, "name", None) for node in nodes}
        calls = [(node, self._stands_for(_path(node.func)[0], scope)) for node in nodes if isinstance(node, ast.Call)]
        # a module is imported by a text, which is followed wherever it stands; any other name of it cannot be told
        imported = [(*call.args, call)[0] for call, paths in calls if paths & IMPORTERS]
        patterns = {part: pattern for part in imported if (pattern := self._pattern(part))}
        by_text = [part in patterns or isinstance(part, ast.Constant | ast.Name) for part in imported]
        importing = [name for name in dotted if self._stands_for(name, scope) & IMPORTERS]
        spelled = {id(part) for pattern in patterns for part in ast.walk(pattern)}
        constants = (node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in spelled)
        texts = {text for text in constants if isinstance(text, str)} | {*patterns.values()}
        asked = [call.args[1] for call, paths in calls if "builtins.getattr" in paths and len(call.args) > 1]
        is_class, bases = isinstance(statement, ast.ClassDef), [_path(base)[0] for base in self._bases(statement)]
        is_closed = self._is_closed(statement)
        hidden = stand_for & HIDDEN or any(not call.args and paths & HIDDEN_ALONE for call, paths in calls)
        flags = {
            FILE: hidden,
            IMPORTED: words & UNNAMED or "sys.modules" in stand_for,
            PACKAGES: not all(by_text) or len(by_text) < len(importing),
            # a method may be asked for by a text, which counts wherever it stands; not by one that is put together
            METHODS: any(isinstance(name, ast.JoinedStr | ast.BinOp | ast.Call) for name in asked),
            CLASS: is_closed,
            VALUE: is_closed and self._makes_a_value(statement),
        }
        first = {name.partition(".")[0] for name in dotted}
        self.used |= first
        self.texts |= texts
        start, end = _lines(statement)
        elsewhere = {line for method in methods for line in range(_lines(method)[0], _lines(method)[1] + 1)}
        meaning = [f"{name} {path}" for name in sorted(first & self.imports.keys()) for path in self.imports[name]]
        return _Piece(
            digest=_digest("\n".join([self._text(start, end, docstrings, elsewhere), *meaning]).encode()),
            lines=sum(1 for n in range(start, end + 1) if n not in elsewhere and self.lines[n - 1].strip()),
            start=start,
            end=end,
            names=sorted(first & self.names.keys()),
            paths=self.followed(stand_for),
            loads=self.followed(path for *_, path in _imported(nodes, self.package)),
            texts=sorted(text for text in texts if TEMPLATE.fullmatch(text) or self._may_name_modules(text)),
            # the modules of a __getattr__ of the file are those that its texts name
            flags=[name for name, is_set in flags.items() if is_set and getattr(statement, "name", "") != "__getattr__"],
            attributes=sorted(_attributes(nodes, dotted, texts) | (first if is_class else set())),
            methods={},
            bases=[base for base in bases if self.followed(self._stands_for(base, self.imports)) or base in self.names],
        )

    def methods(self, statement: ast.stmt) -> list[ast.FunctionDef]:
        """The methods of a class that count only where their names are used."""
        if not isinstance(statement, ast.ClassDef) or not self._is_closed(statement):
            return []
        functions = [node for node in statement.body if isinstance(node, ast.FunctionDef)]
        others = [node for node in functions if not CALLED_BY_OTHERS.fullmatch(node.name)]
        named = [[self._stands_for(_path(one)[0], self.imports) for one in node.decorator_list] for node in others]
        quiet = [all(paths and all(map(QUIET_DECORATORS.fullmatch, paths)) for paths in one) for one in named]
        return list(compress(others, quiet))

    def _bases(self, statement: ast.stmt) -> list[ast.expr]:
        bases = statement.bases if isinstance(statement, ast.ClassDef) else []
        return [base.value if isinstance(base, ast.Subscript) else base for base in bases]

    def _is_closed(self, statement: ast.stmt) -> bool:
        """A class that only the packages can call, as far as its own file says: its bases there are to be looked at."""
        if not isinstance(statement, ast.ClassDef) or statement.keywords or self.effects(statement) != []:
            return False
        paths = [self._stands_for(_path(base)[0], self.imports) or {_path(base)[0]} for base in self._bases(statement)]
        part = [one for group in paths for one in group if not QUIET_BASES.fullmatch(one)]
        return all(self.followed([one]) or one in self.names for one in part)

    def _makes_a_value(self, statement: ast.stmt) -> bool:
        nodes = list(ast.walk(statement))
        factories = [word.value for word in nodes if isinstance(word, ast.keyword) and word.arg == "default_factory"]
        builtin = all(any(p.startswith("builtins.") for p in self._stands_for(_path(f)[0], {})) for f in factories)
        made = {node.name for node in nodes if isinstance(node, FUNCTIONS)} & MAKERS
        stand_for = [self._stands_for(_path(base)[0], self.imports) for base in self._bases(statement)]
        return builtin and not made and not any(path.startswith("pydantic.") for paths in stand_for for path in paths)

    def _pattern(self, node: ast.AST) -> str | None:
        """The modules that an f-string may name, with `*` for what is not known, if it begins with one of the packages."""
        if not isinstance(node, ast.JoinedStr):
            return None
        parts = [str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values]
        return "".join(parts) if parts and parts[0].partition(".")[0] in self.roots and "." in parts[0] else None

    def _text(self, start: int, end: int, docstrings: Iterable[ast.stmt], elsewhere: Collection[int]) -> str:
        lines = [b"\n" if number in elsewhere else self.lines[number - 1] for number in range(start, end + 1)]
        for node in docstrings:
            first, last = node.lineno - start, (node.end_lineno or node.lineno) - start
            rest = lines[last][node.end_col_offset :]
            lines[first : last + 1] = [lines[first][: node.col_offset] + rest, *[b""] * (last - first)]
        return LINE_ENDS.sub(lambda match: match[1] or "", b"".join(lines).decode()).strip()

    def unspelled(self) -> _Piece | None:
        """What no statement names: `import *`, and imports from elsewhere that nothing uses, so there for their effect."""
        stars = self.followed(self.imports.get("*", ()))
        unused = sorted(f"{name} {path}" for name in self.imports.keys() - self.used for path in self.imports[name]
                        if path not in self.followed([path]))  # fmt: skip
        if not stars and not unused:
            return None
        flags = [FILE] if stars else []
        return _Piece(_digest("\n".join(unused).encode()), len(unused), 0, 0, [], stars, [], [], flags, [], {}, [])

    def effects(self, statement: ast.stmt) -> list[str] | None:
        """What it does but bind names: the names that it calls, none for a plain definition, None for whatever else."""
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(node, ast.Attribute | ast.Subscript) for target in targets for node in ast.walk(target)):
                return None
        elif not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            return None
        names = set[str]()
        for node in _executed(statement):
            called = [node.func] if isinstance(node, ast.Call) else getattr(node, "decorator_list", [])
            for one in called:
                if isinstance(one, ast.Call):  # a decorator with arguments: among the nodes itself
                    continue
                name = _path(one)[0]
                stand_for = self._stands_for(name, self.imports)
                if name in self.names or self.followed(stand_for):
                    is_value = isinstance(node, ast.Call) and isinstance(statement, ast.Assign | ast.AnnAssign)
                    names.add(name if is_value else "")
                elif not stand_for or not all(HARMLESS.fullmatch(path) for path in stand_for):
                    return None
        return None if "" in names else sorted(names)

    def _stands_for(self, dotted: str, scope: Imports) -> set[str]:
        """The paths that a name of the file may stand for by its imports, or else as a builtin."""
        first, dot, rest = dotted.partition(".")
        if first in scope:
            return {f"{path}{dot}{rest}" for path in scope[first]}
        return {f"builtins.{dotted}"} if hasattr(builtins, first) and first not in self.names else set()

    def _may_name_modules(self, text: str) -> bool:
        root, dot, rest = text.partition(".")
        if text.startswith("."):  # seen from the package
            return re.fullmatch(r"[\w.]+:\w+", rest) is not None
        return bool(dot) and root in self.roots and re.fullmatch(r"[\w.*]*(?::\w+)?", rest) is not None


def _digest(*contents: bytes) -> str:
    return sha256(b"\n".join(contents)).hexdigest()


def _path(node: ast.AST) -> tuple[str, list[ast.AST]]:
    """The names and attributes of an expression as a dotted path, and what it begins with if that is no name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    inner = [] if isinstance(node, ast.Name) else [node]
    return ".".join([node.id if isinstance(node, ast.Name) else "", *reversed(parts)]), inner


def _lines(statement: ast.stmt) -> tuple[int, int]:
    """The first line, of its decorators if it has some, and the last one."""
    start = min(node.lineno for node in (statement, *getattr(statement, "decorator_list", ())))
    return start, statement.end_lineno or start


def _attributes(nodes: Iterable[ast.AST], dotted: Iterable[str], texts: Iterable[str]) -> set[str]:
    """The attributes that a statement may ask for: those that it names, also in patterns, in texts and in templates."""
    named = {word for name in dotted for word in name.split(".")[1:]}
    matched = {word for node in nodes if isinstance(node, ast.MatchClass) for word in node.kwd_attrs}
    spelled = {word for text in texts if "{" in text or WORD.fullmatch(text) for word in re.findall(r"[^\W\d]\w*", text)}
    return named | matched | spelled


def _contents(statement: ast.stmt, left_out: Sequence[ast.stmt] = ()) -> tuple[list[ast.AST], set[str], list[ast.stmt]]:
    """The nodes of a statement; the dotted paths among them, also in annotations that are texts; its docstrings."""
    if left_out and isinstance(statement, ast.ClassDef):
        statement = ast.ClassDef(**{**vars(statement), "body": [node for node in statement.body if node not in left_out]})
    todo: list[ast.AST] = [statement]
    dotted, docstrings = set[str](), list[ast.stmt]()
    for node in todo:  # which grows
        if isinstance(node, ast.Name | ast.Attribute):
            path, inner = _path(node)
            dotted.add(path)
            todo += inner
            continue
        held = vars(node)
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node.body and _is_text(node.body[0]):
            docstrings.append(node.body[0])
            held = {**held, "body": node.body[1:]}
        for name, value in held.items():
            new = [value] if isinstance(value, ast.AST) else value if isinstance(value, list) else ()
            todo += [one for one in new if isinstance(one, ast.AST)]
            if name in ("annotation", "returns") and value:
                texts = (part.value for part in ast.walk(value) if isinstance(part, ast.Constant))
                dotted.update(word for text in texts if isinstance(text, str) for word in WORD.findall(text))
    return todo, dotted, docstrings


def _executed(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes that importing the file runs: not the bodies of functions."""
    todo = [statement]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, FUNCTIONS):
            todo += [*node.decorator_list, *node.args.defaults, *(default for default in node.args.kw_defaults if default)]
        else:
            todo += [*node.args.defaults] if isinstance(node, ast.Lambda) else ast.iter_child_nodes(node)


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return {statement.name}
    nodes = list(_executed(statement))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return stored | {node.name for node in nodes if isinstance(node, (*FUNCTIONS, ast.ClassDef))}


def _imported(nodes: Iterable[ast.AST], package: str) -> Iterator[tuple[str, str, str]]:
    """Of every import among the nodes: the name that it binds, what that stands for, and what it runs if it is a module."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                yield (alias.asname, alias.name, alias.name) if alias.asname else (first, first, alias.name)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []  # one dot: the package
            module = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                path = f"{module}.{alias.name}"
                yield alias.asname or alias.name, module if alias.name == "*" else path, path


def _imports(nodes: Iterable[ast.AST], package: str, known: Imports | None = None) -> Imports:
    """What the imports among the nodes bind, besides what is known."""
    result = {name: list(paths) for name, paths in (known or {}).items()}
    for name, path, _ in _imported(nodes, package):
        result[name] = sorted({*result.get(name, ()), path})
    return result


def _is_for_types(statement: ast.stmt) -> bool:
    """`if TYPE_CHECKING:`, which never runs."""
    return isinstance(statement, ast.If) and not statement.orelse and _path(statement.test)[0].endswith("TYPE_CHECKING")


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


# What is known of the code, kept from one start of Snakemake to the next: parsing takes seconds, looking up hundredths.


@dataclass
class _Store:
    """The parts of scripts, as long as no file of the packages changes, and the pieces of files, by their content."""

    file: Path
    version: str  # of the analysis: what another one found is not used
    state: str  # of the packages
    parts: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)
    is_new: bool = False
    _lines: bytes = b"{}"

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Read only when some file has changed."""
        known = json.loads(self._lines)
        sources = {key: Source([_Piece(*piece) for piece in first], *others) for key, (first, *others) in known.items()}
        return {key: one._replace(values={int(n): names for n, names in one.values.items()}) for key, one in sources.items()}

    def read(self) -> None:
        """Take what another process wrote: all of it, by its own digest, or nothing."""
        with suppress(OSError, ValueError):
            digest, version, state, parts, sources = self.file.read_bytes().split(b"\n")
            if version.decode() == self.version and digest.decode() == _digest(version, state, parts, sources):
                self.parts = json.loads(parts) if state.decode() == self.state else {}
                self._lines = sources

    def write(self, keys: Collection[str]) -> None:
        """What has one of the keys, in one step: another process reads the old file or the new one. Nothing if forbidden."""
        if not self.is_new:
            return
        parts, sources = ({key: rest[key] for key in keys if key in rest} for rest in (self.parts, self.sources))
        content = [text.encode() for text in (self.version, self.state, json.dumps(parts), json.dumps(sources))]
        new = self.file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self.file.parent.mkdir(exist_ok=True)
            new.write_bytes(b"\n".join([_digest(*content).encode(), *content]))
            new.replace(self.file)
        with suppress(OSError):
            new.unlink(missing_ok=True)


# Which code a script's results depend on: the definitions that it can reach, wherever they stand, and templates.
#
# Reached are every statement of the script; what a reached statement names, in its own file or through imports; and of
# every imported module what importing it runs, except plain definitions (functions, classes, constants), which count only
# where they are named. A method of a reached class counts where something reached names an attribute like it; so does a
# constant that is an instance of a plain class. Where that cannot be told (a module used as a value, `globals()`,
# `import *`, a module named in a text, a base class of elsewhere), all of it counts: a stale result is worse than a rerun.

SRC = Path(__file__).parents[__name__.count(".")]
STORE = Path(".snakemake", "genverify-code.json")  # beside the Snakefile, with what Snakemake itself keeps
# what makes records asks this module for digests. Another way to digest gives other digests, which say so themselves
RECORDER = f"{__name__.rpartition('.')[0]}.jobs"
# a file with the number of a piece, with "=name" for whatever binds a name there, or with one of these
LOADED, WHOLE, AS_IT_IS = "loaded", "whole", "as it is"
Node = tuple[str, int | str]


def code_parts(script: Path) -> dict[str, str]:
    """The script, the files of which it reaches something, and templates: each with one digest of what counts of it."""
    return {from_here(Path(file)): digest for file, (digest, _) in sorted(_parts(str(script)).items())}


@cache
def code_digest(script: Path) -> str:
    """One digest over all that counts: a job's setting, so that it runs again when some of it changes."""
    return joint_digest(digest for digest, _ in _parts(str(script)).values())


def keep_digests(folder: Path) -> None:
    """Find the digests of all scripts below a folder at once, and keep what was found for the jobs and the next start."""
    scripts = [str(script) for script in _scripts(folder).values()]
    for script in scripts:
        _parts(script)
    _store().write([_key(file) for file in [*scripts, *filter(None, _modules().values())]])


def joint_digest(digests: Iterable[str]) -> str:
    """One short digest for many, whatever the order in which a folder lists their files."""
    return sha256(b"".join(map(bytes.fromhex, sorted(digests)))).hexdigest()[:16]


def from_here(path: Path) -> str:
    """The path as seen from the current folder, if it lies below it, or below the repository that the folder links to."""
    below = [folder for folder in (Path.cwd(), repository()) if path.is_relative_to(folder)]
    return str(path.relative_to(below[0]) if below else path)


def find_script(folder: Path, name: str) -> Path:
    """The script of a rule, in whichever drawer of the folder it lies; its place in the folder itself if it is nowhere."""
    return _scripts(folder).get(f"{name}.py", folder / f"{name}.py")


@cache
def _scripts(folder: Path) -> dict[str, Path]:
    """The scripts below a folder by name; of two of one name the first."""
    return {path.name: path for path in sorted(folder.rglob("*.py"), reverse=True)}


def forget_code() -> None:
    """Read the files again: what was known of them is kept for the life of a process."""
    files = (_scripts, _listed, _modules, _packages, _templates, _content, _key)
    for known in (*files, code_digest, _parts, _next, _asked_for, _methods, _all_are, _source, _store):
        known.cache_clear()


# What scripts reach


@cache
def _parts(script: str) -> dict[str, tuple[str, int]]:
    script = os.path.abspath(script)
    store, key = _store(), _key(script)
    if key not in store.parts:
        store.parts[key] = {file: _counted(file, numbers) for file, numbers in reached(script).items()}
        store.is_new = True
    return store.parts[key]


def _counted(file: str, numbers: Collection[int] | None) -> tuple[str, int]:
    if numbers is None:
        lines = _content(file).splitlines() if file.endswith(".py") else []
        return sha256(_content(file)).hexdigest(), sum(1 for line in lines if line.strip())
    pieces = [_source(file).pieces[number] for number in sorted(numbers)]
    return sha256("".join(piece.digest for piece in pieces).encode()).hexdigest(), sum(piece.lines for piece in pieces)


def reached(script: str) -> dict[str, set[int] | None]:
    """The numbers of the pieces that a script reaches, by file; None for a file that counts whole."""
    result = _closure({(script, LOADED), *((script, number) for number in range(len(_source(script).pieces)))})
    if any(IMPORTED in _source(file).pieces[what].flags for file, what in result if isinstance(what, int)):
        result = _closure(result | {(file, WHOLE) for file, what in result if what == LOADED})
    numbers: defaultdict[str, set[int]] = defaultdict(set, {script: set()})
    for file, what in result:
        if isinstance(what, int):
            numbers[file].add(what)
    return {**numbers, **{file: None for file, what in result if what in (WHOLE, AS_IT_IS)}}


def _closure(start: set[Node]) -> set[Node]:
    """All that is reached; the methods of a class when something reached names an attribute like them."""
    reached, todo = set(start), list(start)
    names, waiting = set[str](), defaultdict[str, set[Node]](set)
    while todo:
        node = todo.pop()
        new = set(_next(node))
        for name in _asked_for(node) - names:
            names.add(name)
            new |= waiting.pop(name, set())
        for name, methods in _methods(node).items():
            if name in names or METHODS in names:
                new |= methods
            else:
                waiting[name] |= methods
        if METHODS in names:
            new.update(*waiting.values())
            waiting.clear()
        new -= reached
        reached |= new
        todo += new
    return reached


@cache
def _asked_for(node: Node) -> frozenset[str]:
    """The names of attributes in a piece or in a template; METHODS if they cannot be told."""
    file, what = node
    if what == AS_IT_IS:
        return frozenset(re.findall(r"[^\W\d]\w*", _content(file).decode(errors="replace")))
    if not isinstance(what, int):
        return frozenset()
    piece = _source(file).pieces[what]
    return frozenset([*piece.attributes, *([METHODS] if METHODS in piece.flags else [])])


@cache
def _methods(node: Node) -> dict[str, frozenset[Node]]:
    """The methods of a class that count where they are named: none if a base of elsewhere may call them."""
    file, what = node
    if not isinstance(what, int) or not _all_are(node, CLASS):
        return {}
    return {name: frozenset((file, n) for n in numbers) for name, numbers in _source(file).pieces[what].methods.items()}


@cache
def _all_are(node: Node, flag: str) -> bool:
    """Whether a class and all its bases have a flag."""
    file, what = node
    piece = _source(file).pieces[int(what)]
    return flag in piece.flags and all(_are_classes(file, base, flag) for base in piece.bases)


def _are_classes(file: str, name: str, flag: str) -> bool:
    """Whether all that a dotted name of a file may stand for are classes with a flag, as their bases are."""
    first, _, rest = name.partition(".")
    source = _source(file)
    paths = source.imports.get(first, [])
    if rest and ("." in rest or first in source.names or not all(path in _modules() for path in paths)):  # a method
        return False
    todo = [*_bindings(file, source, first)] if not rest else [n for path in paths for n in _resolve(f"{path}.{rest}")]
    seen, classes = set(todo), list[Node]()
    for node in todo:  # which grows
        if isinstance(node[1], int):
            classes.append(node)
        elif node[1] == WHOLE:
            return False
        elif node[1].startswith("="):
            todo += (new := [*(_next(node) - seen)])
            seen.update(new)
    return bool(classes) and all(_all_are(node, flag) for node in classes)


@cache
def _next(node: Node) -> frozenset[Node]:
    file, what = node
    if what == AS_IT_IS:
        return frozenset()
    source = _source(file)
    if what == WHOLE:
        return frozenset({(file, LOADED), *((file, number) for number in range(len(source.pieces)))})
    if what == LOADED:
        values = {n for n, names in source.values.items() if all(_are_classes(file, name, VALUE) for name in names)}
        runs = ((file, number) for number in source.always if number not in values)
        return frozenset({*runs, *chain.from_iterable(map(_loaded, source.loads))})
    if isinstance(what, str):
        return frozenset(_bindings(file, source, what.removeprefix("=")))
    piece = source.pieces[what]
    result: set[Node] = {(file, LOADED), *((file, f"={name}") for name in piece.names)}
    result.update(*map(_resolve, piece.paths), *map(_loaded, piece.loads), *(_named(file, text) for text in piece.texts))
    if piece.methods and not _all_are(node, CLASS):
        result |= {(file, number) for numbers in piece.methods.values() for number in numbers}
    if FILE in piece.flags:
        result.add((file, WHOLE))
    if PACKAGES in piece.flags:
        result |= _whole("")
    if file == _modules().get(RECORDER):
        result = {one for one in result if one[0] != _modules()[__name__]}
    return frozenset(result)


def _bindings(file: str, source: Source, name: str) -> set[Node]:
    """What binds a name of a file: its pieces, an import, its own __getattr__; whatever it is if that cannot be told."""
    result: set[Node] = {(file, number) for number in source.names.get(name, ())}
    result.update(*(_resolve(path) for path in source.imports.get(name, ())))
    if name in source.names or name in source.imports:
        return result
    if not source.lazy:
        return {(file, WHOLE)}
    package = _packages()[file]
    modules = [m for text in source.lazy for m in (text, f"{package}.{text}") if _modules().get(m)]
    binding = [m for m in modules if name in _source(_modules()[m]).names]
    if name in source.lazy and binding:
        return {(file, WHOLE)}.union(*(_resolve(f"{module}.{name}") for module in binding))
    return {(file, WHOLE)}.union(*map(_whole, modules or [""]))


def _resolve(path: str) -> set[Node]:
    """What a dotted path names: something in a module of the packages, or a module itself, which then counts whole."""
    modules, parts = _modules(), path.split(".")
    result, module = set(_loaded(path)), parts[0]
    if module not in modules:
        return result
    for part in parts[1:]:
        inside = f"{module}.{part}"
        file = modules[module]
        if file and (inside not in modules or part in _source(file).names or part in _source(file).imports):
            result.add((file, f"={part}"))
        if inside not in modules:
            return result
        module = inside
    return result | _whole(module)


def _loaded(path: str) -> Iterator[Node]:
    """The modules that importing a dotted path runs: every package above it, and itself if it is a module."""
    for end in accumulate(path.split("."), "{}.{}".format):
        if file := _modules().get(end):
            yield file, LOADED


def _whole(module: str) -> set[Node]:
    """A module, with all below it if it is a package; every module for an empty name."""
    below = f"{module}." if module else ""
    return {(file, WHOLE) for name, file in _modules().items() if file and (name == module or name.startswith(below))}


def _named(file: str, text: str) -> set[Node]:
    """The modules that a text names or begins to name; or templates, as seen from a package or a folder above the file."""
    text = f"{_packages().get(file, '')}{text}" if text.startswith(".") else text
    name, colon, value = text.partition(":")
    if name.partition(".")[0] in _roots():
        if "*" in name:
            pattern = re.compile(re.escape(name).replace(r"\*", ".*"))
            return {(other, WHOLE) for module, other in _modules().items() if other and pattern.fullmatch(module)}
        if colon and name in _modules():
            return _resolve(f"{name}.{value}")
        result: set[Node] = {(other, WHOLE) for module, other in _modules().items() if other and module.startswith(name)}
        return result or (_resolve(name) if name.count(".") > 1 else set())
    folders = {str(SRC / root) for root in _roots()} | {str(folder) for folder in Path(file).parents}
    return {(path, AS_IT_IS) for folder in folders if (path := os.path.normpath(f"{folder}/{text}")) in _templates()}


# The files


def _roots() -> frozenset[str]:
    """The packages whose code counts: those beside this one in `src`; where it is installed beside others, it alone."""
    package = __name__.partition(".")[0]
    return frozenset(name for name in os.listdir(SRC) if name.isidentifier()) if SRC.name == "src" else frozenset({package})


@cache
def _listed() -> list[tuple[str, str]]:
    walks = (os.walk(SRC / root) for root in sorted(_roots()))
    return [(folder, name) for folder, _, names in chain.from_iterable(walks) for name in sorted(names)]


@cache
def _modules() -> dict[str, str]:
    """The file of every module of the packages by its dotted name; none for a package without an __init__."""
    result: dict[str, str] = {}
    for folder, name in _listed():
        if name.endswith(".py"):
            package = os.path.relpath(folder, SRC).replace(os.sep, ".")
            for above in accumulate(package.split("."), "{}.{}".format):
                result.setdefault(above, "")
            result[package if name == "__init__.py" else f"{package}.{name[:-3]}"] = f"{folder}{os.sep}{name}"
    return result


@cache
def _packages() -> dict[str, str]:
    """The package that a file belongs to; for an __init__ that is itself."""
    inits = ((name, file) for name, file in _modules().items() if file)
    return {file: name if file.endswith(f"{os.sep}__init__.py") else name.rpartition(".")[0] for name, file in inits}


@cache
def _templates() -> frozenset[str]:
    return frozenset(f"{folder}{os.sep}{name}" for folder, name in _listed() if TEMPLATE.fullmatch(name))


@cache
def _content(file: str) -> bytes:
    return Path(file).read_bytes()


@cache
def _source(file: str) -> Source:
    sources, key = _store().sources, _key(file)
    if key not in sources:
        sources[key] = cut(_content(file), _packages().get(file, ""), _roots())
    return sources[key]


@cache
def _key(file: str) -> str:
    """What a file is kept by: its content and its place, which says what its imports mean and what its parts are called."""
    return _digest(file.encode(), _content(file))


@cache
def _store() -> _Store:
    files = sorted([*filter(None, _modules().values()), *_templates()])
    version = _digest(Path(__file__).read_bytes(), f"{sys.version_info[:2]} {sorted(_roots())}".encode())
    store = _Store(SRC.parent / STORE, version, _digest(*(_key(file).encode() for file in files)))
    store.read()
    return store
