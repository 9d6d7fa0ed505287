"""The probabilities of a block: its claims and rows under every prior, exact or estimated."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.attack.probability import (
    ChainDraws,
    DatasetCount,
    Effort,
    Posterior,
    count_release,
    estimate,
    likely_singletons,
)
from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.claims import ANY, Codes, candidate_claims, matches
from genverify.model.release import Schema
from genverify.model.work import derive_seed
from genverify.solve.counting.diagram import Budget, TooManyStates
from genverify.solve.counting.prior import Prior
from genverify.solve.program import Program, WrongAnswer
from studies.gtv.probability_priors import SINGLED
from studies.gtv.settings import Probability

# Which claims are asked about: candidates, claims that draws make likely, and some claims of one generated dataset.

CANDIDATE, SAMPLED = "candidate", "sampled"


def sampled_claims(dataset: Codes, min_k: int, number: int, rng: np.random.Generator) -> tuple[Codes, Ints]:
    """Some of the claims that are true of a dataset, drawn at random."""
    codes, m = candidate_claims(dataset[None], min_k)
    chosen = np.sort(rng.choice(len(m), min(number, len(m)), replace=False))
    return codes[chosen], m[chosen]


def joined(parts: dict[str, tuple[Codes, Ints]]) -> tuple[Codes, Ints, dict[str, npt.NDArray[np.bool_]]]:
    """The claims of all sources, each once, and which source each comes from."""
    every = np.concatenate([np.column_stack([codes, m]) for codes, m in parts.values()]).astype(np.int64)
    distinct, index = np.unique(every, axis=0, return_inverse=True)
    ends = np.cumsum([len(m) for _, m in parts.values()])
    sources = {}
    for name, rows in zip(parts, np.split(index.ravel(), ends[:-1]), strict=True):
        sources[name] = np.isin(np.arange(len(distinct)), rows)
    return distinct[:, :-1].astype(np.int16), distinct[:, -1], sources


# Worlds: datasets drawn under a prior, as if each were the private block. With what holds in them one can say how far what
# is true may lie from its probabilities, given how the claims of a block hang together.

WORLDS = 60  # draws that are kept as the bits of one 64-bit number
Worlds = npt.NDArray[np.int64]
"""A bit for every world, set where something holds in it."""


def _worlds_of(prior: str) -> str:
    return f"{prior}_worlds"


def _worlds_in(drawn: Codes) -> Codes:
    """So many of the draws, spread over them: those of a chain hang together."""
    return drawn[np.arange(WORLDS) * len(drawn) // WORLDS]


def in_worlds(holds: Sequence[npt.NDArray[np.bool_] | np.bool_]) -> Worlds:
    """What holds in each world, as bits."""
    bits = np.array(holds).astype(np.int64)
    result: Worlds = (bits << np.arange(WORLDS)[:, None]).sum(axis=0)
    return result


def expected(rows: pd.DataFrame, source: str, seed: int, resamples: int) -> tuple[float, float]:
    """
    Between which ends the share that is true would lie (95 %) if every block were drawn as the prior says: a world is chosen
    for each block, so that what hangs together within a block does so here.
    """
    if _worlds_of(source) not in rows.columns:
        return np.nan, np.nan
    bits = (rows[_worlds_of(source)].to_numpy()[:, None] >> np.arange(WORLDS)) & 1
    index, names = pd.factorize(rows["block"])
    held = np.zeros((len(names), WORLDS))
    np.add.at(held, index, bits)
    drawn = np.random.default_rng(seed).integers(WORLDS, size=(resamples, len(names)))
    low, high = np.percentile(held[np.arange(len(names)), drawn].sum(axis=1) / len(rows), [2.5, 97.5])
    return float(low), float(high)


# The probabilities of a block: its claims and rows under every prior, exact or estimated, held against the proofs.

Claims = set[tuple[tuple[int, ...], int]]
EXACT, ESTIMATED = "exact", "estimated"
MORE = 5  # times the draws where they also give the probabilities, not the expectations alone


@dataclass(frozen=True)
class AttackFindings:
    """What the attack found out about a block: generated datasets, verified claims, whether every candidate is decided."""

    datasets: Codes
    verified: Claims
    decided: bool


@dataclass(frozen=True)
class WeighedBlock:
    """The tables of a block: a row per claim, per record that may be there, and for the block itself."""

    claims: pd.DataFrame
    rows: pd.DataFrame
    block: dict[str, Any]


def weigh_block(
    program: Program, known: AttackFindings, priors: Mapping[str, Prior], settings: Probability, min_k: int, seed: int
) -> WeighedBlock:
    """Every number of a block. A verified claim whose probability is not 1, or the reverse, is a bug and stops the study."""
    started = time.process_time()
    try:
        counted = count_release(program, Budget(**settings.budget.model_dump()))
    except TooManyStates:
        counted = None
    about = _about(program, counted, time.process_time() - started)
    result, draws = _found(program, counted, known, priors, settings, seed)
    codes, m, sources = _asked(known, dict(zip(priors, draws, strict=True)), settings, min_k, seed)
    claims = _claims(program, known, codes, m, dict(zip(priors, result, strict=True)), sources)
    claims = claims.assign(**_claims_in_worlds(codes, m, sources[SAMPLED], dict(zip(priors, draws, strict=True))))
    _hold_against_proofs(program.release.block, claims, known, list(priors))
    rows = _rows(program, known.datasets, dict(zip(priors, result, strict=True)), draws, settings.rows)
    about["seconds"] = time.process_time() - started
    return WeighedBlock(claims, rows, about)


def _found(
    program: Program,
    counted: DatasetCount | None,
    known: AttackFindings,
    priors: Mapping[str, Prior],
    settings: Probability,
    seed: int,
) -> tuple[list[Posterior | ChainDraws], list[Codes]]:
    """
    For every prior what gives probabilities, and draws: exact where counting is done and the diagram is not too large to ask
    claim by claim; from exact draws where it is; from chains where counting itself is too much.
    """
    result: list[Posterior | ChainDraws] = []
    draws: list[Codes] = []
    rng = np.random.default_rng(derive_seed(seed, "draws"))
    for prior in priors.values():
        if counted is None:
            effort = Effort(**settings.estimate.model_dump())
            result.append(estimate(program, prior, known.datasets, effort, seed))
        else:
            posterior = counted.posterior(prior)
            large = counted.diagram.moves > settings.exact_moves
            drawn = posterior.draw(settings.draws * (MORE if large else 1), rng)
            result.append(ChainDraws(drawn[:, None]) if large else posterior)
        one = result[-1]
        draws.append(one.records.reshape(-1, *known.datasets.shape[1:]) if isinstance(one, ChainDraws) else drawn)
    return result, draws


def _about(program: Program, counted: DatasetCount | None, seconds: float) -> dict[str, Any]:
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
    known: AttackFindings, draws: Mapping[str, Codes], settings: Probability, min_k: int, seed: int
) -> tuple[Codes, Ints, dict[str, Flags]]:
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
    known: AttackFindings,
    codes: Codes,
    m: Ints,
    found: Mapping[str, Posterior | ChainDraws],
    sources: Mapping[str, Flags],
) -> pd.DataFrame:
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


def _values(one: Posterior | ChainDraws, codes: Codes, m: Ints, verified: Flags) -> tuple[Floats, Floats, Floats]:
    """Probabilities with both ends of an interval: the same number where it is exact; what is proved has 1 in any case."""
    if isinstance(one, Posterior):
        p = one.probabilities(codes, m)
        return p, p, p
    p, low, high = (np.where(verified, 1.0, side) for side in one.probabilities(codes, m))
    return p, low, high


def _hold_against_proofs(block: str, claims: pd.DataFrame, known: AttackFindings, priors: Sequence[str]) -> None:
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
    program: Program, generated: Codes, result: Mapping[str, Posterior | ChainDraws], draws: Sequence[Codes], most: int
) -> pd.DataFrame:
    listed = [one.rows(most)[0] if isinstance(one, Posterior) else _often(drawn, most)
              for one, drawn in zip(result.values(), draws, strict=True)]  # fmt: skip
    records = np.unique(np.concatenate([*listed, _often(generated, most)]), axis=0).astype(np.int16)
    frame = pd.DataFrame(records, columns=list(program.types.domain.names))
    frame.insert(0, "block", program.release.block)
    frame["generated"] = np.mean([matches(records, dataset).any(axis=1) for dataset in generated], axis=0)
    for (name, one), drawn in zip(result.items(), draws, strict=True):
        if isinstance(one, Posterior):
            frame[name] = one.present(records)
        else:
            frame[name] = np.mean([matches(records, dataset).any(axis=1) for dataset in drawn], axis=0)
        frame["numbers"] = EXACT if isinstance(one, Posterior) else ESTIMATED
        frame[_worlds_of(name)] = in_worlds([matches(records, dataset).any(axis=1) for dataset in _worlds_in(drawn)])
    return frame


def _claims_in_worlds(codes: Codes, m: Ints, asked: Flags, draws: Mapping[str, Codes]) -> dict[str, Worlds]:
    """The same for the claims that the calibration is about; no world for the others."""
    result = {}
    for name, drawn in draws.items():
        worlds = np.zeros(len(m), dtype=np.int64)
        worlds[asked] = in_worlds([matches(codes[asked], dataset).sum(axis=1) == m[asked] for dataset in _worlds_in(drawn)])
        result[_worlds_of(name)] = worlds
    return result


def _often(drawn: Codes, most: int) -> Codes:
    records, times = np.unique(drawn.reshape(-1, drawn.shape[2]), axis=0, return_counts=True)
    return records[np.argsort(-times, kind="stable")[:most]]


# What the attack has found out about the blocks of a batch, from its files.

OPEN = ("undecided", "uncertified")


def known_of(datasets: Mapping[str, Codes], claims: Path, blocks: Path, schema: Schema) -> dict[str, AttackFindings]:
    """Generated datasets and verified claims of every block; a block with undecided claims is not held to all of them."""
    verified = _verified(pd.read_parquet(claims), schema)
    decided = pd.read_parquet(blocks).set_index("block")
    left = decided[[name for name in decided.columns if name.startswith(OPEN)]].sum(axis=1)
    return {
        block: AttackFindings(records, verified.get(block, set()), bool(left.get(block, 0) == 0))
        for block, records in datasets.items()
    }


def _verified(claims: pd.DataFrame, schema: Schema) -> dict[str, Claims]:
    result: dict[str, Claims] = {}
    if not len(claims):
        return result
    codes = claims[list(schema.domain.names)].astype("Int16").fillna(ANY).to_numpy(dtype=np.int16)
    for block, row, m in zip(claims["block"], codes.tolist(), claims["m"], strict=True):
        result.setdefault(str(block), set()).add((tuple(row), int(m)))
    return result
