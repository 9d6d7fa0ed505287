"""
The utility of published data (appendix E): what noise costs a person whose wealth depends on the answers.

W = Pi^T M(x, Q) is a person's wealth, with M = Q x + Q (Delta A) A+ e and e Laplace of scale 1/epsilon. For a strictly
concave U, two terms of Taylor's series in e (E-15 to E-18) give, since E[e] = 0,
E[U(W)] = E_x[U(w0)] + 1/2 E_x[U''(w0)] (Delta A)^2 sigma^2 |Pi^T Q A+|^2 with w0 = Pi^T Q x (E-26), and with I of E-27
a line: v(I) = a + b I, a = E_x[U(w0)], b = -1/2 E_x[U''(w0)] |Pi^T Q A+|^2 / |Q A+|^2 (E-28).

E-23, E-25, E-26 and E-28 print A where A+ is meant: Q A is not even defined unless A is square.

The strategy here is A = Q (workload): Q A+ = Q Q+ is the projection on the answers that data can give.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from itertools import product
from math import log, prod
from typing import Any, Literal

import numpy as np
import pandas as pd

from genverify.model.arrays import Floats
from genverify.model.query import Query
from studies.mechanisms.matrix_mechanism import Workload, noise_variance, query_sensitivity, workload_projection
from studies.mechanisms.randomized_response import PrivacyError
from studies.mechanisms.settings import Semantics

Kind = Literal["quadratic", "cara"]
AT_ONCE = 2000  # bounds memory: draws times people


@dataclass(frozen=True)
class Utility(ABC):
    """A utility of wealth with its second derivative; how strongly it bends."""

    curvature: float

    def __post_init__(self) -> None:
        if not self.curvature > 0:
            raise PrivacyError(
                f"utility {type(self).__name__.lower()} with curvature {self.curvature} is not strictly concave: noise "
                "would cost nothing or be welcome, and (E-26) does not hold. Give a curvature above 0."
            )

    @abstractmethod
    def value(self, wealth: Floats) -> Floats:
        """U(w)."""

    @abstractmethod
    def bend(self, wealth: Floats) -> Floats:
        """U''(w), below 0."""

    @abstractmethod
    def exact(self, wealth: Floats, scales: Floats) -> float:
        """E[U(w + noise)] over the given wealths, the noise a sum of independent Laplace variables of these scales."""


class Quadratic(Utility):
    """U(w) = w - c w^2 / 2: nothing is left out of Taylor's series, so that (E-26) is exact."""

    def value(self, wealth: Floats) -> Floats:
        return wealth - self.curvature * wealth**2 / 2

    def bend(self, wealth: Floats) -> Floats:
        return np.full(np.shape(wealth), -self.curvature)

    def exact(self, wealth: Floats, scales: Floats) -> float:
        return float(self.value(wealth).mean() - self.curvature * float((scales**2).sum()))


class Cara(Utility):
    """
    U(w) = (1 - exp(-c w)) / c, constant absolute risk aversion: (E-26) is an approximation.

    E[exp(-c s L)] of a standard Laplace L is 1 / (1 - c^2 s^2), and infinite from c s = 1 on.
    """

    def value(self, wealth: Floats) -> Floats:
        values: Floats = -np.expm1(-self.curvature * wealth) / self.curvature
        return values

    def bend(self, wealth: Floats) -> Floats:
        bends: Floats = -self.curvature * np.exp(-self.curvature * wealth)
        return bends

    def exact(self, wealth: Floats, scales: Floats) -> float:
        squares = (self.curvature * scales) ** 2
        if squares.max(initial=0.0) >= 1:
            return -np.inf
        growth = float(np.exp(-np.log1p(-squares).sum()))
        return float((1 - np.exp(-self.curvature * wealth).mean() * growth) / self.curvature)


UTILITIES: Mapping[Kind, type[Utility]] = {"quadratic": Quadratic, "cara": Cara}


@dataclass(frozen=True)
class Person:
    """
    What a person's wealth takes from the data: Pi, a weight per query; the wealths w0 over the blocks; Pi^T Q A+.

    `noise`: the weight that each noisy answer gets in the person's wealth, times Delta A.
    """

    name: str
    wealths: Floats
    noise: Floats
    share: float


def weights(queries: Sequence[Query], tables: Sequence[str], value: float) -> Floats:
    """Pi of somebody who goes by the mean count of some tables: `value` over the number of their queries, for each."""
    chosen = np.array([any(fnmatchcase(query.table, pattern) for pattern in tables) for query in queries])
    if not chosen.any():
        raise PrivacyError(f"no table of the release is called {', '.join(tables)}: see privacy.utility.persons")
    stake: Floats = value * chosen / chosen.sum()
    return stake


def persons(
    workload: Workload, queries: Sequence[Query], answers: Floats, tables: Mapping[str, Sequence[str]], value: float
) -> tuple[list[Person], float]:
    """Everybody's stake in the workload, `answers` a row of counts per block; and (Delta A)^2 |Q A+|^2."""
    projection = workload_projection(workload)
    delta = query_sensitivity(workload.domain, workload.queries).l1
    whole = float((projection**2).sum())
    result = []
    for name, table in tables.items():
        stake = weights(queries, table, value)
        through = stake @ projection
        result.append(Person(name, answers @ stake, delta * through, float(through @ through) / whole))
    return result, delta**2 * whole


def line(person: Person, utility: Utility) -> tuple[float, float]:
    """a and b of v(I) = a + b I (E-28)."""
    return float(utility.value(person.wealths).mean()), -0.5 * float(utility.bend(person.wealths).mean()) * person.share


def approximate(person: Person, utility: Utility, epsilon: float) -> float:
    """E[U(W)] by (E-26)."""
    spread = noise_variance(epsilon) * float(person.noise @ person.noise)
    return float(utility.value(person.wealths).mean() + 0.5 * utility.bend(person.wealths).mean() * spread)


def _drawn_noise(people: Sequence[Person], times: int, rng: np.random.Generator) -> Floats:
    """What standard Laplace noise (epsilon = 1) adds to everybody's wealth: a row per draw, few draws in memory at once."""
    stakes = np.stack([person.noise for person in people], axis=1)
    parts = [rng.laplace(size=(min(AT_ONCE, times - at), len(stakes))) @ stakes for at in range(0, times, AT_ONCE)]
    return np.concatenate(parts)


def compare_utilities(
    people: Sequence[Person], whole: float, utilities: Mapping[str, Utility], epsilons: Sequence[float], times: int,
    rng: np.random.Generator,
) -> pd.DataFrame:  # fmt: skip
    """A row per person, utility and privacy loss: E[U(W)] by formula, by the line, exactly, and simulated."""
    if times < 2:
        raise PrivacyError(f"{times} simulated draws show no spread: simulate two at least")
    noise = _drawn_noise(people, times, rng)
    blocks = rng.integers(0, len(people[0].wealths), times)
    rows: list[dict[str, Any]] = []
    for index, person in enumerate(people):
        for name, utility in utilities.items():
            rows += [
                {"person": person.name, "utility": name, "curvature": utility.curvature, "epsilon": epsilon}
                | _row(person, utility, epsilon, whole, _losses(utility, person.wealths[blocks], noise[:, index] / epsilon))
                for epsilon in epsilons
            ]
    return pd.DataFrame(rows)


def _losses(utility: Utility, wealths: Floats, noise: Floats) -> Floats:
    """What noise costs in each draw, averaged with its mirror image: no first-order term is left, so the mean is sharper."""
    both = utility.value(wealths + noise) + utility.value(wealths - noise)
    return both / 2 - utility.value(wealths)


def _row(person: Person, utility: Utility, epsilon: float, whole: float, losses: Floats) -> dict[str, Any]:
    accuracy = -noise_variance(epsilon) * whole
    a, b = line(person, utility)
    simulated, error = a + float(losses.mean()), float(losses.std(ddof=1) / np.sqrt(len(losses)))
    exact = utility.exact(person.wealths, person.noise / epsilon)
    return {
        "accuracy": accuracy, "a": a, "b": b, "line": a + b * accuracy, "formula": approximate(person, utility, epsilon),
        "exact": exact, "simulated": simulated, "standard_error": error,
        "off_exact": (simulated - exact) / error if error else None, "formula_less_exact": a + b * accuracy - exact,
    }  # fmt: skip


def made(text: Mapping[Kind, float]) -> Iterator[tuple[str, Utility]]:
    """The utilities that settings name, with their curvatures."""
    for name, curvature in text.items():
        yield name, UTILITIES[name](curvature)


# What differential privacy protects (appendix D), on a toy population in exact fractions.


Database = tuple[int | None, ...]
"""The record of each person of the population, or None for one who is not in the database."""

Law = Mapping[Database, Fraction]
BEYOND = 3  # outputs are enumerated so far beyond every count; from there on the odds do not change


@dataclass(frozen=True)
class Population:
    """theta: how likely each person is in the database, and has each record if so."""

    included: tuple[Fraction, ...]
    records: tuple[tuple[Fraction, ...], ...]

    def __post_init__(self) -> None:
        if len(self.included) != len(self.records) or len({len(record) for record in self.records}) != 1:
            raise PrivacyError("a toy population needs, for every person, a probability and one for each record")
        whole = all(sum(record) == 1 and min(record) >= 0 for record in self.records)
        if not whole or not all(0 <= p <= 1 for p in self.included):
            raise PrivacyError("a toy population: the probabilities of a person's records must add up to 1, all from 0 to 1")

    def probability(self, database: Database) -> Fraction:
        """Pr[D | theta] (D-13)."""
        chances = zip(self.included, self.records, database, strict=True)
        return prod((p * f[r] if r is not None else 1 - p for p, f, r in chances), start=Fraction(1))

    def law(self) -> Law:
        """Every database with its probability."""
        kinds = range(len(self.records[0]))
        return {one: self.probability(one) for one in product((None, *kinds), repeat=len(self.included))}


def pairs(law: Law) -> Iterator[tuple[int, int]]:
    """S_pairs (D-14): every person and record; s that the person has it, s' that the person is not in the database."""
    people = len(next(iter(law)))
    kinds = {record for database in law for record in database if record is not None}
    yield from product(range(people), sorted(kinds))


def geometric(alpha: Fraction) -> Callable[[int, int], Fraction]:
    """The probability of an output given a count, with two-sided geometric noise: epsilon = -log alpha, sensitivity 1."""
    return lambda count, output: (1 - alpha) / (1 + alpha) * alpha ** abs(output - count)


def greatest_factor(law: Law, person: int, record: int, noise: Callable[[int, int], Fraction]) -> Fraction | None:
    """The most that a noisy count of the pair's record changes the odds; None where a hypothesis has probability 0."""
    has, out = (_counts(law, person, held, record) for held in (record, None))
    if not has or not out:
        return None
    factors: list[Fraction] = []
    for output in range(-BEYOND, len(next(iter(law))) + BEYOND + 1):
        yes, no = (sum((p * noise(count, output) for count, p in of.items()), Fraction(0)) for of in (has, out))
        factors += [yes / no, no / yes]
    return max(factors)


def _counts(law: Law, person: int, held: int | None, record: int) -> dict[int, Fraction]:
    """How likely each number of people with a record is, given what the database holds of a person; nothing if it cannot."""
    result: dict[int, Fraction] = {}
    for database, chance in law.items():
        if chance and database[person] == held:
            result[database.count(record)] = result.get(database.count(record), Fraction(0)) + chance
    whole = sum(result.values(), Fraction(0))
    return {count: chance / whole for count, chance in result.items()}


def tied(population: Population) -> Law:
    """The same people, but the second always comes with the first and has the same record: (D-13) does not hold."""
    result: dict[Database, Fraction] = {}
    for database, chance in population.law().items():
        together = (database[0], database[0], *database[2:])
        result[together] = result.get(together, Fraction(0)) + chance
    return result


def _read_population(text: Semantics) -> tuple[Population, Fraction]:
    """The population and alpha that settings describe in fractions."""
    try:
        included = tuple(map(Fraction, text.included))
        records = tuple(tuple(map(Fraction, record)) for record in text.records)
        alpha = Fraction(text.alpha)
    except (ValueError, ZeroDivisionError) as error:
        raise PrivacyError(f"privacy.semantics: {error}: write probabilities as fractions, such as '1/3'") from None
    if not 0 < alpha < 1:
        raise PrivacyError(f"privacy.semantics.alpha is {alpha}: exp(-epsilon) lies between 0 and 1")
    return Population(included, records), alpha


def semantics_table(text: Semantics) -> pd.DataFrame:
    """A row per pair of hypotheses and law: the greatest change of its odds beside exp(epsilon), all in fractions."""
    population, alpha = _read_population(text)
    noise = geometric(alpha)
    laws = {"apart (D-13)": population.law()} | ({"tied": tied(population)} if len(population.included) > 1 else {})
    rows: list[dict[str, Any]] = []
    for name, law in laws.items():
        total = sum(law.values())
        for person, record in pairs(law):
            factor = greatest_factor(law, person, record, noise)
            if factor is not None:
                row = {"people": name, "databases": len(law), "probabilities_add_up_to": str(total)}
                pair = {"person": person + 1, "record": record + 1, "greatest_factor": str(factor), "log": log(factor)}
                rows.append({**row, **pair, "epsilon": -log(alpha), "within": factor <= 1 / alpha})
    return pd.DataFrame(rows)
