"""
A Python file cut into its top-level statements: what counts of each, what it names, and what runs when it is imported.

What counts of a statement is its text without comments, blank lines and docstrings, and what its imported names stand for.
That is the same in every version of Python, which the tokens of an f-string and the dump of a tree are not.
"""

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

TEMPLATE = re.compile(r"[\w./-]+\.(?:j2|css|html|js)")
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
FILE, IMPORTED, PACKAGES = "file", "imported", "packages"
Imports = dict[str, list[str]]  # a name, and the dotted paths that it may stand for


class Piece(NamedTuple):
    """A top-level statement of a file."""

    digest: str
    lines: int
    start: int  # its first and last line
    end: int
    names: list[str]  # of its file
    paths: list[str]  # of the packages: what imported names stand for
    loads: list[str]  # modules that it imports when it runs
    texts: list[str]  # names of modules or templates
    flags: list[str]  # what counts whole with it: its FILE, all that is IMPORTED, the PACKAGES


class Source(NamedTuple):
    """A file cut into pieces."""

    pieces: list[Piece]
    names: dict[str, list[int]]  # the pieces that bind a name
    always: list[int]  # those that run with every import: all but plain definitions
    imports: Imports  # what imported names stand for
    loads: list[str]
    lazy: list[str]  # the texts of a module that finds names by a __getattr__ of its own: some may name modules


def cut(content: bytes, package: str, roots: frozenset[str]) -> Source:
    """The pieces of a file of a package; `roots` are the packages whose names are followed."""
    lines = content.splitlines(keepends=True)
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # it runs nowhere, and counts as it stands
        return Source([Piece(_digest(content), len(lines), 1, len(lines), [], [], [], [], [])], {}, [0], {}, [], [])
    if tree.body and _is_text(tree.body[0]):
        del tree.body[0]
    body = [node for node in tree.body if not _is_for_types(node)]
    executed = [part for node in body for part in _executed(node)]
    statements = [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]
    reader = _Reader(package, roots, lines, _imports(executed, package), {})
    for number, statement in enumerate(statements):
        for name in sorted(_bound(statement)):
            reader.names.setdefault(name, []).append(number)
    pieces = [reader.piece(statement) for statement in statements]
    always = [number for number, statement in enumerate(statements) if not reader.is_plain(statement)]
    if extra := reader.unspelled():
        always.append(len(pieces))
        pieces.append(extra)
    imports = {name: own for name, paths in reader.imports.items() if (own := reader.followed(paths))}
    lazy = sorted(reader.texts) if "__getattr__" in reader.names else []
    return Source(pieces, reader.names, always, imports, reader.followed(_loads(executed, package)), lazy)


@dataclass
class _Reader:
    """What the statements of one file name."""

    package: str
    roots: frozenset[str]
    lines: list[bytes]
    imports: Imports
    names: dict[str, list[int]]
    used: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def followed(self, paths: Iterable[str]) -> list[str]:
        return sorted({path for path in paths if path.partition(".")[0] in self.roots})

    def piece(self, statement: ast.stmt) -> Piece:
        """One statement; every name, attribute and text in it counts, whatever it is there for."""
        nodes, dotted, docstrings = _contents(statement)
        texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        scope = _imports(nodes, self.package, self.imports)
        stand_for = {path for name in dotted for path in self._stands_for(name, scope)}
        words = {word for name in dotted for word in name.split(".")} | {getattr(node, "name", None) for node in nodes}
        calls = [(node, self._stands_for(_path(node.func)[0], scope)) for node in nodes if isinstance(node, ast.Call)]
        # a module is imported by a text, which is followed wherever it stands; any other name of it cannot be told
        by_text = [isinstance((*call.args, call)[0], ast.Constant | ast.Name) for call, paths in calls if paths & IMPORTERS]
        importing = [name for name in dotted if self._stands_for(name, scope) & IMPORTERS]
        flags = {
            FILE: stand_for & HIDDEN or any(not call.args and paths & HIDDEN_ALONE for call, paths in calls),
            IMPORTED: words & UNNAMED or "sys.modules" in stand_for,
            PACKAGES: not all(by_text) or len(by_text) < len(importing),
        }
        first = {name.partition(".")[0] for name in dotted}
        self.used |= first
        self.texts |= texts
        start = min(node.lineno for node in (statement, *getattr(statement, "decorator_list", ())))
        end = statement.end_lineno or start
        meaning = [f"{name} {path}" for name in sorted(first & self.imports.keys()) for path in self.imports[name]]
        return Piece(
            digest=_digest("\n".join([self._text(start, end, docstrings), *meaning]).encode()),
            lines=sum(1 for line in self.lines[start - 1 : end] if line.strip()),
            start=start,
            end=end,
            names=sorted(first & self.names.keys()),
            paths=self.followed(stand_for),
            loads=self.followed(_loads(nodes, self.package)),
            texts=sorted(text for text in texts if TEMPLATE.fullmatch(text) or self._may_name_modules(text)),
            # the modules of a __getattr__ of the file are those that its texts name
            flags=[name for name, is_set in flags.items() if is_set and getattr(statement, "name", "") != "__getattr__"],
        )

    def _text(self, start: int, end: int, docstrings: Iterable[ast.stmt]) -> str:
        lines = self.lines[start - 1 : end]
        for node in docstrings:
            first, last = node.lineno - start, (node.end_lineno or node.lineno) - start
            rest = lines[last][node.end_col_offset :]
            lines[first : last + 1] = [lines[first][: node.col_offset] + rest, *[b""] * (last - first)]
        return LINE_ENDS.sub(lambda found: found[1] or "", b"".join(lines).decode()).strip()

    def unspelled(self) -> Piece | None:
        """What no statement names: `import *`, and imports from elsewhere that nothing uses, so there for their effect."""
        stars = self.followed(self.imports.get("*", ()))
        unused = sorted(f"{name} {path}" for name in self.imports.keys() - self.used for path in self.imports[name]
                        if path not in self.followed([path]))  # fmt: skip
        if not stars and not unused:
            return None
        return Piece(_digest("\n".join(unused).encode()), len(unused), 0, 0, [], stars, [], [], [FILE] if stars else [])

    def is_plain(self, statement: ast.stmt) -> bool:
        """Whether it only binds names, so that it counts where they are used: no decorator or call with another effect."""
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(node, ast.Attribute | ast.Subscript) for target in targets for node in ast.walk(target)):
                return False
        elif not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            return False
        for node in _executed(statement):
            called = [node.func] if isinstance(node, ast.Call) else getattr(node, "decorator_list", [])
            for one in called:
                if isinstance(one, ast.Call):  # a decorator with arguments: among the nodes itself
                    continue
                stand_for = self._stands_for(_path(one)[0], self.imports)
                if not stand_for or not all(HARMLESS.fullmatch(path) for path in stand_for):
                    return False
        return True

    def _stands_for(self, dotted: str, scope: Imports) -> set[str]:
        """The paths that a name of the file may stand for by its imports, or else as a builtin."""
        first, dot, rest = dotted.partition(".")
        if first in scope:
            return {f"{path}{dot}{rest}" for path in scope[first]}
        return {f"builtins.{dotted}"} if hasattr(builtins, first) and first not in self.names else set()

    def _may_name_modules(self, text: str) -> bool:
        root, dot, rest = text.partition(".")
        return bool(dot) and root in self.roots and re.fullmatch(r"[\w.]*(?::\w+)?", rest) is not None


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _path(node: ast.AST) -> tuple[str, list[ast.AST]]:
    """
    The names and attributes of an expression as a dotted path, and what it begins with if that is no name.

    >>> _path(ast.parse("a.b.c").body[0].value)
    ('a.b.c', [])
    """
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    inner = [] if isinstance(node, ast.Name) else [node]
    return ".".join([node.id if isinstance(node, ast.Name) else "", *reversed(parts)]), inner


def _contents(statement: ast.stmt) -> tuple[list[ast.AST], set[str], list[ast.stmt]]:
    """The nodes of a statement; the dotted paths among them, also in annotations that are texts; its docstrings."""
    todo: list[ast.AST] = [statement]
    dotted, docstrings = set[str](), list[ast.stmt]()
    for node in todo:  # which grows
        if isinstance(node, ast.Name | ast.Attribute):
            path, inner = _path(node)
            dotted.add(path)
            todo += inner
            continue
        held = vars(node)
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and _is_text(node.body[0]):
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
    """The names that a statement binds in the file."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return {statement.name}
    nodes = list(_executed(statement))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return stored | {node.name for node in nodes if isinstance(node, (*FUNCTIONS, ast.ClassDef))}


def _imports(nodes: Iterable[ast.AST], package: str, known: Imports | None = None) -> Imports:
    """What the imports among the nodes bind, besides what is known."""
    found = {name: list(paths) for name, paths in (known or {}).items()}
    for node in nodes:
        if isinstance(node, ast.Import):
            pairs = [(a.asname, a.name) if a.asname else (a.name.partition(".")[0],) * 2 for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, package)
            pairs = [(a.asname or a.name, module if a.name == "*" else f"{module}.{a.name}") for a in node.names]
        else:
            continue
        for name, path in pairs:
            found[name] = sorted({*found.get(name, ()), path})
    return found


def _loads(nodes: Iterable[ast.AST], package: str) -> Iterator[str]:
    """The modules that the imports among the nodes run; a name that is imported from a package may be one, too."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{_absolute(node, package)}.{alias.name}" for alias in node.names)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """The module that is imported from; one dot is the package of the file itself."""
    above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])


def _is_for_types(statement: ast.stmt) -> bool:
    """`if TYPE_CHECKING:`, which never runs."""
    return isinstance(statement, ast.If) and not statement.orelse and _path(statement.test)[0].endswith("TYPE_CHECKING")


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
