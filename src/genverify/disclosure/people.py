"""Whom the claims single out: counted in the records where they are given, else the fewest people that there must be."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.attack.truth import match_claims
from genverify.core.claims import ANY, matches

Codes = npt.NDArray[np.int16]


def count_people(claims: pd.DataFrame, records: pd.DataFrame | None, names: Sequence[str]) -> pd.DataFrame:
    """Singleton claims and the people that they single out, by the number of columns k and by effective k."""
    singles = claims[claims["m"] == 1]
    rows = []
    for grouping in ("k", "effective_k"):
        for columns in range(1, len(names) + 1):
            chosen = singles[singles[grouping] == columns]
            rows.append((grouping, columns, len(chosen), singled_out(chosen, records, names)))
    return pd.DataFrame(rows, columns=["grouping", "columns", "claims", "people"])


def singled_out(claims: pd.DataFrame, records: pd.DataFrame | None, names: Sequence[str]) -> int:
    """The number of people that singleton claims point to: exact with records, else those that are surely different."""
    if not len(claims):
        return 0
    if records is not None:
        return int(sum(found.flags.any(axis=0).sum() for found in match_claims(claims, records)))
    total = 0
    for _, rows in claims.groupby("block", sort=False):
        total += _surely_different(rows[list(names)].fillna(ANY).to_numpy(dtype=np.int16))
    return total


def _surely_different(codes: Codes) -> int:
    """
    Claims of which every two differ in a column that both name, greedily, the longest first: nobody meets two of them.

    >>> _surely_different(np.array([[1, -1], [1, 2], [2, -1]], dtype=np.int16))
    2
    """
    chosen = np.zeros((0, codes.shape[1]), dtype=np.int16)
    for row in codes[np.argsort(-(codes != ANY).sum(axis=1), kind="stable")]:
        if ((chosen != row) & (chosen != ANY) & (row != ANY)).any(axis=1).all():
            chosen = np.vstack([chosen, row])
    return len(chosen)


def longest(claims: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The claims that no other claim of the same area extends: the most that is claimed of each person."""
    kept = []
    for _, rows in claims.groupby("block", sort=False):
        codes = rows[list(names)].fillna(ANY).to_numpy(dtype=np.int16)
        inside = matches(codes, codes)
        np.fill_diagonal(inside, False)
        kept += rows.index[np.flatnonzero(~inside.any(axis=1))].tolist()
    return claims.loc[kept]
