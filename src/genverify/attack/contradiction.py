"""Contradictory counts: no dataset fits, and a small set of cells that shows it."""

from genverify.checker.check import check_block
from genverify.core.errors import NoDatasetError
from genverify.solve.bounds import Bounder
from genverify.solve.leaves import Leaf, Node, certificate_of


def no_dataset_fits(bounder: Bounder, proof: Node | None, limit: str | None) -> NoDatasetError:
    """The error for a release that no dataset fits, its proof checked; or for which none was found within the limits."""
    release = bounder.program.release
    if proof is None:
        return NoDatasetError(f"block {release.block}: no dataset that fits the counts was found ({limit})", None)
    certificate = certificate_of(release, bounder.program.lemmas) | {"contradiction": proof.as_dict()}
    check_block(release, certificate)
    # imported when there is something to say: words are not needed to generate
    from genverify.attack.words.layout import contradiction_cells

    cells = contradiction_cells(release, certificate["lemmas"], proof.as_dict()) if isinstance(proof, Leaf) else []
    named = ", ".join(cells) or "many cells together"
    return NoDatasetError(
        f"block {release.block}: no dataset fits the published counts. These contradict each other: "
        f"{named}. Check the rows of this block in the release.",
        certificate,
    )
