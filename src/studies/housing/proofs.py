"""The proofs about blocks that must hold a violation."""

from genverify.model.proof_form import HOUSING
from genverify.run.registry import ProofKind

PROOFS = {
    "housing": ProofKind(
        HOUSING,
        ("statistics", "housing_domain", "published", "blocks", "proofs"),
        "studies.housing.check:check_job",
        "studies.housing.check:open_job",
        "{flagged} flagged blocks of {conditions} conditions",
        explain="studies.housing.check:explain_job",
    )
}
