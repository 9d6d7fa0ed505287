"""Which claims are asked about: candidates, claims that draws make likely, and some claims of one generated dataset."""

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Ints
from genverify.core.claims import Codes, candidate_claims

CANDIDATE, SAMPLED = "candidate", "sampled"


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
