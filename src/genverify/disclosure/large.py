"""The attack on an area of many records, without exchanges of records: their number grows with the square of the classes."""

import numpy as np
import numpy.typing as npt

from genverify.attack.block import Verified, check_verified, collect
from genverify.attack.generate import generate_block
from genverify.attack.verify import Verifier
from genverify.core.claims import as_claims, candidate_claims
from genverify.core.release import Release
from genverify.solve.bounds import Bounder, Limits
from genverify.solve.datasets import class_vectors
from genverify.solve.program import program_of
from genverify.solve.settings import ProgramSettings

Ints = npt.NDArray[np.int64]
NODES = 60  # of one question; what needs more is undecided, and counted as such


class LargeBounder(Bounder):
    """A bounder that looks for better points by linear programs alone; proofs are found as before."""

    def better(self, c: Ints, b: int) -> Ints | None:
        return None


def attack_large(release: Release, settings: ProgramSettings, datasets: int, min_k: int, seed: int) -> Verified:
    """Generate, verify and check."""
    found = generate_block(release, settings.proving("the audit of a release"), datasets, seed).records
    limits = Limits(min(settings.nodes, NODES), settings.leaves, settings.seconds)
    bounder = LargeBounder(program_of(release, settings.max_types), settings.make_solver(), limits)
    bounder.seen.extend(class_vectors(bounder.program, found))
    claims = as_claims(*candidate_claims(found, min_k))
    verified = collect(bounder.program, claims, Verifier(bounder).decide(claims), found[0])
    check_verified(verified)
    return verified
