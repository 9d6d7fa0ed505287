"""Probabilities of claims about known persons: how well they are calibrated on real records, as aggregates only."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from genverify.attack.posterior import count_release
from genverify.core.claims import candidate_claims, matches
from genverify.core.domain import Domain
from genverify.core.seeds import derive_seed
from genverify.microdata.known import KnownBlock
from genverify.microdata.store import GEOGRAPHY
from genverify.papers.gtv.probability.judge import reliability, scores
from genverify.papers.gtv.probability.priors import NATION, TIMES, TRACT, UNIFORM, Areas, chosen_smoothing
from genverify.papers.gtv.probability.settings import Probability
from genverify.papers.gtv.probability.smoothing import score_smoothing
from genverify.solve.counting.diagram import Budget, TooManyStates
from genverify.solve.program import build_program

ASKED = (UNIFORM, NATION, TRACT)
ABOUT = "claims about persons"


@dataclass(frozen=True)
class Others:
    """The records of all blocks, for priors that leave one block out."""

    records: pd.DataFrame

    def around(self, block: str, names: list[str]) -> pd.DataFrame:
        """How often each record occurs in the other blocks: of the tract, and of the whole file (as the nation)."""
        others = self.records[self.records["block"] != block]
        near = others[others["block"].str.startswith(block[: GEOGRAPHY[TRACT]])]
        levels = ((NATION, "", others), (TRACT, block[: GEOGRAPHY[TRACT]], near))
        parts = [own.groupby(names).size().rename(TIMES).reset_index().assign(level=level, area=area)
                 for level, area, own in levels if len(own)]  # fmt: skip
        return pd.concat(parts, ignore_index=True)


def smoothing_of(
    records: pd.DataFrame, domain: Domain, left_out: Collection[str], values: Sequence[float]
) -> dict[str, float]:
    """The smoothing of the priors, chosen on the blocks that are not weighed."""
    rest = records.loc[~records["block"].isin(list(left_out)), ["block", *domain.names]]
    sizes = {column.name: len(column.codes) for column in domain.columns}
    return chosen_smoothing(score_smoothing(lambda: [rest], sizes, values, (NATION, TRACT)))


def weigh_known(
    blocks: Iterable[KnownBlock],
    others: Others,
    smoothing: Mapping[str, float],
    settings: Probability,
    max_types: int,
    seed: int,
) -> Iterator[pd.DataFrame | None]:
    """For every block some claims of a dataset that fits: their probability under each prior, and whether they are true."""
    for known in blocks:
        program = build_program(known.release, max_types)
        try:
            counted = count_release(program, Budget(**settings.budget.model_dump()))
        except TooManyStates:
            yield None
            continue
        domain = known.release.schema.domain
        areas = Areas.of(others.around(known.release.block, list(domain.names)), domain, smoothing)
        priors = areas.priors(known.release.block)
        rng = np.random.default_rng(derive_seed(seed, "persons", known.release.block))
        codes, m = candidate_claims(counted.posterior(priors[UNIFORM]).draw(1, rng), 1)
        chosen = np.sort(rng.choice(len(m), min(settings.claims, len(m)), replace=False))
        codes, m = codes[chosen], m[chosen]
        frame = pd.DataFrame({"block": known.release.block, "true": matches(codes, known.records).sum(axis=1) == m})
        for name in ASKED:
            frame[name] = counted.posterior(priors[name]).probabilities(codes, m)
        yield frame


def judge_known(found: list[pd.DataFrame | None], seed: int) -> pd.DataFrame:
    """Reliability by tenths and the two scores of every prior, over all blocks that could be counted."""
    counted = pd.concat([frame for frame in found if frame is not None], ignore_index=True)
    reliable = reliability(counted, ASKED, ABOUT, seed).rename(columns={"true": "value"})
    scored = scores(counted, ASKED, ABOUT, seed).assign(bin=-1)
    table = pd.concat([reliable.assign(score="share true"), scored], ignore_index=True)
    blocks = {"blocks": len(found), "counted": sum(frame is not None for frame in found)}
    return table[["source", "score", "bin", "p", "value", "low", "high", "n"]].assign(**blocks)
