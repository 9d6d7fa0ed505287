"""
Build the page that works offline: one HTML file out of page/src, the library's reading, the style of the reports, PyYAML,
and the npm packages highs and pyodide.

`make page` runs `npm ci`, then this. `--check` says whether the page is up to date with its sources, and needs no npm: what
was taken from the packages is read out of the page itself. `--own` renews only what is ours, and needs no npm either.
"""

import argparse
import ast
import base64
import gzip
import json
import re
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import distribution
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
PAGE = ROOT / "src/genverify/disclosure/page.html"
STYLES = (ROOT / "src/genverify/report/templates/style.css", HERE / "src/style.css")
READER = HERE / "src/reader"
IMPORT = re.compile(r'^import (?:\{[^}]*\} from )?"(\./[^"]+|\.\./[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?:\{[^}]*\};\n)?", re.MULTILINE)
TOP = re.compile(r"^(?:async )?(?:function\*?|class|const|let) (\[?\{?[^=({;]+)", re.MULTILINE)
SPLIT = "/* genverify: from here on, this page's own code */\n"
PACKED = ("wasm", "python", "library", "loader", "sources")  # parts of the page that are packed, by the id of their element


@dataclass(frozen=True)
class Packages:
    """What the page takes from others: the solver's loader and program, Python's, and licences; packed texts as they are."""

    solver: str
    wasm: str
    python: str
    library: str
    loader: str
    yaml: dict[str, str]
    licences: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    parser.add_argument("--own", action="store_true", help="renew only what is no npm package's")
    options = parser.parse_args()
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    made = page(from_page(before) if options.check or options.own else from_npm(before), before)
    if options.check:
        print("up to date" if made == before else f"{PAGE.name} is older than its sources: make page", file=sys.stderr)
        return int(made != before)
    PAGE.write_text(made, encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(made.encode()) / 1e6:.2f} MB")
    return 0


def page(packages: Packages, before: str) -> str:
    """The whole page; the policy names its script and its style by their hashes, and allows no network."""
    script = f'(() => {{\n"use strict";\n{bundle("main.js")}}})();\n'
    style = "".join(path.read_text(encoding="utf-8") for path in STYLES)
    policy = (
        f"default-src 'none'; script-src '{digest(script)}' 'wasm-unsafe-eval'; style-src '{digest(style)}'; "
        "worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    solver = f'{packages.solver}\n{SPLIT}(() => {{\n"use strict";\n{bundle("solve/worker.js")}}})();\n'
    reader = f'(() => {{\n"use strict";\n{bundle("reader/worker.js")}}})();\n'
    sources = json.dumps(packages.yaml | own_sources(), ensure_ascii=False, sort_keys=True).encode()
    parts = {
        "policy": policy, "style": style, "script": script, "solver": solver, "wasm": packages.wasm, "reader": reader,
        "python": packages.python, "library": packages.library, "loader": packages.loader,
        "sources": packed(sources, part(before, "sources")), "version": own_version(),
        "licences": escaped(packages.licences),
        "licence": escaped((ROOT / "LICENSE").read_text(encoding="utf-8").strip()),
        **{name: locked_version(name) for name in ("highs", "pyodide")}, "yaml": yaml_version(packages.yaml),
    }  # fmt: skip
    for name in ("script", "solver", "reader"):
        if "</script" in parts[name].lower() or "<!--" in parts[name]:
            raise SystemExit(f"{name}: holds text that would end its element")
    text = (HERE / "src/page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], text)


def from_npm(before: str) -> Packages:
    """The installed packages; where a program is the one already in the page, its packed text stays the same."""
    highs, pyodide = (installed(name) for name in ("highs", "pyodide"))
    sources = yaml_sources() | own_sources()
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder) / "sources.json", Path(folder) / "library.zip"
        given.write_text(json.dumps(sources), encoding="utf-8")
        subprocess.run(["node", "pack.mjs", str(given), str(out)], cwd=HERE, check=True)
        library = out.read_bytes()
    info = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))["info"]
    loader = b"\n".join(
        [
            (pyodide / "pyodide.asm.js").read_bytes(),
            (pyodide / "pyodide.js").read_bytes().rpartition(b"//#")[0],
            f"self.pythonInfo = {json.dumps(info)};".encode(),  # of which build its packages are; the page has none
        ]
    )
    made = {
        "wasm": (highs / "build/highs.wasm").read_bytes(),
        "python": (pyodide / "pyodide.asm.wasm").read_bytes(),
        "library": library,
        "loader": loader,
    }
    yaml = distribution("PyYAML")
    licence = next(file for file in yaml.files or () if file.name == "LICENSE")
    licences = (
        f"highs {locked_version('highs')}\n\n{(highs / 'LICENSE').read_text(encoding='utf-8').strip()}\n\n"
        f"PyYAML {yaml.version}\n\n{licence.read_text(encoding='utf-8').strip()}"
    )
    return Packages(
        (highs / "build/highs.js").read_text(encoding="utf-8").strip(),
        yaml=yaml_sources(),
        licences=licences,
        **{name: packed(raw, part(before, name)) for name, raw in made.items()},
    )


def installed(name: str) -> Path:
    folder = HERE / "node_modules" / name
    if not (folder / "package.json").exists():
        raise SystemExit(f"page/node_modules/{name} is not there: run npm ci --ignore-scripts in page/, or make page")
    version = json.loads((folder / "package.json").read_text(encoding="utf-8"))["version"]
    if version != locked_version(name):
        raise SystemExit(f"{name} {version} is installed, but {locked_version(name)} is locked: run npm ci in page/")
    return folder


def from_page(text: str) -> Packages:
    solver = part(text, "solver").split(SPLIT)[0].removesuffix("\n")
    licences = re.search(r'<pre id="licences">(.*?)</pre>', text, re.DOTALL)
    sources = json.loads(unpacked(part(text, "sources")))
    return Packages(
        solver,
        yaml={path: own for path, own in sources.items() if path.startswith("yaml/")},
        licences=unescaped(licences[1]) if licences else "",
        **{name: part(text, name) for name in PACKED if name != "sources"},
    )


def own_sources() -> dict[str, str]:
    """The page's reader and the modules of the library that it imports when it starts; anything else is an error."""
    found = {
        name: (READER / name).read_text(encoding="utf-8") for name in ("reader.py", "stand_ins.py", "python_calamine.py")
    }
    replaced = runpy.run_path(str(READER / "stand_ins.py"))["REPLACED"]
    left = list(found)
    while left:
        for name in imports(found[left.pop()]):
            top = name.partition(".")[0]
            if top not in ("genverify", "yaml", *sys.stdlib_module_names) and name not in replaced:
                raise SystemExit(f"the reader imports {name}, which the page does not hold")
            for path in module_files(name) if top == "genverify" and name not in replaced else ():
                if path not in found:
                    found[path] = (ROOT / "src" / path).read_text(encoding="utf-8")
                    left.append(path)
    for path, text in list(found.items()):  # files of data that a module names beside it
        for beside in (str(Path(path).with_name(name)) for name in re.findall(r'with_name\("([\w.]+)"\)', text)):
            found[beside] = (ROOT / "src" / beside).read_text(encoding="utf-8")
    return found


def imports(text: str) -> Iterator[str]:
    """The modules that a module imports when it is imported, and those of the reading that it imports when it needs them."""
    tree = ast.parse(text)
    for own in ast.walk(tree):
        if isinstance(own, ast.Import):
            yield from (alias.name for alias in own.names if own in tree.body)
        elif isinstance(own, ast.ImportFrom) and own.module and (own in tree.body or ".reading." in own.module):
            yield own.module


def module_files(name: str) -> Iterator[str]:
    """The files of a module of the library and of the packages around it."""
    parts = name.split(".")
    yield from ("/".join([*parts[:at], "__init__.py"]) for at in range(1, len(parts)))
    module = "/".join(parts)
    yield f"{module}.py" if (ROOT / "src" / f"{module}.py").exists() else f"{module}/__init__.py"


def yaml_sources() -> dict[str, str]:
    """PyYAML as it is written in Python; its compiled part is for other machines."""
    files = distribution("PyYAML").files or ()
    return {
        str(file): Path(str(file.locate())).read_text(encoding="utf-8")
        for file in files
        if file.parts[0] == "yaml" and file.suffix == ".py" and file.name != "cyaml.py"
    }


def yaml_version(sources: dict[str, str]) -> str:
    found = re.search(r"__version__ = '([\d.]+)'", sources.get("yaml/__init__.py", ""))
    return found[1] if found else ""


def part(text: str, name: str) -> str:
    found = re.search(rf'<script type="text/plain" id="{name}">(.*?)</script>', text, re.DOTALL)
    return found[1] if found else ""


def packed(raw: bytes, old: str) -> str:
    """Bytes as a text; where the old text holds the same bytes, that text."""
    if old and unpacked(old) == raw:
        return old
    return base64.b64encode(gzip.compress(raw, 9, mtime=0)).decode()


def unpacked(text: str) -> bytes:
    return gzip.decompress(base64.b64decode(text))


def locked_version(name: str) -> str:
    lock = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))
    return str(lock["packages"][f"node_modules/{name}"]["version"])


def own_version() -> str:
    found = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


def bundle(first: str) -> str:
    """Modules after those that they import, in one scope; an error where two of them give one name to two things."""
    texts = dict(modules(HERE / "src" / first, {}))
    names: dict[str, Path] = {}
    for path, text in texts.items():
        for name in (own.strip() for found in TOP.findall(text) for own in found.split(",")):
            if name in names:
                raise SystemExit(f"{path.name} and {names[name].name} both define {name}")
            names[name] = path
    return "".join(texts.values())


def modules(path: Path, seen: dict[Path, None]) -> Iterator[tuple[Path, str]]:
    if path in seen:
        return
    seen[path] = None
    text = path.read_text(encoding="utf-8")
    for other in IMPORT.findall(text):
        yield from modules((path.parent / other).resolve(), seen)
    yield path, EXPORT.sub("", IMPORT.sub("", text))


def digest(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


if __name__ == "__main__":
    sys.exit(main())
