"""The proofs about counts of areas."""

from genverify.model.proof_form import LINEAR
from genverify.run.registry import ProofKind

PROOFS = {
    "areas": ProofKind(
        LINEAR,
        ("counts", "larger", "areas", "tables", "ranges", "proofs"),
        "studies.disclosure.area_tables:check_areas",
        "studies.disclosure.area_tables:open_areas",
        "{systems} systems of areas, {ranges} ranges",
        {"attained": "that both ends of {} ranges are attained rests on the solver, without proof"},
    )
}
