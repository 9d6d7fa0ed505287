"""The head that every certificate has: its version, what it is about, and the model of its statements."""

from dataclasses import dataclass
from typing import Any

VERSION = 1  # of the form; another one is refused with the command that makes the certificates anew
RECORDS, LINEAR, AREAS, HOUSING = "records", "linear", "areas", "housing"
# what a certificate of each model is about
KIND_OF = {RECORDS: "release", LINEAR: "system", AREAS: "areas", HOUSING: "statistics"}
EXACTLY, NEVER, AT_LEAST, AT_MOST, NOTHING = "exactly", "never", "at least", "at most", "nothing fits"
GOALS = (EXACTLY, NEVER, AT_LEAST, AT_MOST, NOTHING)
"""What a statement about records shows of COUNT(where) and m; the last one: that no dataset fits."""


def new_certificate(model: str, name: str, digest: str, **parts: Any) -> dict[str, Any]:
    """A certificate about what has this name and this digest, without a statement yet."""
    about = {"kind": KIND_OF[model], "name": name, "digest": digest}
    return {"version": VERSION, "about": about, "model": model, **parts, "statements": []}


@dataclass(frozen=True)
class ExhaustedTotal:
    """Disjoint published cells inside a universe whose counts add up to its total: no other record of it exists."""

    universe: str
    cells: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"universe": self.universe, "cells": list(self.cells)}
