"""The attack's results as tables: verified claims, and one row per block."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.block import Verified
from genverify.attack.verify import Verdict
from genverify.core.claims import ANY, Claim
from genverify.solve.settings import ProgramSettings

WITHOUT_PROOF = "without_proof"


def claims_frame(verified: Verified) -> pd.DataFrame:
    """The verified claims of a block: k, m, a nullable code per column, effective k, the place of the proof (null: none)."""
    names = verified.program.types.domain.names
    frame = claim_columns(verified.claims, names)
    frame.insert(0, "block", verified.program.release.block)
    nullable = pd.array(verified.proof_of, dtype="Int32")
    proof = nullable if nullable.isna().any() else nullable.to_numpy(dtype=np.int32)
    return frame.assign(effective_k=np.array(verified.effective, dtype=np.int8), proof=proof)


def claim_columns(claims: Sequence[Claim], names: Sequence[str]) -> pd.DataFrame:
    """Claims as rows: k, m and one column of nullable codes per column of the domain."""
    codes = np.array([claim.codes for claim in claims], dtype=np.int16).reshape(len(claims), len(names))
    frame = pd.DataFrame(
        {"k": np.array([c.k for c in claims], dtype=np.int8), "m": np.array([c.m for c in claims], dtype=np.int32)}
    )
    for column, name in enumerate(names):
        frame[name] = pd.array(codes[:, column], dtype="Int16")
        frame.loc[codes[:, column] == ANY, name] = pd.NA
    return frame


def verified_row(verified: Verified, settings: ProgramSettings) -> dict[str, Any]:
    """
    What became of the candidates of a block, by verdict and k, and how they were decided. A formulation that gives no proofs
    says how many verified claims are without one.
    """
    decided = [d for d in verified.decisions if d.verdict in (Verdict.VERIFIED, Verdict.REFUTED, Verdict.UNCERTIFIED)]
    row: dict[str, Any] = {
        "block": verified.program.release.block,
        "types": len(verified.program.types),
        "classes": verified.program.classes,
        "solver": settings.solver,
        "decided_lp": sum(not d.integer for d in decided),
        "decided_ip": sum(d.integer for d in decided),
        "limits": ", ".join(sorted({d.limit for d in verified.decisions if d.limit})),
    }
    columns = len(verified.program.types.domain.names)
    tallies = {"candidates": Counter(claim.k for claim in verified.candidates)}
    tallies |= {verdict.value: verified.counts(verdict) for verdict in Verdict}
    for name, tally in tallies.items():
        row |= {f"{name}_k{k}": tally[k] for k in range(1, columns + 1)}
    return row if settings.proves else row | {WITHOUT_PROOF: verified.proof_of.count(None)}
