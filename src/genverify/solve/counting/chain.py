"""
A Markov chain on the datasets that fit, for programs that are too large to count: a few records at a time are drawn again,
exactly, given the others.

Every step leaves the posterior as it is (Gibbs). Whether every dataset is reached from every other is not proved: exchanges
of few records may not connect them. A chain whose step draws all records again is irreducible; it is then plain sampling.
"""

from dataclasses import dataclass

import numpy as np

from genverify.core.arraytypes import Floats, Ints
from genverify.solve.counting.diagram import Budget, TooManyStates, draw_diagram
from genverify.solve.counting.draw import draw_vectors
from genverify.solve.counting.passes import forward
from genverify.solve.counting.weights import prior_weights
from genverify.solve.program import Program

SMALL = Budget(states=20_000, moves=400_000, seconds=30.0)


@dataclass(frozen=True)
class _Rest:
    """The same rows for some records and some classes."""

    A: Ints
    lo: Ints
    hi: Ints
    n: int

    def fits(self, z: Ints) -> bool:
        counts = self.A @ z
        return bool((counts >= self.lo).all() and (counts <= self.hi).all())


def redraw(program: Program, mass: Floats, z: Ints, records: int, rng: np.random.Generator) -> Ints:
    """Class counts of which some records are drawn again, given the others; fewer where counting them is too much."""
    placed = np.repeat(np.arange(len(z)), z)
    while True:
        chosen = rng.choice(placed, min(records, len(placed)), replace=False)
        kept = z - np.bincount(chosen, minlength=len(z))
        counts = program.A.astype(np.int64) @ kept
        lo, hi = np.maximum(program.lo - counts, 0), program.hi - counts
        useful = np.flatnonzero((hi[:, None] >= program.A).all(axis=0) & (mass > 0))
        rest = _Rest(program.A[:, useful].astype(np.int64), lo, hi, len(chosen))
        try:
            diagram = draw_diagram(rest, SMALL, smallest=False)
        except TooManyStates:
            records = records - 1
            continue
        weights = prior_weights(diagram, mass[useful], len(chosen))
        drawn = draw_vectors(diagram, weights, forward(diagram, weights), 1, rng)[0]
        fresh = kept.copy()
        fresh[useful] += drawn
        return fresh


def run_chain(
    program: Program, mass: Floats, start: Ints, records: int, draws: int, between: int, rng: np.random.Generator
) -> list[Ints]:
    """Class counts after every `between` steps of a chain, the first of its draws left out as long as half of them."""
    z, found = start, []
    for step in range(draws + draws // 2):
        for _ in range(between):
            z = redraw(program, mass, z, records, rng)
        if step >= draws // 2:
            found.append(z)
    return found
