"""
What differential privacy protects (appendix D), on a toy population in exact fractions.

Person i of the latent population is in the database with probability pi_i and then has record a with probability f_i(a),
everybody apart from the others (D-13). The pairs of hypotheses (D-14) are, for every person and record, s: the person is in
the database with this record; s': the person is not in it. A mechanism with privacy loss epsilon changes the odds of no pair
by more than the factor exp(epsilon), whatever pi and f are. Where people do not come into the database apart from each
other, it may: then (D-13) does not hold, and that is checked as well.

D-13 prints parameters of N people, the size of the database; they are of the N* people of the population.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import log, prod
from typing import Any

import pandas as pd

from studies.mechanisms.randomized_response import PrivacyError
from studies.mechanisms.settings import Semantics

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
