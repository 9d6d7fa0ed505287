"""The proofs about blocks and tracts."""

from genverify.model.proof_form import AREAS
from genverify.run.registry import ProofKind

PROOFS = {
    "tracts": ProofKind(
        AREAS,
        ("blocks", "tracts", "block_counts", "tract_counts", "claims", "areas", "whole", "proofs"),
        "studies.gtv.tracts:check_job",
        "studies.gtv.tracts:open_job",
        "{tracts} tracts, {tract_blocks} blocks, {tract_claims} claims",
        {"of_one_level": "that block tables or tract tables alone show {} claims rests on the solver, without proof"},
        "studies.gtv.tracts:explain_job",
    )
}
