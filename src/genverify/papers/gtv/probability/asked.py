"""Which claims are asked about: candidates, claims that draws make likely, and some claims of one generated dataset."""

import numpy as np
import numpy.typing as npt

from genverify.core.arrays import row_weights, weighted_keys
from genverify.core.claims import ANY, Codes, candidate_claims, column_subsets

Ints = npt.NDArray[np.int64]
CANDIDATE, SAMPLED = "candidate", "sampled"


def likely_singletons(datasets: Codes, min_k: int, least: float) -> Codes:
    """The claims with m = 1 that hold in at least this share of the datasets (K, N, columns), a row of codes each."""
    K, N, width = datasets.shape
    records = datasets.reshape(K * N, width).astype(np.int64)
    weights = row_weights(records.max(axis=0) + 1)
    found = [np.zeros((0, width), dtype=np.int16)]
    for columns in column_subsets(width, min_k):
        chosen = list(columns)
        keys = weighted_keys(records[:, chosen], None if weights is None else weights[chosen]).reshape(K, N)
        order = np.argsort(keys, axis=1)
        ranked = np.take_along_axis(keys, order, axis=1)
        apart = ranked[:, 1:] != ranked[:, :-1]
        edge = np.ones((K, 1), dtype=bool)
        single = np.concatenate([edge, apart], axis=1) & np.concatenate([apart, edge], axis=1)
        _, first, times = np.unique(ranked[single], return_index=True, return_counts=True)
        places = (np.arange(K)[:, None] * N + order)[single][first[times >= least * K]]
        codes = np.full((len(places), width), ANY, dtype=np.int16)
        codes[:, chosen] = records[places][:, chosen]
        found.append(codes)
    return np.concatenate(found)


def sampled_claims(dataset: Codes, min_k: int, number: int, rng: np.random.Generator) -> tuple[Codes, Ints]:
    """Some of the claims that are true of a dataset, drawn at random."""
    codes, m = candidate_claims(dataset[None], min_k)
    chosen = np.sort(rng.choice(len(m), min(number, len(m)), replace=False))
    return codes[chosen], m[chosen]


def joined(parts: dict[str, tuple[Codes, Ints]]) -> tuple[Codes, Ints, dict[str, npt.NDArray[np.bool_]]]:
    """The claims of all sources, each once, and which source each comes from."""
    every = np.concatenate([np.column_stack([codes, m]) for codes, m in parts.values()]).astype(np.int64)
    distinct, place = np.unique(every, axis=0, return_inverse=True)
    ends = np.cumsum([len(m) for _, m in parts.values()])
    sources = {}
    for name, rows in zip(parts, np.split(place.ravel(), ends[:-1]), strict=True):
        sources[name] = np.isin(np.arange(len(distinct)), rows)
    return distinct[:, :-1].astype(np.int16), distinct[:, -1], sources
