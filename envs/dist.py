"""
Build what is published: wheel, source distribution and offline page into dist/, checked; `make dist` runs this.

The version is that of pyproject.toml: other files that state it must agree. Wheel and source distribution are built by
flit_core, twice, and must be the same bytes. The wheel must hold the library and nothing else, and answer in an empty
environment of every Python 3.11 to 3.13 that is on the path or that pyenv has; which are absent is said (--no-install leaves
this out; it needs an index of packages).
"""

import argparse
import email
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
EPOCH = "1577836800"  # the date of every file in the archives (2020-01-01), so that the same sources give the same bytes
STATED = {  # where else the version stands
    "CITATION.cff": r"^version: (\S+)$",
    "codemeta.json": r'^  "version": "([^"]+)"',
    ".zenodo.json": r'^  "version": "([^"]+)"',
    "r/DESCRIPTION": r"^Version: (\S+)$",
    "CHANGELOG.md": r"^## (\d\S*)",
}
TABLE = "clinic,women,men,Total\nNorth,*,4,7\nSouth,5,*,9\nTotal,8,8,16\n"
TRY = "import sys; from genverify.cli import main; sys.exit(main(sys.argv[1:]))"
PYTHONS = ("3.11", "3.12", "3.13")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--no-install", action="store_true", help="do not try the wheel in an empty environment")
    options = parser.parse_args()
    version = stated_version(ROOT)
    shutil.rmtree(options.out, ignore_errors=True)
    wheel, sdist = build(ROOT, options.out)
    with tempfile.TemporaryDirectory() as again:
        for one, other in zip((wheel, sdist), build(ROOT, Path(again)), strict=True):
            if one.read_bytes() != other.read_bytes():
                raise SystemExit(f"{one.name}: built twice, and not the same bytes")
    check_wheel(wheel, ROOT)
    check_sdist(sdist, ROOT)
    subprocess.run([sys.executable, str(ROOT / "page/build.py"), "--check"], check=True)
    page = options.out / f"genverify-{version}.html"
    shutil.copyfile(ROOT / "src/genverify/disclosure/page.html", page)
    files = [wheel, sdist, page]
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (options.out / "SHA256SUMS").write_text(sums)
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)], check=True)
    for number in () if options.no_install else PYTHONS:
        if python := interpreter(number):
            install(python, wheel)
            print(f"Python {number}: installed in an empty environment, and answers", flush=True)
        else:
            print(f"Python {number}: absent, so the wheel was not tried with it", flush=True)
    print(
        "".join(f"{path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}\n" for path in files), end=""
    )
    return 0


def stated_version(root: Path) -> str:
    """The version of pyproject.toml; an error where another file says otherwise."""
    version = str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
    for name, pattern in STATED.items():
        found = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        if not found or found[1] != version:
            raise SystemExit(f"{name}: states version {found[1] if found else 'none'}, pyproject.toml {version}; correct it")
    return version


def build(root: Path, out: Path) -> tuple[Path, Path]:
    """Wheel and source distribution, by the build backend alone, in a process with a fixed date."""
    out.mkdir(parents=True, exist_ok=True)
    code = "import sys\nfrom flit_core.buildapi import *\nprint(build_wheel(sys.argv[1]), build_sdist(sys.argv[1]))"
    made = subprocess.run(
        [sys.executable, "-c", code, str(out.resolve())], cwd=root, check=True, capture_output=True, text=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH},
    )  # fmt: skip
    wheel, sdist = made.stdout.split()
    return out / wheel, out / sdist


def library_files(root: Path) -> set[str]:
    """The files of the library, as a wheel names them."""
    home = root / "src"
    paths = (path for path in (home / "genverify").rglob("*") if path.is_file())
    return {path.relative_to(home).as_posix() for path in paths if "__pycache__" not in path.parts and path.suffix != ".pyc"}


def problems(held: set[str], wanted: set[str]) -> Iterator[str]:
    yield from (f"{name} is missing" for name in sorted(wanted - held))
    yield from (f"{name} does not belong there" for name in sorted(held - wanted))


def check_wheel(path: Path, root: Path) -> None:
    """The wheel holds the library, its licence and its metadata, and nothing else; what it says of itself is complete."""
    with ZipFile(path) as packed:
        held = {name for name in packed.namelist() if ".dist-info/" not in name}
        info = next(name.partition("/")[0] for name in packed.namelist() if ".dist-info/" in name)
        about = email.message_from_bytes(packed.read(f"{info}/METADATA"))
        entry = packed.read(f"{info}/entry_points.txt").decode()
    wrong = list(problems(held, library_files(root)))
    wrong += [f"its metadata lack {name}" for name in ("Name", "Version", "Summary", "Requires-Python") if not about[name]]
    if about["Version"] != stated_version(root) or about["Description-Content-Type"] != "text/markdown":
        wrong.append("its metadata have another version, or no README in Markdown")
    if not str(about.get_payload()).strip() or "genverify=genverify.cli:main" not in entry.replace(" ", ""):
        wrong.append("its README is empty, or the command is missing")
    if wrong:
        raise SystemExit(f"{path.name}: " + "; ".join(wrong))


def check_sdist(path: Path, root: Path) -> None:
    """The source distribution holds what builds the same wheel."""
    with tarfile.open(path) as packed:
        held = {name.partition("/")[2] for name in packed.getnames() if "/" in name}
    wanted = {f"src/{name}" for name in library_files(root)} | {"pyproject.toml", "README.md", "LICENSE", "PKG-INFO"}
    if wrong := list(problems(held, wanted)):
        raise SystemExit(f"{path.name}: " + "; ".join(wrong))


def interpreter(number: str) -> str | None:
    """A Python of this number, on the path or among pyenv's; a name on the path may lead to none."""
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for python in (f"python{number}", *map(str, sorted(home.glob(f"{number}.*/bin/python")))):
        asked = [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        found = subprocess.run(asked, capture_output=True, text=True) if shutil.which(python) else None
        if found and found.stdout.strip() == number:
            return python
    return None


def install(python: str, wheel: Path) -> None:
    """Install the wheel with what it needs in an empty environment, and ask it about a table in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        subprocess.run([python, "-m", "venv", str(home / "env")], check=True)
        own = str(home / "env" / ("Scripts" if os.name == "nt" else "bin") / "python")
        subprocess.run([own, "-m", "pip", "install", "--quiet", str(wheel.resolve())], check=True)
        (home / "table.csv").write_text(TABLE)
        words = ["disclose", "table.csv", "--symbol", "*=suppressed", "--fail-on", "exact"]
        done = subprocess.run([own, "-c", TRY, *words], cwd=home, capture_output=True, text=True)
        if done.returncode != 1 or "2 of your 2 suppressed cells are known exactly." not in done.stdout:
            raise SystemExit(f"{python}: the installed wheel does not answer: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
