"""
Build the page that works offline: one HTML file out of page/src, the style of the reports, and the npm package highs.

`make page` runs `npm ci`, then this. `--check` says whether the page is up to date with its sources, and needs no npm: what
was taken from the package is read out of the page itself.
"""

import argparse
import base64
import gzip
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
PAGE = ROOT / "src/genverify/disclose/page.html"
STYLES = (ROOT / "src/genverify/report/templates/style.css", HERE / "src/style.css")
IMPORT = re.compile(r'^import (?:\{[^}]*\} from )?"(\./[^"]+|\.\./[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?:\{[^}]*\};\n)?", re.MULTILINE)
TOP = re.compile(r"^(?:async )?(?:function\*?|class|const|let) (\[?\{?[^=({;]+)", re.MULTILINE)
SPLIT = "/* genverify: from here on, this page's own code */\n"


@dataclass(frozen=True)
class Package:
    """What the page takes from the npm package: its loader, its packed program, its licence."""

    loader: str
    wasm: str
    licence: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    options = parser.parse_args()
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    installed = HERE / "node_modules/highs"
    made = page(from_page(before) if options.check else from_npm(installed, before))
    if options.check:
        print("up to date" if made == before else f"{PAGE.name} is older than its sources: make page", file=sys.stderr)
        return int(made != before)
    PAGE.write_text(made, encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(made.encode()) / 1e6:.2f} MB")
    return 0


def page(package: Package) -> str:
    """The whole page; the policy names its script and its style by their hashes, and allows no network."""
    script = f'(() => {{\n"use strict";\n{bundle("main.js")}}})();\n'
    style = "".join(path.read_text(encoding="utf-8") for path in STYLES)
    policy = (
        f"default-src 'none'; script-src '{digest(script)}' 'wasm-unsafe-eval'; style-src '{digest(style)}'; "
        "worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    solver = f'{package.loader}\n{SPLIT}(() => {{\n"use strict";\n{bundle("solve/worker.js")}}})();\n'
    parts = {
        "policy": policy, "style": style, "script": script, "solver": solver, "wasm": package.wasm,
        "highs": locked_version(), "version": own_version(), "highs_licence": escaped(package.licence),
        "licence": escaped((ROOT / "LICENSE").read_text(encoding="utf-8").strip()),
    }  # fmt: skip
    for name in ("script", "solver"):
        if "</script" in parts[name].lower() or "<!--" in parts[name]:
            raise SystemExit(f"{name}: holds text that would end its element")
    text = (HERE / "src/page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], text)


def from_npm(folder: Path, before: str) -> Package:
    """The installed package; where its program is the one already in the page, the packed text stays the same."""
    if not (folder / "package.json").exists():
        raise SystemExit("page/node_modules/highs is not there: run npm ci --ignore-scripts in page/, or make page")
    version = json.loads((folder / "package.json").read_text(encoding="utf-8"))["version"]
    if version != locked_version():
        raise SystemExit(f"highs {version} is installed, but {locked_version()} is locked: run npm ci in page/")
    raw = (folder / "build/highs.wasm").read_bytes()
    old = part(before, "wasm")
    wasm = old if old and unpacked(old) == raw else base64.b64encode(gzip.compress(raw, 9, mtime=0)).decode()
    loader = (folder / "build/highs.js").read_text(encoding="utf-8").strip()
    return Package(loader, wasm, (folder / "LICENSE").read_text(encoding="utf-8").strip())


def from_page(text: str) -> Package:
    loader = part(text, "solver").split(SPLIT)[0].removesuffix("\n")
    licence = re.search(r"highs [\d.]+\n\n(.*?)</pre>", text, re.DOTALL)
    return Package(loader, part(text, "wasm"), unescaped(licence[1]) if licence else "")


def part(text: str, name: str) -> str:
    found = re.search(rf'<script type="text/plain" id="{name}">(.*?)</script>', text, re.DOTALL)
    return found[1] if found else ""


def unpacked(packed: str) -> bytes:
    return gzip.decompress(base64.b64decode(packed))


def locked_version() -> str:
    lock = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))
    return str(lock["packages"]["node_modules/highs"]["version"])


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
