"""Contradictory counts: no dataset fits, and a small set of cells that shows it."""

from genverify.bounds import Bound, Bounder
from genverify.errors import ReleaseError
from genverify.proofs import Leaf
from genverify.release import TOTAL


def no_dataset_fits(bounder: Bounder, found: Bound) -> ReleaseError:
    """The error for a release that no dataset fits, or for which none was found within the limits."""
    release = bounder.program.release
    if found.proof is None:
        return ReleaseError(f"block {release.block}: no dataset that fits the counts was found ({found.limit})")
    known = {TOTAL: release.n, **{q.id: int(c) for q, c in zip(release.queries, release.lo, strict=True)}}
    cells = found.proof.cells if isinstance(found.proof, Leaf) else {}
    named = ", ".join(f"{cell} = {known[cell]}" for cell in cells) or "many cells together"
    return ReleaseError(
        f"block {release.block}: no dataset fits the published counts. With the zero counts, these contradict each other: "
        f"{named}. Check the rows of this block in the release."
    )
