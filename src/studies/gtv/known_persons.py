"""A trial on known records: what the tables of each block prove, whether it is true of them, and whom it singles out."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from genverify.attack.attack import attack_release
from genverify.attack.verify import Verdict
from genverify.core.arraytypes import Ints
from genverify.core.claims import ANY, Codes, false_claims, matches
from genverify.core.release import Release
from genverify.core.seeds import derive_seed
from genverify.microdata.known import KnownBlock
from genverify.solve.settings import ProgramSettings

COUNTED = ["claims", "proofs", "singletons", "false_claims", "undecided", "singled_out"]


@dataclass(frozen=True)
class Proved:
    """
    The verified claims of a release as codes, counts m and numbers of their checked proofs, and how many candidates were
    left undecided, by k.
    """

    codes: Codes
    m: Ints
    proof: Ints
    undecided: Counter[int]


def prove(release: Release, settings: ProgramSettings, datasets: int, min_k: int, seed: int) -> Proved:
    """The attack on a release; its proofs are checked, not stored."""
    found = attack_release(release, settings, datasets, min_k, derive_seed(seed, "generate", release.block))
    codes = np.array([claim.codes for claim in found.claims], dtype=np.int16).reshape(-1, len(release.schema.domain.names))
    m = np.array([claim.m for claim in found.claims], dtype=np.int64)
    undecided = found.counts(Verdict.UNDECIDED) + found.counts(Verdict.UNCERTIFIED)
    return Proved(codes, m, np.array(found.proof_of, dtype=np.int64), undecided)


def try_blocks(
    blocks: Iterable[KnownBlock], settings: ProgramSettings, datasets: int, min_k: int, seed: int
) -> Iterator[pd.DataFrame]:
    """
    Compare every verified claim of every block with its records.

    Blocks with the same answers have the same verified claims, so each release is attacked once.
    """
    done: dict[bytes, Proved] = {}
    for known in blocks:
        answers = np.append(known.release.lo, known.release.n).tobytes()
        if answers not in done:
            done[answers] = prove(known.release, settings, datasets, min_k, seed)
        yield tally(known, done[answers])


def tally(known: KnownBlock, proved: Proved) -> pd.DataFrame:
    """What was proved of a block beside its records: one row per number of columns k, and one (k = 0) for all claims."""
    m, k = proved.m, (proved.codes != ANY).sum(axis=1)
    flags = matches(proved.codes, known.records)
    rows = []
    for columns in range(known.records.shape[1] + 1):
        own = (k == columns) | (columns == 0)
        single = own & (m == 1)
        row = {"k": columns, "claims": own.sum()}
        row["proofs"], row["singletons"] = len(np.unique(proved.proof[own])), single.sum()
        row["false_claims"] = false_claims(flags, m)[own].sum()
        row["undecided"] = proved.undecided[columns] if columns else proved.undecided.total()
        row["singled_out"] = flags[single].any(axis=0).sum()
        rows.append(row)
    return pd.DataFrame(rows).assign(block=known.release.block, persons=len(known.records))


def sum_up(tallies: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """All blocks together, by k (`any` for claims of whatever number of columns), with the share of persons singled out."""
    every = pd.concat(list(tallies), ignore_index=True)
    total = every.groupby("k", sort=True)[COUNTED].sum().reset_index()
    own = every[every["k"] == 0]
    total.insert(0, "blocks", len(own))
    total.insert(1, "persons", int(own["persons"].sum()))
    total["share_singled_out"] = total["singled_out"] / total["persons"]
    total["k"] = total["k"].astype(str).replace("0", "any")
    return pd.concat([total[1:], total[:1]], ignore_index=True)
