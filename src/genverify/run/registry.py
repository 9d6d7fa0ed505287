"""Studies register themselves: each says in modules of its folder what it contributes, and is found there."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from genverify.model.errors import ConfigError
from genverify.run.cli.shell import Group
from genverify.run.layout import load

# the package beside the library in `src` whose folders are studies if they hold the module ENTRY. It is looked for there,
# not where Python looks: a folder of this name where a user works, or of another distribution, is none of ours
SRC, HOME, ENTRY = Path(__file__).parents[__name__.count(".")], "studies", "study"
SHARED = "common.smk"
T = TypeVar("T")


@dataclass(frozen=True)
class ProofKind:
    """Proofs that an audit checks again. Functions are named as `module:function`."""

    model: str
    files: tuple[str, ...]  # the inputs and outputs that a job which writes such proofs names
    check: str  # the function that checks one such job
    open: str  # the one that gives its certificates with what they are about
    words: str  # for what was counted as right
    unproved: Mapping[str, str] = field(default_factory=dict)  # words for what was counted and rests on the solver
    explain: str = ""  # puts a proof into words


@dataclass(frozen=True)
class Study:
    """What a study contributes. Code is named as `.module:function`, seen from its folder, and imported when asked for."""

    settings: Mapping[str, str] = field(default_factory=dict)  # closed models of sections, or parts (`benchmark.speed`)
    folders: Sequence[str] = ()  # of results/, which no variant can have for a name
    names: str | None = None  # of the configuration, the names that become part of paths
    settings_check: str | None = None  # of the configuration alone, before anything is read
    files_check: str | None = None  # of the files that it names, too (with what many studies publish, each read once)
    possible: str | None = None  # whether the settings allow a result: (configuration, name of the result)
    private: str | None = None  # raises an error where the data are not for others to see
    left_out: str | None = None  # lines that say which results need a file of the user, where none is named
    pages: Sequence[str] = ()  # of docs/ about it besides docs/NAME.md
    foundation: bool = False  # other studies may use it; it comes first
    package: str = ""
    # Beside this module may stand proofs.py (PROOFS: the kinds of proofs that its rules write, by name) and commands.py
    # (COMMANDS: groups of commands), so that a job that asks for neither does not depend on their code.

    @property
    def name(self) -> str:
        """The name of its folder, here and in workflow/, scripts/ and tests/."""
        return self.package.rpartition(".")[2]

    def absolute(self, name: str) -> str:
        """
        The name seen from everywhere.

        >>> Study(package="studies.cups").absolute(".settings:Cups")
        'studies.cups.settings:Cups'
        """
        return f"{self.package}{name}" if name.startswith(".") else name


def _with_module(module: str) -> list[str]:
    """The names of the studies that have a module; none in the wheel, which holds no study."""
    return sorted(path.parent.name for path in (SRC / HOME).glob(f"*/{module}.py")) if SRC.name == "src" else []


@cache
def studies() -> tuple[Study, ...]:
    """Every study that is here: what others build on first, then in the order of their names."""
    modules = [import_module(f"studies.{name}.study") for name in _with_module(ENTRY)]
    registered = [replace(module.STUDY, package=module.__name__.rpartition(".")[0]) for module in modules]
    return tuple(sorted(registered, key=lambda study: (not study.foundation, study.name)))


def stage_files(stages: Path) -> list[str]:
    """The stage files of the studies that are here, seen from above their folder: of each what its stages share first."""
    folders = [stages / study.name for study in studies()]
    files = [sorted(folder.glob("*.smk"), key=lambda path: (path.name != SHARED, path.name)) for folder in folders]
    return [str(path.relative_to(stages.parent)) for paths in files for path in paths]


def registered(part: str) -> Iterator[Callable[..., Any]]:
    """The functions that studies name for a part of the registration, e.g. `files_check`."""
    return (load(study.absolute(name)) for study in studies() if (name := getattr(study, part)))


def named(part: str) -> dict[str, str]:
    """A mapping of the registration of all studies together, each value seen from everywhere; no key for two."""
    return _joined((key, study.absolute(name)) for study in studies() for key, name in getattr(study, part).items())


def proof_kinds() -> dict[str, ProofKind]:
    """The kinds of proofs of all studies, by their names."""
    modules = [import_module(f"studies.{name}.proofs") for name in _with_module("proofs")]
    return _joined((name, kind) for module in modules for name, kind in module.PROOFS.items())


def _joined(pairs: Iterator[tuple[str, T]]) -> dict[str, T]:
    result: dict[str, T] = {}
    for key, value in pairs:
        if key in result:
            raise ConfigError(f"two studies register {key!r}: give one another name")
        result[key] = value
    return result


def commands() -> list[Group]:
    """The commands of the studies that are here."""
    modules = [import_module(f"studies.{name}.commands") for name in _with_module("commands")]
    return [group for module in modules for group in module.COMMANDS]
