"""A trial on known records: what the tables of each block prove, whether it is true, and whom it singles out."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from genverify.attack.evaluate import evaluate_codes
from genverify.attack.verify import Verdict, attack_release
from genverify.model.arrays import Ints
from genverify.model.claims import ANY, Codes
from genverify.model.release import Release
from genverify.model.work import derive_seed
from genverify.report.pages import document, markdown_table
from genverify.solve.program_settings import ProgramSettings
from studies.country.store import KnownBlock

COUNTED = ["claims", "proofs", "singletons", "false_claims", "undecided", "singled_out"]


@dataclass(frozen=True)
class ProvedClaims:
    """Verified claims of a release as codes, counts m and numbers of checked proofs; candidates left undecided, by k."""

    codes: Codes
    m: Ints
    proof: Ints
    undecided: Counter[int]


def prove(release: Release, settings: ProgramSettings, datasets: int, min_k: int, seed: int) -> ProvedClaims:
    """The attack on a release; its proofs are checked, not stored."""
    result = attack_release(release, settings, datasets, min_k, derive_seed(seed, "generate", release.block))
    codes = np.array([claim.codes for claim in result.claims], dtype=np.int16).reshape(-1, len(release.schema.domain.names))
    m = np.array([claim.m for claim in result.claims], dtype=np.int64)
    undecided = result.counts(Verdict.UNDECIDED) + result.counts(Verdict.UNCERTIFIED)
    return ProvedClaims(codes, m, np.array(result.proof_of, dtype=np.int64), undecided)


def try_blocks(
    blocks: Iterable[KnownBlock], settings: ProgramSettings, datasets: int, min_k: int, seed: int
) -> Iterator[pd.DataFrame]:
    """Every verified claim of every block beside its records; blocks with the same answers are attacked once."""
    done: dict[bytes, ProvedClaims] = {}
    for known in blocks:
        answers = np.append(known.release.lo, known.release.n).tobytes()
        if answers not in done:
            done[answers] = prove(known.release, settings, datasets, min_k, seed)
        yield _tally(known, done[answers])


def _tally(known: KnownBlock, proved: ProvedClaims) -> pd.DataFrame:
    """What was proved of a block beside its records: one row per number of columns k, and one (k = 0) for all claims."""
    k = (proved.codes != ANY).sum(axis=1)
    frame = evaluate_codes(known.release.block, proved.codes, proved.m, known.records).by_k(k, known.records.shape[1])
    proofs = [len(np.unique(proved.proof[(k == value) | (value == 0)])) for value in frame["k"]]
    undecided = [proved.undecided[value] if value else proved.undecided.total() for value in frame["k"]]
    return frame.assign(proofs=proofs, undecided=undecided, block=known.release.block, persons=len(known.records))


def sum_up(tallies: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """All blocks together, by k (`any` for claims of whatever number of columns), with the share of persons singled out."""
    every = pd.concat(list(tallies), ignore_index=True)
    total = every.groupby("k", sort=True)[COUNTED].sum().reset_index()
    part = every[every["k"] == 0]
    total.insert(0, "blocks", len(part))
    total.insert(1, "persons", int(part["persons"].sum()))
    total["share_singled_out"] = total["singled_out"] / total["persons"]
    total["k"] = total["k"].astype(str).replace("0", "any")
    return pd.concat([total[1:], total[:1]], ignore_index=True)


# The trial on known persons: what is proved by the number of columns, whom it singles out, and RAP-RANK's match rate.

NOTE = (
    "A claim is verified if it holds in every dataset that fits the block's tables; false claims are verified claims that "
    "the records contradict. Proofs: claims of a block share one where they follow from the same sums; each proof was "
    "checked in exact integers when it was made, and none is stored. Singled out: the persons that some verified claim with "
    "m = 1 describes. Match rate: the share of RAP-RANK's first u rows that are true (u: distinct persons of the block), a "
    "mean over the ranked blocks; it is a ranking, not a proof."
)


def persons_verified(parts: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """One row per reading and k; the match rate of the reading stands in its row `any`."""
    rows = []
    for reading, (claims, ranked) in parts.items():
        part = claims.assign(reading=reading)
        for name in ranked.columns:
            part[name] = ranked[name].iloc[0]
            part[name] = part[name].where(part["k"] == "any")
        rows.append(part[["reading", *(name for name in part.columns if name != "reading")]])
    return pd.concat(rows, ignore_index=True)


def persons_verified_text(table: pd.DataFrame, label: str) -> str:
    rows = markdown_table(list(table), table.astype(object).to_numpy().tolist(), left=1)
    return document("Claims proved about known persons", label, [rows, NOTE])
