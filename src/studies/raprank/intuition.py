"""
Section C, "some theoretical intuition": equations 3 and 4 on tiny domains, where every dataset can be listed.

If two reconstructions are drawn from the posterior, a row is in both as often (equation 4) as it is in the private dataset
and in one reconstruction (equation 3). Beside it, what RAP does on such domains: how often its runs hold a row, against the
exact posterior probability of the row.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement, product

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import multinomial

from genverify.attack.probability import count_release
from genverify.model.arrays import Floats
from genverify.model.release import Release, Schema, make_release, make_schema
from genverify.model.work import derive_seed
from genverify.solve.counting.prior import Prior, uniform
from genverify.solve.program import build_program
from studies.raprank.areas import count_holders, make_target
from studies.raprank.rank import rank_target
from studies.raprank.settings import Intuition, RapSettings

Codes = npt.NDArray[np.int16]
EQUATIONS, FREQUENCY = "equations 3 and 4", "frequency"
MAX_TYPES = 10_000  # bounds memory: the releases here have few


def _tiny_schema(sizes: Sequence[int], tables: Sequence[Sequence[int]]) -> Schema:
    """Columns A, B, ... of the given numbers of codes, and tables that cross some of them."""
    columns = {chr(65 + index): [str(code) for code in range(size)] for index, size in enumerate(sizes)}
    names = list(columns)
    return make_schema(columns, {"x".join(names[c] for c in crossed): [names[c] for c in crossed] for crossed in tables})


def _every_row(schema: Schema) -> Codes:
    return np.array(list(product(*(column.codes for column in schema.domain.columns))), dtype=np.int16)


def equations(schema: Schema, n: int, prior: Prior) -> pd.DataFrame:
    """For every row, the chance of equation 3 (D from the prior, D' from the exact posterior) and that of equation 4."""
    records = _every_row(schema)
    chance = _chances(prior, records)
    answers: Mapping[bytes, list[tuple[float, tuple[int, ...]]]] = defaultdict(list)
    for held in combinations_with_replacement(range(len(records)), n):
        weight = float(multinomial.pmf(np.bincount(held, minlength=len(records)), n, chance))
        answers[_release(schema, records[list(held)]).lo.tobytes()].append((weight, held))
    both, twice = np.zeros(len(records)), np.zeros(len(records))
    for datasets in answers.values():
        release = _release(schema, records[list(datasets[0][1])])
        there = count_release(build_program(release, MAX_TYPES)).posterior(prior).present(records)
        twice += sum(weight for weight, _ in datasets) * there**2
        for weight, held in datasets:
            for row in set(held):
                both[row] += weight * there[row]
    return pd.DataFrame({"part": EQUATIONS, "x": twice, "y": both})


def _chances(prior: Prior, records: Codes) -> Floats:
    table = {tuple(row): weight for row, weight in zip(prior.records.tolist(), prior.weights.tolist(), strict=True)}
    weights = np.array([prior.floor + table.get(tuple(row), 0.0) for row in records.tolist()])
    return np.asarray(weights / weights.sum())


def _release(schema: Schema, records: Codes) -> Release:
    named = dict(zip(schema.domain.names, records.T, strict=True))
    counts = {query.id: int(query.predicate.matches(named).sum()) for query in schema.queries}
    return make_release(schema, "tiny", {"N": len(records), **counts})


def skewed(schema: Schema, seed: int) -> Prior:
    """A prior under which some records are far likelier than others."""
    records = _every_row(schema)
    weights = np.random.default_rng(seed).exponential(size=len(records)) + 0.05
    return Prior("skewed", schema.domain, records, weights, 0.0)


def frequencies(schema: Schema, n: int, number: int, runs: int, seed: int, settings: RapSettings) -> pd.DataFrame:
    """For datasets of the uniform prior: the posterior probability of every row, and the share of RAP's runs with it."""
    records = _every_row(schema)
    rng, frames = np.random.default_rng(derive_seed(seed, "tiny")), []
    for index in range(number):
        release = _release(schema, records[rng.integers(0, len(records), n)])
        result = count_release(build_program(release, MAX_TYPES)).posterior(uniform(schema.domain))
        _, done = rank_target(make_target([release]), ("tiny", str(index)), runs, seed, settings)
        share = count_holders(records.astype(np.int64), done.datasets) / runs
        frames.append(pd.DataFrame({"part": FREQUENCY, "x": result.present(records), "y": share}))
    return pd.concat(frames, ignore_index=True)


def intuition(settings: Intuition, rap: RapSettings, seed: int) -> pd.DataFrame:
    small, large = (_tiny_schema(domain.sizes, domain.tables) for domain in (settings.equations, settings.frequency))
    same = equations(small, settings.equations.records, skewed(small, derive_seed(seed, "skewed")))
    often = frequencies(large, settings.frequency.records, settings.datasets, settings.runs, seed, rap)
    return pd.concat([same, often], ignore_index=True)
