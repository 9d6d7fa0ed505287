"""
How much a newcomer has to hold: the yardsticks of this repository, measured (`make measure`).

Files opened per question are found by tracing: the source files whose functions run while the question is answered.
Everything else is counted in the source text.
"""

import ast
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, median
from types import FrameType

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
LISTED = (ast.Dict, ast.List, ast.Tuple, ast.Call, ast.Set, ast.ListComp, ast.DictComp)
PACKAGES = ("genverify", "studies")  # the library, and what is not in the wheel


def main() -> None:
    sizes = {package: {path: _lines(path) for path in _modules(package)} for package in PACKAGES}
    for package, lines in sizes.items():
        shape = f"median {median(lines.values()):.0f}, longest {max(lines.values())}"
        print(f"{package}: {len(lines)} files, {sum(lines.values())} non-blank lines, {shape}")
    paths = [path for lines in sizes.values() for path in lines]
    print(f"both: {len(paths)} files, {sum(map(_lines, paths))} non-blank lines")
    tools = sorted((ROOT / "docs").rglob("*.py"))
    print(f"tools of the repository in docs/, in neither: {len(tools)} files, {sum(map(_lines, tools))} non-blank lines")
    names = Counter(path.name for path in sizes["genverify"])
    twice = sorted(name for name, times in names.items() if times > 1)
    print(f"file names used more than once in the library: {len(twice)} {' '.join(twice)}".rstrip())
    print(f"public names: {sum(len(_public(path)) for path in paths)} functions and classes")
    constants, reasons = _constants(paths)
    print(f"numeric constants: {constants}, with a reason beside them: {reasons}")
    print(f"import cycles: {len(_cycles())}")
    print(f"modules that audit imports: {_imported_by_audit()}")
    digested = _digested()
    print(f"lines digested per script: mean {mean(digested):.0f}, median {median(digested):.0f}")
    for question, files in _questions():
        print(f"files opened: {question}: {len(files)} ({', '.join(sorted(files))})")


def _modules(package: str) -> list[Path]:
    return sorted(path for path in (SRC / package).rglob("*.py") if path.name != "__init__.py")


def _lines(path: Path) -> int:
    return sum(1 for line in path.read_text().splitlines() if line.strip())


def _public(path: Path) -> set[str]:
    """Functions and classes at the top of a module whose names do not begin with an underscore."""
    body = ast.parse(path.read_text()).body
    return {n.name for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef) and not n.name.startswith("_")}


def _constants(paths: list[Path]) -> tuple[int, int]:
    """Numbers named at the top of a module, and those with a comment in the line or above it, or a text below."""
    numeric = explained = 0
    for path in paths:
        lines = path.read_text().splitlines()
        body = ast.parse("\n".join(lines)).body
        for node, after in zip(body, [*body[1:], None], strict=True):
            if not isinstance(node, ast.Assign) or isinstance(node.value, LISTED):
                continue
            target, values = node.targets[0], [part for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
            numbers = [part for part in values if type(part.value) in (int, float)]
            if isinstance(target, ast.Name) and target.id.isupper() and numbers:
                numeric += 1
                last, above = lines[(node.end_lineno or node.lineno) - 1], lines[node.lineno - 2]
                below = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                explained += "#" in last or above.lstrip().startswith("#") or below
    return numeric, explained


def _imports(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                yield module if (SRC / (module.replace(".", "/") + ".py")).is_file() else str(node.module)


def _cycles() -> list[list[str]]:
    arrows = {
        ".".join(path.relative_to(SRC).with_suffix("").parts): set(_imports(path)) for p in PACKAGES for path in _modules(p)
    }
    done: set[str] = set()
    cycles: list[list[str]] = []

    def follow(module: str, way: list[str]) -> None:
        if module in way:
            cycles.append(way[way.index(module) :])
        elif module not in done:
            for other in sorted(arrows.get(module, ())):
                follow(other, [*way, module])
            done.add(module)

    for module in sorted(arrows):
        follow(module, [])
    return cycles


def _imported_by_audit() -> int:
    code = (
        "import sys\nfrom genverify.run.provenance import audit\n"
        f"print(sum(name.split('.')[0] in {PACKAGES!r} and hasattr(m, '__file__') for name, m in list(sys.modules.items())))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return int(done.stdout)


def _digested() -> list[int]:
    from genverify.run import code

    def lines(script: Path) -> int:
        total = 0
        for file, numbers in code.reached(str(script)).items():
            text, pieces = Path(file).read_text().splitlines(), code._source(file).pieces if file.endswith(".py") else []
            chosen = pieces if numbers is None else [pieces[number] for number in numbers]
            counted = {line for piece in chosen for line in range(max(piece.start, 1), piece.end + 1)}
            for piece in chosen:  # of a class without the methods that are not reached
                methods = {number for own in piece.methods.values() for number in own} - (numbers or set())
                counted -= {line for n in methods if numbers for line in range(pieces[n].start, pieces[n].end + 1)}
            total += sum(1 for line in counted if text[line - 1].strip())
        return total

    return [lines(script) for script in sorted((ROOT / "scripts").rglob("*.py"))]


def _traced(work: Callable[[], object]) -> set[str]:
    """The source files whose functions run; the bodies of modules and classes do not count."""
    files: set[str] = set()

    def profile(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and str(SRC) in code.co_filename and not code.co_name.startswith("<"):
            files.add(str(Path(code.co_filename).relative_to(SRC)))

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return files


def _questions() -> Iterator[tuple[str, set[str]]]:
    """What a newcomer asks: the README's release attacked and checked, one rule followed to the code, a workbook read."""
    import genverify as gv

    columns = {"sex": ["f", "m"], "age": ["young", "old"], "smokes": ["no", "yes"]}
    schema = gv.make_schema(columns=columns, tables={"sex_age": ["sex", "age"], "smoking": ["age", "smokes"]})
    counts = {"N": 3, "sex_age.f.young": 0, "sex_age.f.old": 1, "sex_age.m.young": 2, "sex_age.m.old": 0}
    release = gv.make_release(
        schema, "block", counts | {"smoking.young.no": 1, "smoking.young.yes": 1, "smoking.old.yes": 1}
    )
    attack = gv.attack_release(release)
    from genverify.attack.verify import Verifier
    from genverify.solve.program_settings import DEFAULT

    # with the program that is built, and every way in which a claim is decided
    yield "how is a claim verified", _traced(lambda: Verifier(DEFAULT.bounder(release)).decide(attack.claims))
    check = gv.check
    yield "how is a proof checked", _traced(lambda: check(release, attack.certificate))
    yield "from a rule to its code", _rule_to_code("verify_claims")
    _read_workbook()  # what is imported now is not traced below: the body of a class would pass for a function
    yield "how is an Excel file read", _traced(_read_workbook)


def _rule_to_code(rule: str) -> set[str]:
    """The Snakefile, the stage file, the script, and the modules of the functions that the script's main calls."""
    stage = next(path for path in (ROOT / "workflow").rglob("*.smk") if re.search(rf"^rule {rule}:", path.read_text(), re.M))
    script = next((ROOT / "scripts").rglob(f"{rule}.py"))
    tree = ast.parse(script.read_text())
    (main,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main")
    calls = {node.func.id for node in ast.walk(main) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in PACKAGES]
    modules = {str(node.module) for node in imports if calls & {alias.name for alias in node.names}}
    called = {module.replace(".", "/") + ".py" for module in modules}
    return {"Snakefile", str(stage.relative_to(ROOT)), str(script.relative_to(ROOT)), *called}


def _read_workbook() -> None:
    from openpyxl import Workbook  # type: ignore[import-untyped]  # it has no types of its own

    from genverify.reading.read_command import read_files
    from genverify.reading.reading import Corrections

    with tempfile.TemporaryDirectory() as folder:
        path, book = Path(folder) / "book.xlsx", Workbook()
        for row in (["", "men", "women", "Total"], ["A", 3, "*", 7], ["B", 4, "*", 9], ["Total", 7, 9, 16]):
            book.active.append(row)
        book.save(path)
        read_files([path], Corrections())


if __name__ == "__main__":
    main()
