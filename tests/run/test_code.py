"""Code as input: a script depends on the definitions that it can reach, in whichever file they stand."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from genverify.attack.generate import generate_block
from genverify.run import code
from genverify.run.code import code_digest, code_parts, cut, find_script, forget_code, keep_digests
from script_jobs import undigested

KIT = {
    "kit/__init__.py": '"""A package."""\n',
    "kit/a.py": "from kit.b import thing\nimport os\ndef f():\n    thing + LIMIT\ndef g():\n    return os\nLIMIT = 3\n",
    "kit/b.py": "thing = 1\nother = 2\n",
    "kit/shared/__init__.py": "from kit.b import thing as shown\n",
    "kit/shared/deep.py": "from kit.a import f\n\n\nclass Base:\n    def m(self):\n        return f()\n",
    "kit/shared/below.py": "from kit.shared.deep import Base\n\n\nclass Child(Base):\n    x = 1\n",
    "kit/effect.py": "import os\n\nos.environ.setdefault('A', '1')\nTABLE = {}\n\n\ndef unused():\n    return 1\n",
    "kit/table.py": "from kit.effect import TABLE\n\n\ndef register(f):\n    TABLE[f.__name__] = f\n    return f\n",
    "kit/made.py": "from kit.table import register\n@register\ndef one(): two()\ndef two(): ...\ndef three(): ...\n",
    "other/__init__.py": "",
    "other/study.py": "from kit.a import g\n\n\ndef h():\n    return g()\n",
}


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Write a script, and files besides those of two packages in `src`; what was known of them is forgotten."""
    monkeypatch.setattr(code, "SRC", tmp_path / "src")
    monkeypatch.chdir(tmp_path)

    def write(script: str, files: Mapping[str, str] = {}) -> Path:
        for name, text in {**({} if (tmp_path / "src").exists() else KIT), **files}.items():
            path = tmp_path / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        path = tmp_path / "script.py"
        path.write_text(script)
        forget_code()
        return path

    yield write
    forget_code()


def reached(script: Path) -> set[str]:
    """What a script reaches outside itself, as `module:name`, `module:*` for a file that counts whole."""
    found = set()
    for file, numbers in code.reached(str(script)).items():
        if file != str(script):
            module = os.path.relpath(file, code.SRC).removesuffix(".py").replace(os.sep, ".").replace(".__init__", "")
            if numbers is None:
                found.add(f"{module}:*")
            for number in numbers or ():
                pieces, bound = code._source(file).pieces, {**code._source(file).names}
                for name, (of, *_) in [*bound.items()]:
                    bound |= {f"{name}.{method}": numbers for method, numbers in pieces[of].methods.items()}
                found.add(f"{module}:{','.join(name for name in bound if number in bound[name]) or pieces[number].start}")
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("import numpy\nimport kitten\n", ""),
        ("import kit\n", ""),
        ("import kit.a\n", ""),  # nothing of it is named, and importing it has no effect
        ("from kit.a import f\nf()\n", "kit.a:f kit.a:LIMIT kit.b:thing"),
        ("from kit.a import f as other\nother()\n", "kit.a:f kit.a:LIMIT kit.b:thing"),
        ("from kit.a import LIMIT\nprint(LIMIT)\n", "kit.a:LIMIT"),
        ("import kit.a\nkit.a.g()\n", "kit.a:g"),
        ("import kit.a as short\nshort.g()\n", "kit.a:g"),
        ("from kit import a\na.g()\n", "kit.a:g"),
        ("from kit import a\ndef main():\n    return a.g\n", "kit.a:g"),
        ("def main():\n    from kit.a import g\n    return g()\n", "kit.a:g"),
        ("def main():\n    import kit.a\n    return kit.a.LIMIT\n", "kit.a:LIMIT"),
        ("from kit.shared import shown\nprint(shown)\n", "kit.b:thing"),
        ("import kit.shared\nprint(kit.shared.shown)\n", "kit.b:thing"),
        ("from other.study import h\nh()\n", "other.study:h kit.a:g"),
        ("from kit.shared.below import Child\nChild()\n", "kit.shared.below:Child kit.shared.deep:Base"),
        ("from kit.shared.below import Child\nChild().m()\n",
         "kit.shared.below:Child kit.shared.deep:Base kit.shared.deep:Base.m kit.a:f kit.a:LIMIT kit.b:thing"),
        ("from kit.a import f\ndef main(x: f): ...\n", "kit.a:f kit.a:LIMIT kit.b:thing"),
        ("from kit.a import LIMIT\ndef main(x: 'LIMIT | None', y='g'): ...\n", "kit.a:LIMIT"),
        ("from kit.a import LIMIT\ndef main(x=LIMIT): ...\n", "kit.a:LIMIT"),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from kit.a import f\ndef main(x: 'f'): ...\n", ""),
        ("import kit.effect\n", "kit.effect:3"),  # importing it runs a statement
        ("def main():\n    import kit.effect\n", "kit.effect:3"),
        ("import kit.made\n", "kit.made:one kit.made:two kit.table:register kit.effect:TABLE kit.effect:3"),
        # what cannot be told
        ("from kit import b\nprint(getattr(b, 'th' + 'ing'))\n", "kit.b:*"),
        ("from kit import shared\nprint(vars(shared))\n",
         "kit.shared:* kit.shared.deep:* kit.shared.below:* kit.a:f kit.a:LIMIT kit.b:thing"),
        ("from kit.b import *\n", "kit.b:*"),
        ("from kit import b\nprint(b.unknown)\n", "kit.b:*"),
        ("from importlib import import_module\nimport_module('kit.b').thing\n", "kit.b:*"),
        ("import importlib\nnames = ['kit.b']\nfor name in names:\n    importlib.import_module(name)\n", "kit.b:*"),
        ("ADD = 'kit.b:thing'\n", "kit.b:thing"),
        ("name = 'kit.b.thing'\n", "kit.b:thing"),
        ("import importlib\ndef main(x):\n    importlib.import_module(f'other.{x}')\n",
         "other.study:* kit.a:g"),
        ("import importlib\ndef main(x):\n    importlib.import_module(f'kit.{x}.deep')\n",
         "kit.shared.deep:* kit.a:f kit.a:LIMIT kit.b:thing"),
        ("import importlib\ndef main(x):\n    importlib.import_module(f'{x}.study')\n",
         "other.study:* other:* kit:* kit.a:* kit.b:* kit.effect:* kit.made:* kit.table:* kit.shared:* kit.shared.deep:* "
         "kit.shared.below:*"),
        ("def main(load, x):\n    load(f'other.st{x}')\n", "other.study:* kit.a:g"),
    ],
)  # fmt: skip
def test_definitions_are_followed_through_the_packages(write: Callable[..., Path], text: str, expected: str) -> None:
    assert reached(write(text)) == set(expected.split())


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("X = 1\ndef f():\n    return X\n", "f X"),
        ("X = dict(a=1)\nY = [X]\ndef f():\n    return 2\n", "f"),
        ("X, Y = 1, 2\ndef f():\n    return Y\n", "f X,Y"),
        ("X: int = 1\ndef f():\n    return X\n", "f X"),
        ("X = print('a call may do anything')\ndef f(): ...\n", "f X"),
        ("def make(): ...\nX = make()\ndef f(): ...\n", "f X make"),
        ("X = {}\nX['a'] = 1\ndef f(): ...\n", "f X 2"),
        ("X = []\nX += [1]\ndef f(): ...\n", "f X"),
        ("X = []\nX.append(1)\ndef f(): ...\n", "f X 2"),
        ("try:\n    import json as j\nexcept ImportError:\n    j = None\ndef f(): ...\n", "f j"),
        ("if True:\n    def g(): ...\nelse:\n    g = None\ndef f(): ...\n", "f g"),
        ("for i in range(3):\n    print(i)\ndef f(): ...\n", "f i"),
        ("with open('a') as a: ...\ndef f(): ...\n", "f a"),
        ("from functools import cache\n@cache\ndef f(): ...\n@cache\ndef g(): ...\n", "f"),
        ("def own(f): return f\n@own\ndef g(): ...\ndef f(): ...\n", "f g own"),
        ("import atexit\n@atexit.register\ndef g(): ...\ndef f(): ...\n", "f g"),
        ("def own(): ...\ndef g(x=own()): ...\ndef f(): ...\n", "f g own"),
        ("class A:\n    def m(self): return g()\ndef g(): ...\ndef f(): return A.m\n", "f A A.m g"),
        ("class A:\n    x = print('runs with the import')\ndef f(): ...\n", "f A"),
        ("from dataclasses import dataclass\n@dataclass(frozen=True)\nclass A:\n    x: int\ndef f(): ...\n", "f"),
        ("def f():\n    return TABLE['g']()\ndef g(): ...\ndef h(): ...\nTABLE = {'g': g}\n", "f TABLE g"),
        ("def f():\n    global X\n    X = 1\nX = 0\ndef g(): ...\n", "f X"),
        ("def f():\n    return globals()['g']()\ndef g(): ...\n", "*"),
        ("def f():\n    return eval('g()')\ndef g(): ...\n", "*"),
        ("def f():\n    return vars()\ndef g(): ...\n", "*"),
        ("def f(x):\n    return vars(x)\ndef g(): ...\n", "f"),
        ("class A: ...\nclass B(A): ...\ndef f():\n    return A.__subclasses__()\n", "*"),
        ("class A:\n    def __init_subclass__(cls): ...\nclass B(A): ...\ndef f(): return A\n", "*"),
        ("def g():\n    'words'\ndef f():\n    return g.__doc__\n", "*"),
        ("import sys\ndef f():\n    return sys.modules\ndef g(): ...\n", "*"),
        ("import sys\ndef f():\n    return sys.modules[__name__]\ndef g(): ...\n", "*"),
        ("import sys\ndef f():\n    return sys.modules[__name__], sys.modules\ndef g(): ...\n", "*"),
        ("import sys\nclass A(type(sys)): ...\nsys.modules[__name__].__class__ = A\ndef f(): ...\n", "*"),
        ("def f(:\n", "*"),
    ],
)
def test_what_is_reached_within_a_module(write: Callable[..., Path], module: str, expected: str) -> None:
    found = reached(write("from kit.one import f\nf()\n", {"kit/one.py": module})) - {"kit:*"}
    assert found == {f"kit.one:{name}" for name in expected.split()}


DATA = "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int\n"
TWO = "    def m(self): return g()\n    def n(self): return 1\ndef g(): ...\n"


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (f"class A:\n{TWO}def f(): return A()\n", "f A"),
        (f"class A:\n{TWO}def f(a): return a.n()\n", "f"),  # nothing makes one
        (f"class A:\n{TWO}def f(a): return A().n()\n", "f A A.n"),
        (f"class A:\n{TWO}def f(a): return A, getattr(a, 'm')()\n", "f A A.m g"),
        (f"class A:\n{TWO}def f(a, name): return A, NAMES, getattr(a, name)()\nNAMES = ['n']\n", "f A A.n NAMES"),
        (f"class A:\n{TWO}def f(a, x): return A, getattr(a, 'm' + x)()\n", "f A A.m A.n g"),
        (f"class A:\n{TWO}def f(a): return A, '{{0.m}}'.format(a)\n", "f A A.m g"),
        (f"class A:\n{TWO}def f(a):\n    match a:\n        case A(m=1): ...\n", "f A A.m g"),
        (f"from operator import attrgetter\nclass A:\n{TWO}def f(a): return A, attrgetter('b.m')\n", "f A A.m g"),
        (f"class A:\n    k = g\n{TWO}def f(a): return A().k\n".replace("k = g", "k = lambda a: a.n()"), "f A A.n"),
        (f"class A:\n    def __init__(self): self.m()\n{TWO}def f(): return A()\n", "f A A.m g"),
        (f"class A:\n{TWO}class B(A):\n    def m(self): return 2\ndef f(a): return B().m()\n", "f A A.m B B.m g"),
        # what others call without naming it here
        (f"from logging import Handler\nclass A(Handler):\n{TWO}def f(): return A()\n", "f A g"),
        (f"from logging import Handler\nclass B(Handler): ...\nclass A(B):\n{TWO}def f(): return A()\n", "f A A.m A.n B g"),
        (f"import x\nB = x.make()\nclass A(B):\n{TWO}def f(): return A()\n", "f A A.m A.n B g"),
        (f"class A(metaclass=type):\n{TWO}def f(): return A()\n", "f A g"),
        (f"import x\nclass A:\n    @x.called\n    def k(self): return h()\n{TWO}def h(): ...\ndef f(): A\n", "f A g h"),
        (f"def own(f): ...\nclass A:\n    @own\n    def k(self): ...\n{TWO}def f(): ...\n", "f A g own"),
        # values, which count where they are used
        (f"{DATA}X = A(1)\nY = [A(2)]\ndef f(): return Y\n", "f Y A"),
        (f"{DATA}    y: list = dataclasses.field(default_factory=list)\nX = A(1)\ndef f(): ...\n", "f"),
        (f"def g(): ...\n{DATA}    y: list = dataclasses.field(default_factory=g)\nX = A(1)\ndef f(): ...\n", "f X A g"),
        (f"{DATA}    def __post_init__(self): g()\ndef g(): ...\nX = A(1)\ndef f(): ...\n", "f X A g"),
        (f"{DATA}    @classmethod\n    def of(cls): ...\nX = A.of()\ndef f(): ...\n", "f X A A.of"),
        (f"{DATA}def g(): ...\nX = A(g())\ndef f(): ...\n", "f X A g"),
        ("class A:\n    def __new__(cls): g()\ndef g(): ...\nclass B(A): ...\nX = B()\ndef f(): ...\n", "f X A B g"),
    ],
)  # fmt: skip
def test_methods_count_where_their_names_are_used(write: Callable[..., Path], module: str, expected: str) -> None:
    script = write("from kit.one import f\nf()\n", {"kit/one.py": module})
    assert reached(script) == {f"kit.one:{name}" for name in expected.split()}


def test_a_template_may_ask_for_a_method(write: Callable[..., Path]) -> None:
    files = {
        "kit/x.html.j2": "{{ a.m() }}",
        "kit/one.py": "class A:\n    def m(self): ...\n    def n(self): ...\ndef f(): return A(), 'x.html.j2'\n",
    }
    assert reached(write("from kit.one import f\nf()\n", files)) >= {"kit.one:f", "kit.one:A", "kit.one:A.m"}
    assert "kit.one:A.n" not in reached(write("from kit.one import f\nf()\n"))


def test_a_method_is_no_part_of_its_class(write: Callable[..., Path]) -> None:
    """An edit of a method runs again what asks for it; one of another method does not."""
    text = "class A:\n    x = 1\n    def m(self):\n        return 1\n    def n(self):\n        return 2\n"
    script = "from kit.one import A\nA().n()\n"
    edits = [("", ""), ("return 1", "return 5"), ("return 2", "return 5"), ("x = 1", "x = 5")]
    first, m, n, x = (code_digest(write(script, {"kit/one.py": text.replace(*edit)})) for edit in edits)
    assert first == m
    assert len({first, n, x}) == 3


def test_a_name_seen_from_a_package_is_followed(write: Callable[..., Path]) -> None:
    """As studies register their functions."""
    assert reached(write("from other.entry import X\nX\n", {"other/entry.py": "X = '.study:h'\n"})) == {
        "other.entry:X", "other.study:h", "kit.a:g"}  # fmt: skip


LAZY = """
from importlib import import_module
_DOOR = {"thing": "b", "f": "a"}
_DOOR["more"] = "b"


def __getattr__(name):
    return getattr(import_module(f"{__name__}.{_DOOR[name]}"), "other" if name == "more" else name)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import kit.b\n", "kit:_DOOR kit:4"),
        ("import kit\nkit.thing\n", "kit:* kit.a:* kit.b:* other.study:*"),  # a module of any name
        ("from kit import more\nmore()\n", "kit:* kit.a:* kit.b:* other.study:*"),
    ],
)
def test_names_of_a_package_that_are_looked_up_when_asked_for(write: Callable[..., Path], text: str, expected: str) -> None:
    found = reached(write(text, {"kit/__init__.py": LAZY}))
    assert found >= {*expected.split()}
    assert ("kit.a:*" in found) == ("kit.a:*" in expected)


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("def f():\n    return 1\n", "# why\n\n\ndef f():  # so\n\n    # and so\n    return 1\n", True),
        ("def f():\n    return 1\n", 'def f():\n    """Says what."""\n    return 1\n', True),
        ('class A:\n    """Says."""\n\n    x = 1\ndef f(): return A\n', 'class A:\n    x = 1\ndef f(): return A\n', True),
        ("def f():\n    return 1\n", "def f():\n    return 2\n", False),
        ("def f():\n    return '#1'\n", "def f():\n    return '#2'\n", False),
        ("def f():\n    return '''a\n\n# b'''\n", "def f():\n    return '''a\n# b'''\n", False),
        ("def f():\n    return f'{1}#\"' # x\n", "def f():\n    return f'{1}#\"'\n", True),
        ("def f():\n    return 1\n", "def f():\n    return 1\n\n\ndef g():\n    return 2\n", True),
        ("import os as x\ndef f():\n    return x\n", "import sys as x\ndef f():\n    return x\n", False),
        ("from kit.b import thing as x\ndef f(): x\n", "from kit.b import other as x\ndef f(): x\n", False),
        ("import os\ndef f(): os\n", "import os\nimport sys\ndef f(): os\ndef g(): sys\n", True),
        ("def f():\n    return 1\n", "import os\ndef f():\n    return 1\n", False),  # imported for its effect
        ("def f():\n    if 1:\n        a\n    b\n", "def f():\n    if 1:\n        a\n        b\n", False),
    ],
)  # fmt: skip
def test_what_counts_of_a_definition(write: Callable[..., Path], before: str, after: str, same: bool) -> None:
    first, second = (code_digest(write("from kit.one import f\nf()\n", {"kit/one.py": text})) for text in (before, after))
    assert (first == second) == same


def test_a_digest_is_that_of_every_version_of_python() -> None:
    """Records hold digests, and are audited with another Python than the one that wrote them."""
    text = "import a.b as c\nX = f'{c:>{3}}' # x\ndef f(x: 'X' = 1, /, *y, **z):\n  'é'; return f'{X!r}#', '''\n#a'''\n"
    assert [piece.digest[:12] for piece in cut(text.encode(), "", frozenset()).pieces] == ["199ee17b8bcb", "6443b373c9d0"]


def test_relative_imports_are_followed(write: Callable[..., Path]) -> None:
    files = {"kit/shared/rel.py": "from ..b import thing\nfrom . import deep\n\n\ndef f():\n    return thing, deep.Base\n"}
    found = reached(write("from kit.shared.rel import f\nf()\n", files))
    assert found == {"kit.shared.rel:f", "kit.b:thing", "kit.shared.deep:Base"}


def test_a_template_counts_where_it_is_named(write: Callable[..., Path]) -> None:
    files = {
        "kit/page/x.css": "a",
        "kit/page/y.html.j2": "b",
        "kit/page/show.py": "def f():\n    return 'page/x.css'\n\n\ndef g():\n    return 'y.html.j2'\n",
    }
    assert list(code_parts(write("from kit.page.show import f\nf()\n", files)))[1:] == [
        "src/kit/page/show.py",
        "src/kit/page/x.css",
    ]
    assert "src/kit/page/y.html.j2" in code_parts(write("from kit.page.show import g\ng()\n"))


def test_a_package_beside_others_is_followed_alone(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the library is installed, what lies beside it are libraries of others."""
    script = write("from kit.a import g\ng()\n")
    shutil.move(code.SRC, code.SRC.with_name("installed"))
    monkeypatch.setattr(code, "SRC", code.SRC.with_name("installed"))
    forget_code()
    assert reached(script) == set()


def keep(script: Path) -> str:
    """The digest as a new process finds it, and keeps it."""
    forget_code()
    folder = script.parent / "scripts"
    folder.mkdir(exist_ok=True)
    shutil.copy(script, folder / "script.py")
    keep_digests(folder)
    return code_digest(folder / "script.py")


def test_what_is_known_is_kept_and_follows_every_change(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    script = write("from kit.a import f\nf()\n")
    kept, plain = code.SRC.parent / code.STORE, code_digest(script)
    first = keep(script)
    written = kept.read_bytes()
    cuts: list[bytes] = []
    monkeypatch.setattr(code, "cut", lambda content, *more: cuts.append(content) or cut(content, *more))
    assert keep(script) == first
    assert cuts == []
    assert kept.read_bytes() == written
    write(script.read_text(), {"kit/b.py": "thing = 5\n"})
    assert keep(script) != first
    assert cuts == [b"thing = 5\n"]  # the others are known by their content
    write(script.read_text(), {"kit/b.py": KIT["kit/b.py"]})
    assert keep(script) == first
    assert code_digest(script) == plain


@pytest.mark.parametrize("spoil", [lambda _: b"", lambda _: b"\xff\n\n", lambda text: text[: len(text) // 2],
                                   lambda text: text.replace(b"kit", b"tik", 1)])  # fmt: skip
def test_what_was_kept_is_not_used_if_it_is_damaged(write: Callable[..., Path], spoil: Callable[[bytes], bytes]) -> None:
    script = write("from kit.a import f\nf()\n")
    first, kept = keep(script), code.SRC.parent / code.STORE
    kept.write_bytes(spoil(kept.read_bytes()))
    assert keep(script) == first


def test_a_folder_that_cannot_be_written_is_left_alone(write: Callable[..., Path]) -> None:
    script = write("from kit.a import f\nf()\n")
    (script.parent / ".snakemake").write_text("no folder")
    assert keep(script) == keep(script)
    assert (script.parent / ".snakemake").read_text() == "no folder"


def test_two_processes_may_keep_at_once(root: Path, tmp_path: Path) -> None:
    """Each writes a file of its own and puts it in place whole."""
    words = "import sys; from pathlib import Path; from genverify.run import code; code.SRC = Path('src').resolve(); "
    words += "code.keep_digests(Path('scripts').resolve()); code.forget_code(); code.keep_digests(Path('scripts').resolve())"
    for name, text in KIT.items():
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).write_text(text)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "script.py").write_text("from kit.a import f\nf()\n")
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    both = [subprocess.Popen([sys.executable, "-c", words], cwd=tmp_path, env=environment) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert [path.name for path in (tmp_path / ".snakemake").iterdir()] == [code.STORE.name]
    assert json.loads((tmp_path / code.STORE).read_bytes().split(b"\n")[2])


def test_the_scripts_of_the_workflow(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    forget_code()
    files = list(code_parts(root / "scripts" / "gtv" / "tabulate_release.py"))
    assert files[0] == "scripts/gtv/tabulate_release.py"
    assert all(name.startswith("src/") for name in files[1:])
    own = ("studies/country/store.py", "genverify/model/release.py", "genverify/model/domain.py")
    assert {f"src/{name}" for name in own} <= set(files)
    assert not any("solvers" in name or "figures" in name for name in files)


def test_templates_that_a_module_names_are_followed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    files = list(code_parts(find_script(root / "scripts", "show_table")))
    named = ["document.html.j2", "layout.html.j2", "style.css", "table.html.j2"]
    assert [Path(name).name for name in files if not name.endswith(".py")] == named


def test_every_file_of_the_explorer_page_is_followed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    found = {name for name in code_parts(find_script(root / "scripts", "build_explorer")) if "/explorer/page/" in name}
    assert found == {str(path) for path in Path(next(iter(found))).parent.iterdir()}
    assert {Path(name).suffix for name in found} == {".html", ".css", ".js"}


def test_files_elsewhere_keep_their_whole_path(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = find_script(root / "scripts", "write_table3")
    assert str(script) in code_parts(script)


def test_a_function_that_a_digest_leaves_out_is_seen(root: Path) -> None:
    """The test of the scripts can fail: what one of them runs is not what another one may run."""
    forget_code()
    generate, plot = (find_script(root / "scripts", name) for name in ("generate_datasets", "plot_verified"))
    assert undigested(generate, [generate_block.__code__]) == []
    assert [name.split()[-1] for name in undigested(plot, [generate_block.__code__])] == ["generate_block"]
