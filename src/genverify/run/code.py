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
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple

from genverify.run.layout import repository

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
FILE, IMPORTED, PACKAGES, CLASS, VALUE, ANY = "file", "imported", "packages", "class", "value", "*"
Imports = dict[str, list[str]]  # a name, and the dotted paths that it may stand for


class _Piece(NamedTuple):
    digest: str
    start: int  # its first and last line
    end: int
    methods: dict[str, list[int]]  # of a class: the pieces of its methods by their names
    names: Sequence[str] = ()  # of its file
    paths: Sequence[str] = ()  # of the packages: what imported names stand for
    loads: Sequence[str] = ()  # modules that it imports when it runs
    texts: Sequence[str] = ()  # names of modules or templates
    # what counts whole with it: its FILE, all that is IMPORTED, the PACKAGES; and whether it is a CLASS whose methods count
    # by their names, and one that makes a VALUE without running any code of the packages
    flags: Sequence[str] = ()
    attributes: Sequence[str] = ()  # names of attributes, among them those of methods; ANY if they cannot be told
    bases: Sequence[str] = ()  # of a class
    # None for a plain definition; else importing the file runs it, unless all names that it calls are those of plain classes
    runs: Sequence[str] | None = None


class Source(NamedTuple):
    pieces: list[_Piece]
    names: dict[str, list[int]]  # the pieces that bind a name
    imports: Imports  # what imported names stand for
    loads: list[str]


def cut(content: bytes, package: str, roots: frozenset[str]) -> Source:
    """The pieces of a file of a package; `roots` are the packages whose names are followed."""
    lines = content.splitlines(keepends=True)
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # it runs nowhere, and counts as it stands
        return Source([_Piece(_digest(content), 1, len(lines), {}, runs=[])], {}, {}, [])
    body = [node for node in tree.body if not _is_for_types(node) and not _is_text(node)]
    executed = [part for node in body for part in _executed(node)]
    statements = [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]
    reader = _Reader(package, roots, lines, _imports(executed, package))
    for number, statement in enumerate(statements):
        for name in sorted(_bound(statement)):
            reader.names.setdefault(name, []).append(number)
    pieces, methods = list[_Piece](), list[_Piece]()
    for statement in statements:
        own, numbers = reader.methods(statement), dict[str, list[int]]()
        for method in own:
            numbers.setdefault(method.name, []).append(len(statements) + len(methods))
            methods.append(reader.piece(method))
        pieces.append(reader.piece(statement, own)._replace(runs=reader.effects(statement), methods=numbers))
    imports = {name: followed for name, paths in reader.imports.items() if (followed := reader.followed(paths))}
    loads = reader.followed(path for *_, path in _imported(executed, package))
    return Source([*pieces, *methods, *reader.unspelled()], reader.names, imports, loads)


@dataclass
class _Reader:
    package: str
    roots: frozenset[str]
    lines: list[bytes]
    imports: Imports
    names: dict[str, list[int]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def followed(self, paths: Iterable[str]) -> list[str]:
        return sorted({path for path in paths if path.partition(".")[0] in self.roots})

    def piece(self, statement: ast.stmt, methods: Sequence[ast.stmt] = ()) -> _Piece:
        """One statement, its methods left out; every name, attribute and text in it counts, whatever it is there for."""
        nodes, dotted, docstrings = _contents(statement, methods)
        scope = _imports(nodes, self.package, self.imports)
        meant = {name: self._stands_for(name, scope) for name in dotted}
        stand_for = set[str]().union(*meant.values())
        words = {word for name in dotted for word in name.split(".")} | {getattr(node, "name", None) for node in nodes}
        calls = [(node, self._stands_for(_path(node.func), scope)) for node in nodes if isinstance(node, ast.Call)]
        # a module is imported by a text, which is followed wherever it stands; any other name of it cannot be told
        imported = [(*call.args, call)[0] for call, paths in calls if paths & IMPORTERS]
        patterns = {part: pattern for part in imported if (pattern := self._pattern(part))}
        by_text = [part in patterns or isinstance(part, ast.Constant | ast.Name) for part in imported]
        spelled = {part for pattern in patterns for part in ast.walk(pattern)}
        constants = (node.value for node in nodes if isinstance(node, ast.Constant) and node not in spelled)
        texts = {text for text in constants if isinstance(text, str)} | {*patterns.values()}
        # a method may be asked for by a text, which counts wherever it stands; not by one that is put together
        asked = [call.args[1] for call, paths in calls if "builtins.getattr" in paths and len(call.args) > 1]
        is_open = any(isinstance(name, ast.JoinedStr | ast.BinOp | ast.Call) for name in asked)
        is_closed = self._is_closed(statement)
        flags = {
            FILE: stand_for & HIDDEN or any(not call.args and paths & HIDDEN_ALONE for call, paths in calls),
            IMPORTED: words & UNNAMED or "sys.modules" in stand_for,
            PACKAGES: not all(by_text) or len(by_text) < sum(1 for paths in meant.values() if paths & IMPORTERS),
            CLASS: is_closed,
            VALUE: is_closed and self._makes_a_value(statement),
        }
        first = {name.partition(".")[0] for name in dotted}
        self.used |= first
        start, end = _lines(statement)
        elsewhere = {line for method in methods for line in range(_lines(method)[0], _lines(method)[1] + 1)}
        meaning = [f"{name} {path}" for name in sorted(first & self.imports.keys()) for path in self.imports[name]]
        bases = [_path(base) for base in _bases(statement)]
        # it may ask for those that it names, also in patterns, in texts and in templates
        attributes = {word for name in dotted for word in name.split(".")[1:]} | ({ANY} if is_open else set())
        attributes |= first if isinstance(statement, ast.ClassDef) else set()
        attributes |= {word for node in nodes if isinstance(node, ast.MatchClass) for word in node.kwd_attrs}
        spelling = [text for text in texts if "{" in text or WORD.fullmatch(text)]
        attributes |= {word for text in spelling for word in re.findall(r"[^\W\d]\w*", text)}
        return _Piece(
            digest=_digest("\n".join([self._text(start, end, docstrings, elsewhere), *meaning]).encode()),
            start=start,
            end=end,
            methods={},
            names=sorted(first & self.names.keys()),
            paths=self.followed(stand_for),
            loads=self.followed(path for *_, path in _imported(nodes, self.package)),
            texts=sorted(text for text in texts if TEMPLATE.fullmatch(text) or self._may_name_modules(text)),
            flags=[name for name, is_set in flags.items() if is_set],
            attributes=sorted(attributes),
            bases=[base for base in bases if self.followed(self._stands_for(base, self.imports)) or base in self.names],
        )

    def methods(self, statement: ast.stmt) -> list[ast.FunctionDef]:
        """The methods of a class that count only where their names are used."""
        functions = [node for node in getattr(statement, "body", []) if isinstance(node, ast.FunctionDef)]
        others = [one for one in functions if self._is_closed(statement) and not CALLED_BY_OTHERS.fullmatch(one.name)]
        paths = [[self._stands_for(_path(name), self.imports) or {""} for name in one.decorator_list] for one in others]
        return [one for one, own in zip(others, paths, strict=True) if all(map(QUIET_DECORATORS.fullmatch, chain(*own)))]

    def _is_closed(self, statement: ast.stmt) -> bool:
        """A class that only the packages can call, as far as its own file says: its bases there are to be looked at."""
        if not isinstance(statement, ast.ClassDef) or statement.keywords or self.effects(statement) is not None:
            return False
        names = [_path(base) for base in _bases(statement)]
        others = {path for name in names for path in self._stands_for(name, self.imports) or {name}} - self.names.keys()
        return all(self.followed([path]) or QUIET_BASES.fullmatch(path) for path in others)

    def _makes_a_value(self, statement: ast.stmt) -> bool:
        nodes = list(ast.walk(statement))
        factories = [word.value for word in nodes if isinstance(word, ast.keyword) and word.arg == "default_factory"]
        builtin = all(any(p.startswith("builtins.") for p in self._stands_for(_path(f), {})) for f in factories)
        made = {node.name for node in nodes if isinstance(node, FUNCTIONS)} & MAKERS
        stand_for = set[str]().union(*(self._stands_for(_path(base), self.imports) for base in _bases(statement)))
        return builtin and not made and not any(path.startswith("pydantic.") for path in stand_for)

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

    def unspelled(self) -> list[_Piece]:
        """What no statement names: `import *`, and imports from elsewhere that nothing uses, so there for their effect."""
        stars = self.followed(self.imports.get("*", ()))
        unused = sorted(f"{name} {path}" for name in self.imports.keys() - self.used for path in self.imports[name]
                        if path not in self.followed([path]))  # fmt: skip
        whole = _Piece(_digest("\n".join(unused).encode()), 0, 0, {}, paths=stars, flags=[FILE] if stars else [], runs=[])
        return [whole] if stars or unused else []

    def effects(self, statement: ast.stmt) -> list[str] | None:
        """What it does but bind names: the names that it calls; None for a plain definition, [] for whatever else."""
        parts = (node for node in _executed(statement) if isinstance(node, ast.Attribute | ast.Subscript))
        binds = isinstance(statement, (*FUNCTIONS, ast.ClassDef, ast.Assign, ast.AnnAssign))
        if not binds or any(isinstance(node.ctx, ast.Store) for node in parts):
            return []
        names = set[str]()
        for node in _executed(statement):
            called = [node.func] if isinstance(node, ast.Call) else getattr(node, "decorator_list", [])
            for one in called:
                if isinstance(one, ast.Call):  # a decorator with arguments: among the nodes itself
                    continue
                name = _path(one)
                stand_for = self._stands_for(name, self.imports)
                if name in self.names or self.followed(stand_for):
                    if not isinstance(node, ast.Call) or isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                        return []
                    names.add(name)
                elif not stand_for or not all(HARMLESS.fullmatch(path) for path in stand_for):
                    return []
        return sorted(names) or None

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


def _path(node: ast.AST) -> str:
    """The names and attributes of an expression as a dotted path; it begins with a dot if that is no name."""
    if isinstance(node, ast.Attribute):
        return f"{_path(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _bases(statement: ast.stmt) -> list[ast.expr]:
    bases = statement.bases if isinstance(statement, ast.ClassDef) else []
    return [base.value if isinstance(base, ast.Subscript) else base for base in bases]


def _lines(statement: ast.stmt) -> tuple[int, int]:
    """The first line, of its decorators if it has some, and the last one."""
    start = min(node.lineno for node in (statement, *getattr(statement, "decorator_list", ())))
    return start, statement.end_lineno or start


def _contents(statement: ast.stmt, left_out: Sequence[ast.stmt] = ()) -> tuple[list[ast.AST], set[str], list[ast.stmt]]:
    """The nodes of a statement; the dotted paths among them, also in annotations that are texts; its docstrings."""
    elsewhere = {part for one in left_out for part in ast.walk(one)}
    nodes = [node for node in ast.walk(statement) if node not in elsewhere]
    bodies = [node.body for node in nodes if isinstance(node, (*FUNCTIONS, ast.ClassDef))]
    docstrings = [body[0] for body in bodies if _is_text(body[0])]
    told = {part for one in docstrings for part in ast.walk(one)}
    nodes = [node for node in nodes if node not in told]
    inner = {node.value for node in nodes if isinstance(node, ast.Attribute)}
    dotted = {_path(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute) and node not in inner}
    for value in (getattr(node, name, None) for node in nodes for name in ("annotation", "returns")):
        texts = (part.value for part in ast.walk(value) if isinstance(part, ast.Constant)) if value else ()
        dotted.update(word for text in texts if isinstance(text, str) for word in WORD.findall(text))
    return nodes, dotted, docstrings


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
    return isinstance(statement, ast.If) and not statement.orelse and _path(statement.test).endswith("TYPE_CHECKING")


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


# What is known of the code, kept from one start of Snakemake to the next: parsing takes seconds, looking up hundredths.


@dataclass
class _Store:
    """The parts of scripts, as long as no file of the packages changes, and the pieces of files, by their content."""

    file: Path
    state: bytes  # of the analysis and the packages
    parts: dict[str, dict[str, str]] = field(default_factory=dict)
    is_new: bool = False
    lines: bytes = b"{}"

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Read only when some file has changed."""
        known = json.loads(self.lines)
        return {key: Source([_Piece(*piece) for piece in first], *others) for key, (first, *others) in known.items()}

    def read(self) -> None:
        """Take what another process wrote: all of it, by its own digest, or nothing; of another analysis nothing either."""
        with suppress(OSError, ValueError):
            digest, state, parts, lines = self.file.read_bytes().split(b"\n")
            if digest.decode() == _digest(state, parts, lines) and state.split()[0] == self.state.split()[0]:
                self.parts, self.lines = json.loads(parts) if state == self.state else {}, lines

    def write(self, keys: Collection[str]) -> None:
        """What has one of the keys, in one step: another process reads the old file or the new one. Nothing if forbidden."""
        if not self.is_new:
            return
        known = ({key: rest[key] for key in keys if key in rest} for rest in (self.parts, self.sources))
        content, new = [self.state, *(json.dumps(one).encode() for one in known)], self.file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self.file.parent.mkdir(exist_ok=True)
            new.write_bytes(b"\n".join([_digest(*content).encode(), *content]))
            new.replace(self.file)
        with suppress(OSError):
            new.unlink(missing_ok=True)


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
    return {from_here(Path(file)): digest for file, digest in sorted(_parts(str(script)).items())}


@cache
def code_digest(script: Path) -> str:
    """One digest over all that counts: a job's setting, so that it runs again when some of it changes."""
    return joint_digest(_parts(str(script)).values())


def keep_digests(folder: Path) -> None:
    """Find the digests of all scripts below a folder at once, and keep what was found for the jobs and the next start."""
    scripts = [str(script) for script in _scripts(folder).values()]
    for script in scripts:
        _parts(script)
    _store().write([_key(file) for file in [*scripts, *filter(None, _files().modules.values())]])


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
    for known in (_scripts, _files, _content, _key, code_digest, _parts, _next, _all_are, _source, _store):
        known.cache_clear()


# What scripts reach


@cache
def _parts(script: str) -> dict[str, str]:
    script = os.path.abspath(script)
    store, key = _store(), _key(script)
    if key not in store.parts:
        store.parts[key] = {file: _counted(file, numbers) for file, numbers in reached(script).items()}
        store.is_new = True
    return store.parts[key]


def _counted(file: str, numbers: Collection[int] | None) -> str:
    digests = (_source(file).pieces[number].digest for number in sorted(numbers or ()))
    return _digest(_content(file) if numbers is None else "".join(digests).encode())


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
    asked, waiting = set[str](), defaultdict[str, set[Node]](set)
    while todo:
        new, names, methods = _next(todo.pop())
        asked |= names
        for name, nodes in methods.items():
            waiting[name] |= nodes
        called = waiting.keys() & (waiting if ANY in asked else names | (methods.keys() & asked))
        new = new.union(*map(waiting.pop, called)) - reached
        reached |= new
        todo += new
    return reached


@cache
def _next(node: Node) -> tuple[frozenset[Node], frozenset[str], dict[str, frozenset[Node]]]:
    """What a node reaches, the names of attributes in it, and the methods that count where their names are asked for."""
    file, what = node
    if what == AS_IT_IS:
        return frozenset(), frozenset(re.findall(r"[^\W\d]\w*", _content(file).decode(errors="replace"))), {}
    source = _source(file)
    if what == WHOLE:
        return frozenset({(file, LOADED), *((file, number) for number in range(len(source.pieces)))}), frozenset(), {}
    if what == LOADED:
        runs = ((n, piece.runs) for n, piece in enumerate(source.pieces) if piece.runs is not None)
        # what only makes a value counts where it is named
        always = ((file, n) for n, names in runs if not names or not all(_are_classes(file, one, VALUE) for one in names))
        return frozenset({*always, *chain.from_iterable(map(_loaded, source.loads))}), frozenset(), {}
    if isinstance(what, str):
        return frozenset(_bindings(file, source, what.removeprefix("="))), frozenset(), {}
    piece = source.pieces[what]
    methods: dict[str, frozenset[Node]] = {
        name: frozenset((file, n) for n in numbers) for name, numbers in piece.methods.items()
    }
    result: set[Node] = {(file, LOADED), *((file, f"={name}") for name in piece.names)}
    result.update(*map(_resolve, piece.paths), *map(_loaded, piece.loads), *(_named(file, text) for text in piece.texts))
    if methods and not _all_are(node, CLASS):  # a base of elsewhere may call them
        result.update(*methods.values())
        methods = {}
    if FILE in piece.flags:
        result.add((file, WHOLE))
    if PACKAGES in piece.flags:
        result |= _whole("")
    if file == _files().modules.get(RECORDER):
        result = {one for one in result if one[0] != _files().modules[__name__]}
    return frozenset(result), frozenset(piece.attributes), methods


@cache
def _all_are(node: Node, flag: str) -> bool:
    """Whether a class and all its bases have a flag."""
    file, what = node
    piece = _source(file).pieces[int(what)]
    return flag in piece.flags and all(_are_classes(file, base, flag) for base in piece.bases)


def _are_classes(file: str, name: str, flag: str) -> bool:
    """Whether all that a name of a file may stand for are classes with a flag, as their bases are."""
    todo = [] if "." in name else [*_bindings(file, _source(file), name)]
    for node in todo:  # which grows
        if isinstance(node[1], str) and node[1].startswith("="):
            todo += _next(node)[0].difference(todo)
    classes = [node for node in todo if isinstance(node[1], int)]
    return bool(classes) and all(what != WHOLE for _, what in todo) and all(_all_are(node, flag) for node in classes)


def _bindings(file: str, source: Source, name: str) -> set[Node]:
    """What binds a name of a file: its pieces, an import; else the whole file, with a __getattr__ that may look it up."""
    result: set[Node] = {(file, number) for number in source.names.get(name, ())}
    result.update(*(_resolve(path) for path in source.imports.get(name, ())))
    return result if name in source.names or name in source.imports else {(file, WHOLE)}


def _resolve(path: str) -> set[Node]:
    """What a dotted path names: something in a module of the packages, or a module itself, which then counts whole."""
    modules, parts = _files().modules, path.split(".")
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
        if file := _files().modules.get(end):
            yield file, LOADED


def _whole(module: str) -> set[Node]:
    """A module, with all below it if it is a package; every module for an empty name."""
    return _like(rf"{re.escape(module)}(?:\..*)?" if module else ".*")


def _like(pattern: str) -> set[Node]:
    matches = re.compile(pattern).fullmatch
    return {(file, WHOLE) for module, file in _files().modules.items() if file and matches(module)}


def _named(file: str, text: str) -> set[Node]:
    """The modules that a text names or begins to name; or templates, as seen from a package or a folder above the file."""
    text = f"{_package(file)}{text}" if text.startswith(".") else text
    name, colon, value = text.partition(":")
    if name.partition(".")[0] in _files().roots:
        if colon and name in _files().modules:
            return _resolve(f"{name}.{value}")
        result = _like(re.escape(name).replace(r"\*", ".*") + ("" if "*" in name else ".*"))
        return result or (_resolve(name) if name.count(".") > 1 else set())
    folders = {str(SRC / root) for root in _files().roots} | {str(folder) for folder in Path(file).parents}
    return {(path, AS_IT_IS) for folder in folders if (path := os.path.normpath(f"{folder}/{text}")) in _files().templates}


# The files


class _Files(NamedTuple):
    roots: frozenset[str]  # the packages whose code counts
    modules: dict[str, str]  # the file of every module by its dotted name; none for a package without an __init__
    templates: list[str]


@cache
def _files() -> _Files:
    # the packages beside this one in `src`; where it is installed beside others, it alone
    roots = [name for name in os.listdir(SRC) if name.isidentifier()] if SRC.name == "src" else [__name__.partition(".")[0]]
    walks = chain.from_iterable(os.walk(SRC / root) for root in sorted(roots))
    files, modules = [f"{folder}{os.sep}{name}" for folder, _, names in walks for name in sorted(names)], dict[str, str]()
    for file in (file for file in files if file.endswith(".py")):
        package = _package(file)
        for above in accumulate(package.split("."), "{}.{}".format):
            modules.setdefault(above, "")
        name = os.path.basename(file)[:-3]
        modules[package if name == "__init__" else f"{package}.{name}"] = file
    return _Files(frozenset(roots), modules, [file for file in files if TEMPLATE.fullmatch(os.path.basename(file))])


def _package(file: str) -> str:
    """The package that a file belongs to, itself for an __init__; none for a script."""
    folder = os.path.relpath(os.path.dirname(file), SRC)
    return "" if folder.startswith(os.pardir) else folder.replace(os.sep, ".")


@cache
def _content(file: str) -> bytes:
    return Path(file).read_bytes()


@cache
def _source(file: str) -> Source:
    sources, key = _store().sources, _key(file)
    if key not in sources:
        sources[key] = cut(_content(file), _package(file), _files().roots)
    return sources[key]


@cache
def _key(file: str) -> str:
    """What a file is kept by: its content and its place, which says what its imports mean and what its parts are called."""
    return _digest(file.encode(), _content(file))


@cache
def _store() -> _Store:
    roots, modules, templates = _files()
    version = _digest(Path(__file__).read_bytes(), f"{sys.version_info[:2]} {sorted(roots)}".encode())
    files = sorted([*filter(None, modules.values()), *templates])
    store = _Store(SRC.parent / STORE, f"{version} {_digest(*(_key(file).encode() for file in files))}".encode())
    store.read()
    return store
