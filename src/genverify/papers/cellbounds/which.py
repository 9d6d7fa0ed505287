"""Why a row has its bounds: which results of the paper give its least and greatest multiplier, and what discloses it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genverify.papers.cellbounds.conditional import Conditionals
from genverify.papers.cellbounds.exact import Prior, prior_limits, row_multipliers
from genverify.papers.cellbounds.knapsack import FREE, Multipliers
from genverify.papers.cellbounds.propositions import (
    Facts,
    corollary_3_5,
    corollary_3_9,
    proposition_3_1,
    proposition_3_2b,
    proposition_3_2c,
    proposition_3_2d,
    theorem_3_4,
)

KNAPSACK = "(6)-(8)"
LAST_ROW = "all other rows are disclosed"
EMPTY_ROW = "empty row"


@dataclass(frozen=True)
class Explained:
    """A row's multipliers and what gives them; `disclosed_by` is empty where the row is not disclosed."""

    row: str
    r: int
    multipliers: Multipliers
    least_by: tuple[str, ...]
    greatest_by: tuple[str, ...]
    disclosed_by: tuple[str, ...]


def explain_rows(table: Conditionals, N: int, priors: Sequence[Prior] = ()) -> list[Explained]:
    """
    Every row with the results that apply to it. With prior bounds the results (which know of none) are not used: the
    knapsack with those bounds decides, or one known cell alone (Proposition 3.2 (a)).
    """
    found = row_multipliers(table, N, priors)
    filled = {row: place for place, row in enumerate(np.flatnonzero(table.sums).tolist())}
    reasons = _Reasons(table.sums[list(filled)].tolist(), table.remainder(N), [found[row] for row in filled])
    limited = any(limits != FREE for limits in prior_limits(table, priors))
    known = {prior.row for prior in priors if len(prior.columns) == 1 and prior.lower == prior.upper}
    explained = []
    for row, label in enumerate(table.rows):
        if row not in filled:
            by: tuple[tuple[str, ...], ...] = ((EMPTY_ROW,),) * 3
        elif limited:
            by = _with_priors(found[row], label in known)
        else:
            by = reasons.of(filled[row])
        explained.append(Explained(label, int(table.sums[row]), found[row], *by))
    return explained


def _with_priors(found: Multipliers, known: bool) -> tuple[tuple[str, ...], ...]:
    by = ("3.2 (a)",) if known else (f"{KNAPSACK} with prior bounds",)
    return by, by, by if found.unique else ()


class _Reasons:
    """The results that apply to the rows of one table."""

    def __init__(self, r: Sequence[int], remainder: int, found: Sequence[Multipliers]) -> None:
        self.found, self.remainder = found, remainder
        self.simple = proposition_3_1(r, remainder)
        self.parts = {
            "3.2 (b)": proposition_3_2b(r, remainder),
            "3.2 (c)": proposition_3_2c(r, remainder),
            "3.2 (d)": proposition_3_2d(r, remainder),
        }
        self.divided = theorem_3_4(r, {i: row.greatest for i, row in enumerate(found)})
        self.ones: Facts = corollary_3_5(r, remainder)
        self.summed = corollary_3_9(r)
        self.open = [i for i, row in enumerate(found) if row.greatest > 0]

    def of(self, i: int) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        return self.least(i), self.greatest(i), self.disclosed(i)

    def least(self, i: int) -> tuple[str, ...]:
        named = {"3.1": self.simple.lower, "3.4": self.divided.lower, "3.5": self.ones.lower}
        by = tuple(name for name, rows in named.items() if i in rows)
        return by or (("3.9",) if i in self.summed else ("3.7",))

    def greatest(self, i: int) -> tuple[str, ...]:
        by = tuple(name for name, rows in self.parts.items() if i in rows)[:1]
        for name, facts in (("3.1", self.simple), ("3.4", self.divided), ("3.5", self.ones)):
            if i in facts.upper and (not by or name == "3.5"):
                by += (name,)
        return by or ("3.6",)

    def disclosed(self, i: int) -> tuple[str, ...]:
        if not self.found[i].unique:
            return ()
        if self.remainder == 0:
            return ("3.3",)
        if self.found[i].greatest == 0:
            return self.greatest(i)
        return (LAST_ROW,) if self.open == [i] else (KNAPSACK,)
