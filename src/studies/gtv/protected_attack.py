"""The attack on protected counts: claims verified from the release, which are true, and how surprising they are."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.evaluate import Evaluation, block_weights, evaluate, ratio_interval
from genverify.attack.generate import generate_block
from genverify.attack.verify import Verdict, VerifiedBlock, verify_block
from genverify.model.arrays import Flags, Ints
from genverify.model.claims import ATTACKED, CONTRADICTORY, UNDECIDED, Codes, candidate_claims, false_claims, matches
from genverify.model.domain import Domain, Predicate
from genverify.model.errors import DataError, NoDatasetError
from genverify.model.release import TOTAL, Release
from genverify.solve.admissible import TooManyTypes
from genverify.solve.bounds import certificate_of
from genverify.solve.program_settings import ProgramSettings
from studies.country.store import Types
from studies.gtv.baselines import binomial, count_priors
from studies.gtv.protected_counts import Kinds, Search, TargetRanges

# The attack on protected counts of a block: claims verified from the release, which need not be true of the private block.
#
# Exact counts are attacked as in the study. Ranges leave so many record types open that the program may be too large to
# build. So datasets that fit are searched first, each made to contradict a claim that is still a candidate: where none is
# left, nothing can be verified. Only otherwise is the program built; if it is too large, what is left is undecided.

FAILURES = 20  # in a row, after which the candidates left are taken as found: bounds time
KICKS = 3  # of a search that only has to contradict a claim: fewer than for the first dataset


@dataclass(frozen=True)
class AttackOutcome:
    """
    What became of a block: attacked, with the claims that are verified (None: no candidate is left) and the number of those
    that stayed undecided; contradictory, where it is proved that no dataset fits; or undecided, where none was found.
    `certificate` proves the claims, or the contradiction, and was checked; otherwise it is empty.
    """

    status: str
    certificate: Mapping[str, Any]
    verified: VerifiedBlock | None = None
    undecided: int = 0


@dataclass(frozen=True)
class Attack:
    """The attack's settings, and the kinds of records that searches use; they are built when ranges are first met."""

    program: ProgramSettings
    datasets: int
    min_k: int
    make_kinds: Callable[[], Kinds]

    def block(self, release: Release, seed: int) -> AttackOutcome:
        """Generate, then verify; every proof is checked."""
        self.program.proving("The attack on protected counts")
        datasets, nothing = None, certificate_of(release)
        if (release.lo < release.hi).any():
            # datasets that fit and leave few candidates; None where no dataset was found that way
            datasets = _RefutingDatasets(release, self.make_kinds(), self.min_k, np.random.default_rng(seed)).datasets()
        try:
            if datasets is None:
                datasets = generate_block(release, self.program, self.datasets, seed).records
            left = len(candidate_claims(datasets, self.min_k)[1])
            return self._verified(release, datasets) if left else AttackOutcome(ATTACKED, nothing)
        except NoDatasetError as error:
            if error.certificate:
                return AttackOutcome(CONTRADICTORY, error.certificate)
        except TooManyTypes:
            if datasets is not None:
                return AttackOutcome(ATTACKED, nothing, undecided=left)
        return AttackOutcome(UNDECIDED, nothing)

    def _verified(self, release: Release, datasets: Codes) -> AttackOutcome:
        result = verify_block(release, datasets, self.program, self.min_k)
        open_ = [d for d in result.decisions if d.verdict in (Verdict.UNDECIDED, Verdict.UNCERTIFIED)]
        return AttackOutcome(ATTACKED, result.certificate, result, len(open_))


class _RefutingDatasets:
    """Datasets that fit the ranges of a release, each found so as to contradict a claim that all before it share."""

    def __init__(self, release: Release, kinds: Kinds, min_k: int, rng: np.random.Generator) -> None:
        self.kinds, self.n, self.min_k, self.rng = kinds, release.n, min_k, rng
        queries = len(release.schema.queries)
        lo, hi = np.zeros(queries, dtype=np.int64), np.full(queries, release.n, dtype=np.int64)
        lo[release.cells], hi[release.cells] = release.lo, release.hi
        self.wanted = TargetRanges(lo, hi)

    def datasets(self) -> Codes | None:
        """All that were found; the search ends when no candidate is left, or after a number of failures in a row."""
        first = self._fitting(self._seek(None), None)
        if first is None:
            return None
        result, records = [first], [self.kinds.records(first, self.rng)]
        codes, m = candidate_claims(np.array(records), self.min_k)
        failures = 0
        while len(m) and failures < FAILURES:
            other = self._contradicting(codes[self.rng.integers(len(m))], result)
            failures += 1
            if other is not None:
                result.append(other)
                records.append(self.kinds.records(other, self.rng))
                rest = ~false_claims(matches(codes, records[-1]), m)
                failures = failures if rest.all() else 0
                codes, m = codes[rest], m[rest]
        return np.array(records)

    def _contradicting(self, claim: Codes, result: list[Ints]) -> Ints | None:
        """
        A dataset with another number of records that can match the claim than a known one has: one is taken out of it, or
        one put in for another; for the rest of the search no other such record moves.
        """
        matching = self.kinds.matching(claim)
        base = result[self.rng.integers(len(result))]
        others = np.flatnonzero(~matching[base])
        if len(others) and self.rng.random() < 0.5:
            start = self._seek(~matching).added(np.delete(base, self.rng.choice(others)))
        else:
            start = np.delete(base, self.rng.choice(np.flatnonzero(matching[base])))
        return self._fitting(self._seek(matching), start)

    def _seek(self, barred: Flags | None) -> Search:
        return Search(self.kinds, self.wanted, self.n, self.rng, barred)

    def _fitting(self, search: Search, start: Ints | None) -> Ints | None:
        records = search.nearest(start, KICKS)
        return records if search.error(records) == 0 else None


# How claims that were verified from a protected release stand in the private blocks: true or false.

COUNTED = ["claims", "false", "singleton_claims", "singleton_false", "households_singled_out"]
KINDS = {"all": ("claims", "false"), "singleton": ("singleton_claims", "singleton_false")}


def judge(claims: pd.DataFrame, blocks: pd.DataFrame, records: pd.DataFrame) -> pd.DataFrame:
    """
    The blocks, each with its claims verified from the release, and how many of them are false of the private block: there
    COUNT != m. Singleton claims have m = 1. Households singled out are private ones that match a true singleton claim.
    """
    rows = [_counted(part) for part in evaluate(claims, records)] if len(claims) else []
    judged = blocks.merge(pd.DataFrame(rows, columns=["block", *COUNTED]), how="left", on="block")
    judged[COUNTED] = judged[COUNTED].fillna(0).astype("int64")
    return judged.sort_values("block", ignore_index=True)


def _counted(part: Evaluation) -> tuple[str, int, int, int, int, int]:
    false = (int(part.false.sum()), int(part.single.sum()), int((part.false & part.single).sum()))
    return part.block, len(part.m), *false, part.represented(part.single & ~part.false)


def summarise(name: str, how: Mapping[str, Any], judged: pd.DataFrame, seed: int) -> dict[str, Any]:
    """One protection in numbers: claims verified from the release, and the share that is false with its 95 % interval."""
    row: dict[str, Any] = {"protection": name, **how, "blocks": len(judged)}
    row |= {f"{status}_blocks": int((judged["status"] == status).sum()) for status in (CONTRADICTORY, UNDECIDED)}
    row |= {"undecided_claims": int(judged["undecided_claims"].sum()), "households": int(judged["n_households"].sum())}
    row["households_singled_out"] = int(judged["households_singled_out"].sum())
    weights = block_weights(["all"] * len(judged), seed)
    for kind, (verified, false) in KINDS.items():
        whole, part = (judged[[column]].to_numpy() for column in (verified, false))
        low, high = ratio_interval(part, whole, weights)
        total = int(whole.sum())
        row |= {f"{kind}_claims_verified_from_release": total, f"{kind}_claims_false": int(part.sum())}
        shares = {"": part.sum() / total if total else np.nan, "_low": low[0], "_high": high[0]}
        row |= {f"{kind}_share_false{end}": share for end, share in shares.items()}
    return row


def check_unprotected(row: Mapping[str, Any]) -> None:
    """An error if exact counts of the private block led to a false claim."""
    unprotected = not row["swap"] and row["rho"] is None
    if unprotected and row["all_claims_false"]:
        raise DataError(
            f"{row['all_claims_false']} claims verified from unprotected counts ({row['protection']}) are false of their "
            "private blocks. Either the microdata changed after the release was tabulated: publish and attack again. Or "
            "the verification is wrong."
        )


# How surprising claims verified from protected counts are: the baselines of section 3.2, the release taken as true.

LISTED_PRIORS = ("tract", "state", "nation")
QUANTILES = {"median": 0.5, "p75": 0.75, "p90": 0.9, "max": 1.0}
COLUMNS = ["k", "claims", *(f"{prior}_{name}" for prior in LISTED_PRIORS for name in QUANTILES)]


def surprise(
    claims: pd.DataFrame, blocks: pd.DataFrame, microdata: Path, domain: Domain, keeps: Predicate, nation: Types
) -> pd.DataFrame:
    """
    For each k, how likely claims about one household are under each prior: median, percentiles, maximum.

    The priors are those of the private records: noise falls on blocks and hardly on the shares of a tract or state.
    """
    one = claims[claims["m"] == 1].reset_index(drop=True) if len(claims) else claims
    if one.empty:
        return pd.DataFrame(columns=COLUMNS)
    n = one["block"].map(blocks.groupby("block")["n_households"].first()).to_numpy(dtype=np.int64)
    priors = count_priors(one, microdata, domain, keeps, nation)
    chances = pd.DataFrame({name: binomial(n, one["m"].to_numpy(dtype=np.int64), priors[name]) for name in LISTED_PRIORS})
    by_k = chances.groupby(one["k"])
    result = {f"{prior}_{name}": by_k[prior].quantile(share) for prior in LISTED_PRIORS for name, share in QUANTILES.items()}
    return pd.DataFrame({"claims": by_k.size(), **result}).reset_index()[COLUMNS]


# The attack on protected counts as tables: claims verified from the release, and one row per block.


def contradictory_rows(counts: Path, blocks: Collection[str]) -> list[dict[str, Any]]:
    """The rows of blocks that need no attack, because a range of theirs is empty."""
    frame = pd.read_parquet(counts)
    totals = frame[(frame["query"] == TOTAL) & frame["block"].isin(list(blocks))]
    return [block_row(str(block), int(n), CONTRADICTORY) for block, n in zip(totals["block"], totals["lo"], strict=True)]


def block_row(block: str, n: int, status: str, undecided: int = 0) -> dict[str, Any]:
    """What became of a block."""
    return {"block": block, "n_households": n, "status": status, "undecided_claims": undecided}
