"""The probabilities of a block: its claims and rows under every prior, exact or estimated, held against the proofs."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.estimate import Effort, Estimated, estimate
from genverify.attack.posterior import Counted, Posterior, count_release
from genverify.attack.probable import likely_singletons
from genverify.core.arraytypes import Flags, Floats, Ints
from genverify.core.claims import ANY, Codes, candidate_claims, matches
from genverify.core.seeds import derive_seed
from genverify.papers.gtv.probability.asked import CANDIDATE, SAMPLED, joined, sampled_claims
from genverify.papers.gtv.probability.priors import SINGLED
from genverify.papers.gtv.probability.settings import Probability
from genverify.papers.gtv.probability.worlds import Worlds, in_worlds, worlds_in, worlds_of
from genverify.solve.counting.diagram import Budget, TooManyStates
from genverify.solve.counting.prior import Prior
from genverify.solve.program import Program
from genverify.solve.recount import WrongAnswer

Claims = set[tuple[tuple[int, ...], int]]
EXACT, ESTIMATED = "exact", "estimated"
MORE = 5


@dataclass(frozen=True)
class Known:
    """What the attack found out about a block: generated datasets, verified claims, whether every candidate is decided."""

    datasets: Codes
    verified: Claims
    decided: bool


@dataclass(frozen=True)
class Weighed:
    """The tables of a block: a row per claim, per record that may be there, and for the block itself."""

    claims: pd.DataFrame
    rows: pd.DataFrame
    block: dict[str, Any]


def weigh_block(
    program: Program, known: Known, priors: Mapping[str, Prior], settings: Probability, min_k: int, seed: int
) -> Weighed:
    """Every number of a block. A verified claim whose probability is not 1, or the reverse, is a bug and stops the study."""
    started = time.process_time()
    try:
        counted = count_release(program, Budget(**settings.budget.model_dump()))
    except TooManyStates:
        counted = None
    about = _about(program, counted, time.process_time() - started)
    found, draws = _found(program, counted, known, priors, settings, seed)
    codes, m, sources = _asked(known, dict(zip(priors, draws, strict=True)), settings, min_k, seed)
    claims = _claims(program, known, codes, m, dict(zip(priors, found, strict=True)), sources)
    claims = claims.assign(**_claims_in_worlds(codes, m, sources[SAMPLED], dict(zip(priors, draws, strict=True))))
    hold_against_proofs(program.release.block, claims, known, list(priors))
    rows = _rows(program, known.datasets, dict(zip(priors, found, strict=True)), draws, settings.rows)
    about["seconds"] = time.process_time() - started
    return Weighed(claims, rows, about)


def _found(
    program: Program, counted: Counted | None, known: Known, priors: Mapping[str, Prior], settings: Probability, seed: int
) -> tuple[list[Posterior | Estimated], list[Codes]]:
    """
    For every prior what gives probabilities, and draws: exact where counting is done and the diagram is not too large to ask
    claim by claim; from exact draws where it is; from chains where counting itself is too much.
    """
    found: list[Posterior | Estimated] = []
    draws: list[Codes] = []
    rng = np.random.default_rng(derive_seed(seed, "draws"))
    for prior in priors.values():
        if counted is None:
            effort = Effort(**settings.estimate.model_dump())
            found.append(estimate(program, prior, known.datasets, effort, seed))
        else:
            posterior = counted.posterior(prior)
            large = counted.diagram.moves > settings.exact_moves
            drawn = posterior.draw(settings.draws * (MORE if large else 1), rng)
            found.append(Estimated(drawn[:, None]) if large else posterior)
        one = found[-1]
        draws.append(one.records.reshape(-1, *known.datasets.shape[1:]) if isinstance(one, Estimated) else drawn)
    return found, draws


def _about(program: Program, counted: Counted | None, seconds: float) -> dict[str, Any]:
    row: dict[str, Any] = {"block": program.release.block, "n_households": program.n, "classes": program.classes}
    row |= {"rows": len(program.rows), "numbers": EXACT if counted else ESTIMATED}
    if counted is None:
        return row | {"states": 0, "moves": 0, "class_vectors": None, "datasets": None, "counting_seconds": seconds}
    sizes = {"states": counted.diagram.states, "moves": counted.diagram.moves}
    # whole numbers of any length: as text, so that no digit is lost
    return row | sizes | {
        "class_vectors": str(counted.vectors),
        "datasets": str(counted.datasets),
        "counting_seconds": seconds,
    }  # fmt: skip


def _asked(
    known: Known, draws: Mapping[str, Codes], settings: Probability, min_k: int, seed: int
) -> tuple[Codes, Ints, dict[str, Flags]]:
    """The claims to ask about and, by source, which; those that draws under a prior make likely are asked under it."""
    rng = np.random.default_rng(derive_seed(seed, "claims"))
    parts = {
        CANDIDATE: candidate_claims(known.datasets, min_k),
        SAMPLED: sampled_claims(known.datasets[0], min_k, settings.claims, rng),
    }
    for name, drawn in [(name, drawn) for name, drawn in draws.items() if name in SINGLED]:
        likely = likely_singletons(drawn, min_k, settings.least)
        parts[name] = (likely, np.ones(len(likely), dtype=np.int64))
    return joined(parts)


def _claims(
    program: Program,
    known: Known,
    codes: Codes,
    m: Ints,
    found: Mapping[str, Posterior | Estimated],
    sources: Mapping[str, Flags],
) -> pd.DataFrame:
    """A row per claim; no number under a prior for which it was not asked about."""
    names = program.types.domain.names
    frame = pd.DataFrame(codes, columns=list(names)).astype("Int16").mask(codes == ANY)
    frame.insert(0, "block", program.release.block)
    frame = frame.assign(m=m, k=(codes != ANY).sum(axis=1))
    frame["verified"] = [(tuple(row), int(count)) in known.verified for row, count in zip(codes.tolist(), m, strict=True)]
    # the claims of the first dataset are among those asked about, so that it would count for itself
    others = known.datasets[1:] if len(known.datasets) > 1 else known.datasets
    frame["generated"] = np.mean([matches(codes, dataset).sum(axis=1) == m for dataset in others], axis=0)
    for name, one in found.items():
        asked = np.flatnonzero(sources[CANDIDATE] | sources[SAMPLED] | sources.get(name, False))
        values = _values(one, codes[asked], m[asked], frame["verified"].to_numpy()[asked])
        for column, value in zip((name, f"{name}_low", f"{name}_high"), values, strict=True):
            frame[column] = pd.Series(value, index=asked).reindex(frame.index)
        frame["numbers"] = EXACT if isinstance(one, Posterior) else ESTIMATED
    return frame.assign(candidate=sources[CANDIDATE], sampled=sources[SAMPLED])


def _values(one: Posterior | Estimated, codes: Codes, m: Ints, verified: Flags) -> tuple[Floats, Floats, Floats]:
    """Probabilities with both ends of an interval: the same number where it is exact; what is proved has 1 in any case."""
    if isinstance(one, Posterior):
        p = one.probabilities(codes, m)
        return p, p, p
    p, low, high = (np.where(verified, 1.0, side) for side in one.probabilities(codes, m))
    return p, low, high


def hold_against_proofs(block: str, claims: pd.DataFrame, known: Known, priors: Sequence[str]) -> None:
    """An error unless exactly the verified claims have probability 1, under every prior that counts were made with."""
    exact = claims[claims["numbers"] == EXACT]
    for prior in priors:
        below = exact[exact["verified"] & (exact[prior] != 1)]
        sure = exact[~exact["verified"] & (exact[prior] == 1)] if known.decided else exact[:0]
        for wrong, said in ((below, "is verified, but has"), (sure, "is not verified, but has")):
            if len(wrong):
                row = wrong.iloc[0]
                raise WrongAnswer(
                    f"block {block}: a claim with k = {row['k']}, m = {row['m']} {said} the probability "
                    f"{float(row[prior])!r} under the prior {prior}. One of the two is wrong: nothing is reported. "
                    "Please report this as a bug."
                )


def _rows(
    program: Program, generated: Codes, found: Mapping[str, Posterior | Estimated], draws: Sequence[Codes], most: int
) -> pd.DataFrame:
    """The likeliest records under each prior, and their probability to be in the block under all of them."""
    listed = [one.rows(most)[0] if isinstance(one, Posterior) else _often(drawn, most)
              for one, drawn in zip(found.values(), draws, strict=True)]  # fmt: skip
    records = np.unique(np.concatenate([*listed, _often(generated, most)]), axis=0).astype(np.int16)
    frame = pd.DataFrame(records, columns=list(program.types.domain.names))
    frame.insert(0, "block", program.release.block)
    frame["generated"] = np.mean([matches(records, dataset).any(axis=1) for dataset in generated], axis=0)
    for (name, one), drawn in zip(found.items(), draws, strict=True):
        if isinstance(one, Posterior):
            frame[name] = one.present(records)
        else:
            frame[name] = np.mean([matches(records, dataset).any(axis=1) for dataset in drawn], axis=0)
        frame["numbers"] = EXACT if isinstance(one, Posterior) else ESTIMATED
        frame[worlds_of(name)] = in_worlds([matches(records, dataset).any(axis=1) for dataset in worlds_in(drawn)])
    return frame


def _claims_in_worlds(codes: Codes, m: Ints, asked: Flags, draws: Mapping[str, Codes]) -> dict[str, Worlds]:
    """The same for the claims that the calibration is about; no world for the others."""
    found = {}
    for name, drawn in draws.items():
        worlds = np.zeros(len(m), dtype=np.int64)
        worlds[asked] = in_worlds([matches(codes[asked], dataset).sum(axis=1) == m[asked] for dataset in worlds_in(drawn)])
        found[worlds_of(name)] = worlds
    return found


def _often(drawn: Codes, most: int) -> Codes:
    records, times = np.unique(drawn.reshape(-1, drawn.shape[2]), axis=0, return_counts=True)
    return records[np.argsort(-times, kind="stable")[:most]]
