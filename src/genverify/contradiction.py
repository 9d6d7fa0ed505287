"""Contradictory counts: no dataset fits, and a small set of cells that shows it."""

from genverify.bounds import Bound, Bounder
from genverify.errors import NoDatasetError
from genverify.explain import contradiction_cells
from genverify.proofs import Leaf


def no_dataset_fits(bounder: Bounder, found: Bound) -> NoDatasetError:
    """The error for a release that no dataset fits, or for which none was found within the limits."""
    release = bounder.program.release
    if found.proof is None:
        why = f"block {release.block}: no dataset that fits the counts was found ({found.limit})"
        return NoDatasetError(why, proved=False)
    lemmas = [lemma.as_dict() for lemma in bounder.program.lemmas]
    cells = contradiction_cells(release, lemmas, found.proof.as_dict()) if isinstance(found.proof, Leaf) else []
    named = ", ".join(cells) or "many cells together"
    return NoDatasetError(
        f"block {release.block}: no dataset fits the published counts. These contradict each other: "
        f"{named}. Check the rows of this block in the release.",
        proved=True,
    )
