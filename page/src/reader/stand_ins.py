"""
What the library's linking needs of numpy and pydantic, in plain Python: the page holds neither, they are too large.

Arrays here are lists of whole numbers of any size with the few operations that `genverify.model.linear` and
`genverify.protect.publishing` use to write a system down; nothing is solved with them. Settings are filled in by this page
and are not checked again. A test compares the digests of the systems that result with those of the library.
"""

import sys
from collections.abc import Callable, Iterable
from itertools import accumulate
from types import ModuleType
from typing import Any

# packages, and modules of the library, that are not in the page: of them, only the names below are used
REPLACED = ("numpy", "pydantic", "genverify.model.arrays", "genverify.model.release", "genverify.model.tablefiles",
            "genverify.disclosure.release_form")  # fmt: skip


class Array:
    """A list of numbers that are added, compared and chosen one by one; `T` are the columns of one of pairs."""

    def __init__(self, values: Iterable[Any]) -> None:
        self.values = list(values)

    def tolist(self) -> list[Any]:
        return [own.tolist() if isinstance(own, Array) else own for own in self.values]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, Array):
            return Array(own for own, kept in zip(self.values, at.values, strict=True) if kept)
        return self.values[at]

    def any(self) -> bool:
        return any(self.values)

    def all(self) -> bool:
        return all(self.values)

    def astype(self, kind: object) -> "Array":
        return self

    def reshape(self, rows: int, width: int) -> "Array":
        return self

    @property
    def T(self) -> tuple["Array", "Array"]:
        return Array(own[0] for own in self.values), Array(own[1] for own in self.values)


def _each(how: Callable[..., Any]) -> Callable[..., Any]:
    """A function of numbers as one of arrays; a number stands for an array of it."""

    def work(*given: Any) -> Any:
        size = next((len(own) for own in given if isinstance(own, Array)), None)
        if size is None:
            return how(*given)
        lists = [own.values if isinstance(own, Array) else [own] * size for own in given]
        return Array(how(*own) for own in zip(*lists, strict=True))

    return work


OPERATORS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "mod": lambda a, b: a % b,
    "floordiv": lambda a, b: a // b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "and": lambda a, b: a and b,
    "or": lambda a, b: a or b, "neg": lambda a: -a, "invert": lambda a: not a,
}  # fmt: skip
for _name, _how in OPERATORS.items():
    setattr(Array, f"__{_name}__", _each(_how))
for _name in ("add", "mul", "and", "or"):
    setattr(Array, f"__r{_name}__", _each(OPERATORS[_name]))


class Model:
    """Settings by name; what is not given has its default."""

    def __init__(self, **given: Any) -> None:
        for kind in reversed(type(self).__mro__):
            for name, own in vars(kind).items():
                if not name.startswith("_") and not callable(own) and not isinstance(own, (property, classmethod)):
                    setattr(self, name, own.make() if isinstance(own, Default) else own)
        for name, own in given.items():
            setattr(self, name, own)


class Default:
    """The default of a setting."""

    def __init__(self, default: Any = None, default_factory: Callable[[], Any] | None = None, **limits: Any) -> None:
        self.make = default_factory or (lambda: default)


def _module(name: str, **own: Any) -> None:
    found = ModuleType(name)
    vars(found).update(own)
    sys.modules[name] = found


def begin() -> None:
    """Let the library find these in place of the packages and of what it does not need here."""
    random = ModuleType("random")
    vars(random).update(Generator=object)
    _module("numpy", array=lambda own, dtype=None: Array(own), asarray=lambda own: own, int64=int, float64=float,
            where=_each(lambda test, one, other: one if test else other), maximum=_each(max), minimum=_each(min),
            cumsum=lambda own: Array(accumulate(own)), ones=lambda size, dtype=int: Array([dtype(1)] * size),
            abs=_each(abs), random=random, inf=float("inf"))  # fmt: skip
    _module("pydantic", BaseModel=Model, ConfigDict=dict, Field=Default, BeforeValidator=lambda how: how,
            ValidationError=type("ValidationError", (ValueError,), {}), create_model=None,
            SerializerFunctionWrapHandler=None, model_serializer=lambda mode: lambda own: own)  # fmt: skip
    _module("genverify.model.arrays", Flags=Array, Floats=Array, Ints=Array)
    _module("genverify.model.release", Release=object, refuse_sums=None)
    _module("genverify.model.tablefiles", neutral=None, decoded=_decoded)
    _module("genverify.disclosure.release_form", Text=str, as_list=lambda own: own)


def _decoded(data: bytes, path: object) -> tuple[str, str]:
    from genverify.model.files import decode

    found: tuple[str, str] = decode(data)
    return found
