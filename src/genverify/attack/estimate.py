"""Probabilities where counting is too much: draws of Markov chains, with an interval on every number."""

from dataclasses import dataclass

import numpy as np

from genverify.core.arraytypes import Floats, Ints
from genverify.core.claims import Codes, matches
from genverify.core.errors import GenverifyError
from genverify.solve.counting.chain import run_chain
from genverify.solve.counting.prior import Prior, lay_on
from genverify.solve.datasets import class_vectors
from genverify.solve.program import Program

SURE = 1.96


@dataclass(frozen=True)
class Effort:
    """Chains, each from its own dataset; draws of each, records that a step draws again, steps between two draws."""

    chains: int = 8
    draws: int = 40
    records: int = 6
    between: int = 3


@dataclass(frozen=True)
class Estimated:
    """Datasets drawn by chains: shape (chains, draws, N, columns). Not independent: chains are compared."""

    records: Codes

    def probabilities(self, codes: Codes, m: Ints) -> tuple[Floats, Floats, Floats]:
        """The share of draws in which each claim holds, and an interval (95 %) around it."""
        chains, draws = self.records.shape[:2]
        flat = self.records.reshape(chains * draws, *self.records.shape[2:])
        held = np.array([matches(codes, dataset).sum(axis=1) == m for dataset in flat]).reshape(chains, draws, len(m))
        return interval(held.mean(axis=1), draws)


def interval(means: Floats, draws: int) -> tuple[Floats, Floats, Floats]:
    """
    The mean over chains with a Wilson interval at the number of independent draws that the spread of the chains speaks for:
    that of the claim itself or of all claims together, whichever is smaller, since few chains can agree by chance; at least
    one per chain, at most all. Chains that agree on 0 or 1 do not make it certain.
    """
    chains, mean = len(means), means.mean(axis=0)
    spread = means.var(axis=0, ddof=1) / chains if chains > 1 else np.full(len(mean), np.inf)
    binomial = mean * (1 - mean)
    own = np.divide(binomial, spread, out=np.zeros_like(mean), where=spread > 0)
    together = binomial.sum() / spread.sum() if spread.sum() > 0 else 0.0
    n = np.clip(np.minimum(own, together), chains, chains * draws)
    centre = (mean + SURE**2 / (2 * n)) / (1 + SURE**2 / n)
    half = SURE * np.sqrt(binomial / n + SURE**2 / (4 * n**2)) / (1 + SURE**2 / n)
    return mean, np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def estimate(program: Program, prior: Prior, starts: Codes, effort: Effort, seed: int) -> Estimated:
    """Chains from datasets that fit (generated ones, shape (K, N, columns)), spread over those given."""
    masses, rng = lay_on(prior, program), np.random.default_rng(seed)
    known = [z for z in class_vectors(program, starts) if (masses.of_classes[z > 0] > 0).all()]
    if not known:
        raise GenverifyError(
            f"block {program.release.block}: prior {prior.name} gives weight 0 to a record of every known dataset; "
            "give every record that can exist some weight (a floor)"
        )
    places = np.linspace(0, len(known) - 1, effort.chains).round().astype(int)
    chains = []
    for place in places.tolist():
        found = run_chain(program, masses.of_classes, known[place], effort.records, effort.draws, effort.between, rng)
        chains.append([masses.draw(z, rng) for z in found])
    return Estimated(np.array(chains))
