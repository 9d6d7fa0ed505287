"""
Which code a script's results depend on: the definitions that it can reach, wherever they stand, and templates.

Reached are every statement of the script; what a reached statement names, in its own file or through imports; and of every
imported module what importing it runs, except plain definitions (functions, classes, constants), which count only where they
are named. A class counts whole. Where that cannot be told (a module used as a value, `globals()`, `import *`, a module named
in a text), files count whole: a stale result is worse than a rerun.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from hashlib import sha256
from itertools import accumulate, chain
from pathlib import Path

from genverify.run.codestore import Store, joined_digest
from genverify.run.layout import repository
from genverify.run.pieces import FILE, IMPORTED, PACKAGES, TEMPLATE, Source, cut

SRC = Path(__file__).parents[__name__.count(".")]
STORE = Path(".snakemake", "genverify-code.json")  # beside the Snakefile, with what Snakemake itself keeps
# a file with the number of a piece, with "=name" for whatever binds a name there, or with one of these
LOADED, WHOLE, AS_IT_IS = "loaded", "whole", "as it is"
Node = tuple[str, int | str]


def code_parts(script: Path) -> dict[str, str]:
    """The script, the files of which it reaches something, and templates: each with one digest of what counts of it."""
    return {from_here(Path(file)): digest for file, (digest, _) in sorted(_parts(str(script)).items())}


def code_files(script: Path) -> list[str]:
    """The files of these parts."""
    return list(code_parts(script))


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


def digested_lines(script: Path) -> int:
    """The lines of Python, without empty ones, whose change may run the jobs of a script again."""
    return sum(lines for _, lines in _parts(str(script)).values())


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
    for known in (*files, code_digest, _parts, _next, _source, _store):
        known.cache_clear()


# What scripts reach


@cache
def _parts(script: str) -> dict[str, tuple[str, int]]:
    """The digest and the number of lines of what counts, by file."""
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
    found = _closure({(script, LOADED), *((script, number) for number in range(len(_source(script).pieces)))})
    if any(IMPORTED in _source(file).pieces[what].flags for file, what in found if isinstance(what, int)):
        found = _closure(found | {(file, WHOLE) for file, what in found if what == LOADED})
    numbers: defaultdict[str, set[int]] = defaultdict(set, {script: set()})
    for file, what in found:
        if isinstance(what, int):
            numbers[file].add(what)
    return {**numbers, **{file: None for file, what in found if what in (WHOLE, AS_IT_IS)}}


def lines_of(file: str, number: int) -> tuple[int, int]:
    """Where a piece begins in its file, and the line after its last one."""
    piece = _source(file).pieces[number]
    return piece.start, piece.end + 1


def _closure(start: set[Node]) -> set[Node]:
    found, todo = set(start), list(start)
    while todo:
        new = _next(todo.pop()) - found
        found |= new
        todo += new
    return found


@cache
def _next(node: Node) -> frozenset[Node]:
    """What is reached with a node."""
    file, what = node
    if what == AS_IT_IS:
        return frozenset()
    source = _source(file)
    if what == WHOLE:
        return frozenset({(file, LOADED), *((file, number) for number in range(len(source.pieces)))})
    if what == LOADED:
        return frozenset({*((file, number) for number in source.always), *chain.from_iterable(map(_loaded, source.loads))})
    if isinstance(what, str):
        return frozenset(_bound(file, source, what.removeprefix("=")))
    piece = source.pieces[what]
    found: set[Node] = {(file, LOADED), *((file, f"={name}") for name in piece.names)}
    found.update(*map(_resolve, piece.paths), *map(_loaded, piece.loads), *(_named(file, text) for text in piece.texts))
    if FILE in piece.flags:
        found.add((file, WHOLE))
    if PACKAGES in piece.flags:
        found |= _whole("")
    return frozenset(found)


def _bound(file: str, source: Source, name: str) -> set[Node]:
    """What binds a name of a file: its pieces, an import, its own __getattr__; whatever it is if that cannot be told."""
    found: set[Node] = {(file, number) for number in source.names.get(name, ())}
    found.update(*(_resolve(path) for path in source.imports.get(name, ())))
    if name in source.names or name in source.imports:
        return found
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
    found, module = set(_loaded(path)), parts[0]
    if module not in modules:
        return found
    for part in parts[1:]:
        inside = f"{module}.{part}"
        file = modules[module]
        if file and (inside not in modules or part in _source(file).names or part in _source(file).imports):
            found.add((file, f"={part}"))
        if inside not in modules:
            return found
        module = inside
    return found | _whole(module)


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
    name = text.partition(":")[0]
    if name.partition(".")[0] in _roots():
        found: set[Node] = {(other, WHOLE) for module, other in _modules().items() if other and module.startswith(name)}
        return found or (_resolve(name) if name.count(".") > 1 else set())
    folders = {str(SRC / root) for root in _roots()} | {str(folder) for folder in Path(file).parents}
    return {(path, AS_IT_IS) for folder in folders if (path := os.path.normpath(f"{folder}/{text}")) in _templates()}


# The files


def _roots() -> frozenset[str]:
    """The packages whose code counts: those beside this one in `src`; where it is installed beside others, it alone."""
    own = __name__.partition(".")[0]
    return frozenset(name for name in os.listdir(SRC) if name.isidentifier()) if SRC.name == "src" else frozenset({own})


@cache
def _listed() -> list[tuple[str, str]]:
    """The folders of the packages and the names of the files in them."""
    walks = (os.walk(SRC / root) for root in sorted(_roots()))
    return [(folder, name) for folder, _, names in chain.from_iterable(walks) for name in sorted(names)]


@cache
def _modules() -> dict[str, str]:
    """The file of every module of the packages by its dotted name; none for a package without an __init__."""
    found: dict[str, str] = {}
    for folder, name in _listed():
        if name.endswith(".py"):
            package = os.path.relpath(folder, SRC).replace(os.sep, ".")
            for above in accumulate(package.split("."), "{}.{}".format):
                found.setdefault(above, "")
            found[package if name == "__init__.py" else f"{package}.{name[:-3]}"] = f"{folder}{os.sep}{name}"
    return found


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
    """The pieces of a file, kept by its content, or cut now."""
    sources, key = _store().sources, _key(file)
    if key not in sources:
        sources[key] = cut(_content(file), _packages().get(file, ""), _roots())
    return sources[key]


@cache
def _key(file: str) -> str:
    """What a file is kept by: its content and its place, which says what its imports mean and what its parts are called."""
    return joined_digest(file.encode(), _content(file))


@cache
def _store() -> Store:
    """What is kept beside the Snakefile."""
    analysis = (Path(__file__).with_name(f"{name}.py").read_bytes() for name in ("code", "codestore", "pieces"))
    files = sorted([*filter(None, _modules().values()), *_templates()])
    version = joined_digest(*analysis, f"{sys.version_info[:2]} {sorted(_roots())}".encode())
    store = Store(SRC.parent / STORE, version, joined_digest(*(_key(file).encode() for file in files)))
    store.read()
    return store
