"""The probability of one claim about one release, in the words of a front door: exact, or estimated with an interval."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.attack.estimate import Effort, estimate
from genverify.attack.generate import generate_block
from genverify.attack.posterior import Counted, count_release
from genverify.attack.settings import DATASETS
from genverify.core.claims import Claim, claim_arrays, parse_claim
from genverify.core.csvfile import Expected, naming_unreadable, need_columns, open_csv
from genverify.core.domain import Domain
from genverify.core.errors import DataError
from genverify.core.release import Release
from genverify.core.tablefile import read_frame
from genverify.solve.counting.diagram import BUDGET, Budget, TooManyStates
from genverify.solve.counting.prior import Prior, uniform
from genverify.solve.program import build_program
from genverify.solve.settings import DEFAULT, ProgramSettings

WEIGHT = "weight"


@dataclass(frozen=True)
class Probability:
    """
    P(exactly m records match | release, prior), `exact` or estimated between `low` and `high` (95 %). Where it is exact,
    `counts` holds P(COUNT = 0), P(COUNT = 1), ... and `datasets` how many datasets fit; 1 then stands for certain only.
    """

    claim: Claim
    prior: str
    value: float
    low: float
    high: float
    exact: bool
    counts: tuple[float, ...] = ()
    datasets: int | None = None

    def __str__(self) -> str:
        if self.exact:
            return f"{_percent(self.value)} (exact, prior: {self.prior})"
        return f"{_percent(self.value)} (estimated, {_percent(self.low)} to {_percent(self.high)}, prior: {self.prior})"


def _percent(value: float) -> str:
    """
    A probability to read; what is not certain is never printed as 100 % or 0 %.

    >>> _percent(1.0), _percent(0.9999999), _percent(0.5)
    ('100 %', 'over 99.99 %', '50.00 %')
    """
    if value in (0, 1):
        return f"{100 * value:.0f} %"
    if value > 0.9999:
        return "over 99.99 %"
    return "under 0.01 %" if value < 0.0001 else f"{100 * value:.2f} %"


def probability(
    release: Release,
    claim: Claim | str,
    prior: Prior | pd.DataFrame | None = None,
    floor: float = 0.0,
    budget: Budget = BUDGET,
    settings: ProgramSettings = DEFAULT,
    seed: int = 1,
) -> Probability:
    """
    How likely a claim is given a release: a claim or a text such as `TEN=3,HHSIZE=1,m=1`.

    `prior` is None (every record of the domain equally likely), a Prior, or a table with a column per column of the release,
    in codes, and `weight`; `floor` is then the weight of records that are not in the table.
    """
    domain = release.schema.domain
    asked = parse_claim(claim, domain) if isinstance(claim, str) else claim
    known = _prior(prior, domain, floor)
    program = build_program(release, settings.max_types)
    try:
        return _exact(count_release(program, budget), known, asked)
    except TooManyStates:
        starts = generate_block(release, settings, DATASETS, seed).records
        found = estimate(program, known, starts, Effort(), seed)
        value, low, high = (float(side[0]) for side in found.probabilities(*claim_arrays([asked])))
        return Probability(asked, known.name, value, low, high, exact=False)


def _exact(counted: Counted, prior: Prior, claim: Claim) -> Probability:
    codes, _ = claim_arrays([claim])
    counts = counted.posterior(prior).distribution(codes, counted.program.n)[0][:-1]
    value = float(counts[claim.m]) if claim.m < len(counts) else 0.0
    return Probability(claim, prior.name, value, value, value, True, tuple(counts.tolist()), counted.datasets)


def _prior(prior: Prior | pd.DataFrame | None, domain: Domain, floor: float) -> Prior:
    if prior is None:
        return uniform(domain)
    return prior if isinstance(prior, Prior) else prior_of(prior, domain, "a table of weights", floor)


def prior_of(table: pd.DataFrame, domain: Domain, name: str, floor: float = 0.0) -> Prior:
    """A prior from a table of records in codes, each with its weight; a duplicated record has both weights."""
    need_columns(f"prior {name}", map(str, table.columns), (*domain.names, WEIGHT))
    try:
        codes, weights = table[list(domain.names)].to_numpy(dtype=np.int16), table[WEIGHT].to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"prior {name}: codes are whole numbers and weights numbers ({error})") from None
    rows, place = np.unique(codes, axis=0, return_inverse=True)
    summed = np.bincount(place.ravel(), weights, minlength=len(rows)).astype(np.float64)
    return Prior(name, domain, rows, summed, floor)


def read_prior(path: Path, domain: Domain, floor: float) -> Prior:
    """A prior from a CSV or Parquet file."""
    expected = Expected("a table of weights", f"give the columns {', '.join(domain.names)} and {WEIGHT}")
    with naming_unreadable(path, expected):
        table = read_frame(path) if path.suffix == ".parquet" else open_csv(path, expected).frame(texts=[])
    return prior_of(table, domain, str(path), floor)
