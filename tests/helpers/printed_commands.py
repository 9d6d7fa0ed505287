"""The commands that documents, help texts and messages print: collected, so that a test can try every one of them."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PROGRAMS = ("genverify", "snakemake", "make", "pip", "python")
FIRST = re.compile(rf"(?:\$ |[\w./-]*/)?(?:{'|'.join(PROGRAMS)})(?= )|make$|snakemake$")
# within a message a command begins after a quote or a colon or a bracket, and ends before the next
INSIDE = re.compile(
    r"genverify (?=[a-z])|snakemake (?=-|[\w{}./]+(?:/|\.csv|\.pdf)|[a-z_]+(?=[`'\")]|$| -))"
    r"|pip install (?=[\".]|genverify)|make (?=[a-z]+[`)])"
)
ANY = re.compile(r"(?:genverify|snakemake|pip install|make) ")  # a file without these words is not parsed
NO_COMMANDS = ("genverify as gv", "genverify genverify")  # an import, and a line of shell that completes the word


class Printed(NamedTuple):
    """A command, where it is printed, and whether on a line of its own, to be typed as it is."""

    where: str
    text: str
    whole: bool = False

    @property
    def words(self) -> list[str]:
        """Its words, without what the shell does with them (`&&`, `>`) and where its program lies."""
        words = shlex.split(self.text, comments=True)
        ends = [place for place, word in enumerate(words) if word in ("&&", "||", ">", "|")]
        return [words[0].rpartition("/")[2], *words[1 : min(ends, default=len(words))]]


def printed() -> list[Printed]:
    """All commands, each once and with its strictest reading."""
    found = sorted([*of_documents(), *of_settings(), *of_messages()], key=lambda one: not one.whole)
    return list({one.text: one for one in reversed(found)}.values())


def of_documents() -> Iterator[Printed]:
    """Lines of code, and code within sentences."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("config/**/*.md"), *ROOT.glob("profiles/*.md")]
    for page in sorted(pages):
        text = page.read_text().replace("\\\n", " ")
        where = str(page.relative_to(ROOT))
        for line in text.splitlines():
            if line.startswith("    ") and FIRST.match(line.strip()):
                yield Printed(where, line.strip().removeprefix("$ "), True)
        flat = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
        for code in re.findall(r"`([^`]+)`", flat):
            if FIRST.match(code):
                yield Printed(where, " ".join(code.split()))


def of_settings() -> Iterator[Printed]:
    """Comments in files of settings, profiles and releases."""
    globs = ("config*.yaml", "config/**/*.yaml", "profiles/**/*.yaml", "examples/**/*.yaml")
    for path in sorted(path for pattern in globs for path in ROOT.glob(pattern)):
        for line in path.read_text().splitlines():
            said = line.partition("#")[2].strip()
            for part in (
                [said] if FIRST.match(said) else re.findall(r"`([^`]+)`|: ((?:genverify|snakemake|python) .*)$", said)
            ):
                text = part if isinstance(part, str) else part[0] or part[1]
                if FIRST.match(text):
                    yield Printed(str(path.relative_to(ROOT)), text.partition(" (")[0])


def of_messages() -> Iterator[Printed]:
    """Texts in the code: messages, help, examples in a description."""
    paths = [*ROOT.glob("src/**/*.py"), *ROOT.glob("scripts/**/*.py")]
    for path in sorted(paths):
        source = path.read_text()
        for text in texts_of(ast.parse(source)) if ANY.search(source) else ():
            for line in text.splitlines():
                for found in INSIDE.finditer(line):
                    before, text = line[: found.start()], line[found.start() :]
                    if not text.startswith(NO_COMMANDS):
                        yield Printed(str(path.relative_to(ROOT)), _end(text, before), not before.strip() and "  " in before)


def texts_of(tree: ast.AST) -> Iterator[str]:
    """The texts of a module, `{}` where a value stands."""
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def _end(text: str, before: str) -> str:
    """A command without the sentence that it stands in."""
    if before.endswith("`"):
        return text.partition("`")[0]
    if not before.strip():
        return text.partition("  ")[0].strip()
    return re.split(r"[`();,]|\. |: | {2,}|\.$| and | or ", text)[0].strip()
