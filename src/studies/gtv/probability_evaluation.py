"""Are the probabilities right? Compared with private blocks, intervals with exact numbers; and the cost of counting."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.evaluate import evaluate, shared_columns
from genverify.attack.probability import Effort, count_release, estimate
from genverify.model.arrays import Flags, Floats
from genverify.model.claims import Codes, matches
from genverify.model.domain import Domain
from genverify.model.release import Release
from genverify.model.work import derive_seed
from genverify.report.pages import document, markdown_table
from genverify.solve.counting.diagram import Budget, TooManyStates, draw_diagram
from genverify.solve.counting.prior import Prior, uniform
from genverify.solve.program import Program, build_program
from studies.country.store import GEOGRAPHY, KnownBlock
from studies.gtv.benchmarks import measure, peak_memory_mb
from studies.gtv.probabilities import (
    NATION,
    PRIORS,
    SAMPLED,
    SINGLED,
    STATE,
    TIMES,
    TRACT,
    UNIFORM,
    Areas,
    chosen_smoothing,
    expected,
    sampled_claims,
    score_smoothing,
)
from studies.gtv.settings import Probability

# Are the probabilities right? Claims and rows held against the private blocks: reliability, scores, match rates.

BINS = 10  # of a tenth each: the usual diagram of calibration
RESAMPLES = 1000  # of blocks: 25 of them lie beyond each end of a 95 % interval
CLOSEST = 1e-4  # a probability of 0 or 1 that is wrong would cost an endless log score
CLAIMS, ROWS = "claims", "rows"
GENERATED, RAP = "generated", "RAP-RANK"
EXACT = "exact"
SOURCES = (*PRIORS, GENERATED)
LEVELS = (1.0, 0.99, 0.9, 0.5)
GRID = np.linspace(0.05, 1, 20)


def _true_claims(claims: pd.DataFrame, records: pd.DataFrame) -> pd.DataFrame:
    """Every claim with whether it is true of its private block, and the record that a true one with m = 1 is about."""
    true, about = np.zeros(len(claims), dtype=bool), np.full(len(claims), -1, dtype=np.int64)
    for part in evaluate(claims[["block", "m", *shared_columns(claims, records)]], records):
        true[part.claims] = ~part.false
        about[part.claims] = np.where(part.about < 0, -1, np.append(part.records, -1)[part.about])
    return claims.assign(true=true, about=about)


def _true_rows(rows: pd.DataFrame, records: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    there = records[["block", *names]].drop_duplicates().assign(true=True)
    return rows.merge(there, on=["block", *names], how="left").assign(true=lambda f: f["true"].eq(True))


def scores(frame: pd.DataFrame, sources: Sequence[str], about: str, seed: int) -> pd.DataFrame:
    """Brier and log score of every source of probabilities, with intervals (95 %, blocks resampled); small is good."""
    rows = []
    for source in sources:
        p, true = frame[source].to_numpy(dtype=np.float64), frame["true"].to_numpy(dtype=np.float64)
        near = np.clip(p, CLOSEST, 1 - CLOSEST)
        losses = {"Brier score": (p - true) ** 2, "log score": -np.log(np.where(true > 0, near, 1 - near))}
        for name, loss in losses.items():
            mean, low, high = _mean(frame["block"], loss, np.ones(len(loss)), derive_seed(seed, name, source))
            rows.append((about, source, name, mean, low, high, len(loss)))
    return pd.DataFrame(rows, columns=["about", "source", "score", "value", "low", "high", "n"])


def reliability(frame: pd.DataFrame, sources: Sequence[str], about: str, seed: int) -> pd.DataFrame:
    """
    By tenths of the probability: its mean, and the share that is true with an interval (95 %, blocks resampled); and, where
    there are worlds of draws, between which ends that share would lie (95 %) if the probabilities were right.
    """
    records = []
    for source in sources:
        bins = np.minimum((frame[source] * BINS).astype(int), BINS - 1)
        indices = np.where(_apart(frame, source), BINS, bins)
        for index in np.unique(indices).tolist():
            rows = frame[indices == index]
            true = rows["true"].to_numpy(dtype=np.float64)
            mean, low, high = _mean(rows["block"], true, np.ones(len(rows)), derive_seed(seed, source, str(index)))
            ends = expected(rows, source, derive_seed(seed, "worlds", source, str(index)), RESAMPLES)
            records.append((about, source, index, rows[source].mean(), mean, low, high, len(rows), *ends))
    names = ["about", "source", "bin", "p", "true", "low", "high", "n", "expected_low", "expected_high"]
    return pd.DataFrame(records, columns=names)


def _apart(frame: pd.DataFrame, source: str) -> Flags:
    """What is certain stands apart: proofs say so, not a prior, and not draws that all agree."""
    ones = (frame[source] == 1).to_numpy()
    if source not in PRIORS or "numbers" not in frame.columns:
        return ones
    proved = (frame["numbers"] == EXACT).to_numpy()
    return ones & (proved | frame["verified"].to_numpy() if "verified" in frame.columns else proved)


def _mean(blocks: pd.Series, values: Floats, weights: Floats, seed: int) -> tuple[float, float, float]:
    """The mean of values, and an interval from resampling whole blocks: what is said of one block hangs together."""
    index, names = pd.factorize(blocks)
    sums, sizes = (np.bincount(index, each, minlength=len(names)) for each in (values, weights))
    drawn = np.random.default_rng(seed).multinomial(len(names), np.full(len(names), 1 / len(names)), size=RESAMPLES)
    low, high = np.percentile((drawn @ sums) / np.maximum(drawn @ sizes, 1e-12), [2.5, 97.5])
    return float(sums.sum() / sizes.sum()), float(low), float(high)


def match_rates(rankings: Mapping[str, Mapping[str, Floats]], seed: int) -> pd.DataFrame:
    """For every source the mean match rate over blocks of the k = x u likeliest rows; `rankings`: which rows are private."""
    rows = []
    for source, blocks in rankings.items():
        curves = np.array([_curve(hits) for hits in blocks.values()])
        for x, values in zip(GRID, curves.T, strict=True):
            names = pd.Series(list(blocks))
            mean, low, high = _mean(names, values, np.ones(len(values)), derive_seed(seed, source, f"{x:.2f}"))
            rows.append((source, x, mean, low, high, len(values)))
    return pd.DataFrame(rows, columns=["source", "x", "rate", "low", "high", "blocks"])


def _curve(hits: Floats) -> Floats:
    k = np.maximum(np.ceil(GRID * len(hits) - 1e-9).astype(np.int64), 1)
    rates: Floats = np.cumsum(hits)[k - 1] / k
    return rates


def _ranked_hits(rows: pd.DataFrame, by: str, distinct: Mapping[str, int], seed: int) -> dict[str, Floats]:
    """Whether each of the u likeliest rows of a block is private; ties in a drawn order, rows that are missing as misses."""
    result = {}
    for block, of_block in rows.groupby("block", sort=True):
        ties = np.random.default_rng(derive_seed(seed, "ties", by, str(block))).permutation(len(of_block))
        best = of_block["true"].to_numpy()[np.lexsort((ties, -of_block[by].to_numpy(dtype=np.float64)))]
        u = distinct[str(block)]
        result[str(block)] = np.concatenate([best[:u], np.zeros(max(0, u - len(best)))]).astype(np.float64)
    return result


def _area_rows(areas: pd.DataFrame, blocks: Sequence[str], width: int, most: int) -> pd.DataFrame:
    """The commonest records of the area of each block (the first digits of its id): a guess without the release."""
    by_area = {str(area): rows.nlargest(most, TIMES) for area, rows in areas.groupby("area") if len(str(area)) == width}
    return pd.concat([by_area[block[:width]].assign(block=block) for block in blocks if block[:width] in by_area])


def singled_out(claims: pd.DataFrame, records: int, seed: int) -> pd.DataFrame:
    """For every prior and level (the first: proved) singleton claims, the false share, households truly singled out."""
    rows = []
    single = claims[claims["m"] == 1]
    for source in SINGLED:
        for level in LEVELS:
            said = single[single["verified"]] if level == 1 else single[single[source] >= level]
            false = ~said["true"].to_numpy()
            share = _mean(said["block"], false.astype(np.float64), np.ones(len(said)), seed) if len(said) else (np.nan,) * 3
            households = said.loc[said["true"], "about"].nunique()
            rows.append((source, level, len(said), int(false.sum()), *share, households, 100 * households / records))
    names = ["prior", "level", "statements", "false", "false_share", "low", "high", "households", "percent"]
    return pd.DataFrame(rows, columns=names)


# Are estimates right? Intervals of the chains held against exact probabilities, on blocks that can be counted.


def compare_estimates(
    program: Program, priors: Mapping[str, Prior], starts: Codes, effort: Effort, budget: Budget, min_k: int, claims: int,
    seed: int,
) -> list[dict[str, Any]]:  # fmt: skip
    """By prior: how many open claims of a dataset have their exact probability in the interval, how far off, how wide."""
    try:
        counted = count_release(program, budget)
    except TooManyStates:
        return []
    block = program.release.block
    codes, m = sampled_claims(starts[0], min_k, claims, np.random.default_rng(derive_seed(seed, "coverage", block)))
    rows = []
    for name, prior in priors.items():
        exact = counted.posterior(prior).probabilities(codes, m)
        started = process_time()
        result = estimate(program, prior, starts, effort, derive_seed(seed, "coverage", block, name))
        seconds = process_time() - started
        open_ = (exact > 0) & (exact < 1)
        p, low, high = (side[open_] for side in result.probabilities(codes, m))
        truth = exact[open_]
        off, width = (float(far.mean()) if len(truth) else 0.0 for far in (np.abs(p - truth), high - low))
        row = {"block": block, "n_households": program.n, "prior": name, "claims": len(truth)}
        row |= {"inside": int(((low <= truth) & (truth <= high)).sum()), "off": off, "width": width}
        rows.append(row | {"seconds": seconds})
    return rows


def coverage_table(rows: pd.DataFrame) -> pd.DataFrame:
    """By prior: blocks, claims, the share of claims inside their interval, mean error and width, core-seconds per block."""
    parts = []
    for prior, group in rows.groupby("prior", sort=False):
        claims = group["claims"].sum()
        shares = [float((group[name] * group["claims"]).sum() / max(claims, 1)) for name in ("off", "width")]
        inside = 100 * group["inside"].sum() / max(claims, 1)
        parts.append((prior, len(group), claims, inside, *shares, group["seconds"].mean()))
    return pd.DataFrame(parts, columns=["prior", "blocks", "claims", "inside_percent", "off", "width", "seconds"])


# Probabilities of claims about known persons: how well they are calibrated on real records, as aggregates only.

ASKED = (UNIFORM, NATION, TRACT)
ABOUT = "claims about persons"


def records_around(records: pd.DataFrame, block: str, names: list[str]) -> pd.DataFrame:
    """How often each record occurs in the other blocks: of the tract, and of the whole file (as the nation)."""
    others = records[records["block"] != block]
    near = others[others["block"].str.startswith(block[: GEOGRAPHY[TRACT]])]
    levels = ((NATION, "", others), (TRACT, block[: GEOGRAPHY[TRACT]], near))
    parts = [part.groupby(names).size().rename(TIMES).reset_index().assign(level=level, area=area)
             for level, area, part in levels if len(part)]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def smoothing_of(
    records: pd.DataFrame, domain: Domain, left_out: Collection[str], values: Sequence[float]
) -> dict[str, float]:
    """The smoothing of the priors, chosen on the blocks that are not weighed."""
    rest = records.loc[~records["block"].isin(list(left_out)), ["block", *domain.names]]
    sizes = {column.name: len(column.codes) for column in domain.columns}
    return chosen_smoothing(score_smoothing(lambda: [rest], sizes, values, (NATION, TRACT)))


def weigh_known(
    blocks: Iterable[KnownBlock], records: pd.DataFrame, smoothing: Mapping[str, float], settings: Probability,
    max_types: int, seed: int,
) -> Iterator[pd.DataFrame | None]:  # fmt: skip
    """For every block some claims of a dataset that fits: their probability under each prior, and whether they are true."""
    for known in blocks:
        program = build_program(known.release, max_types)
        try:
            counted = count_release(program, Budget(**settings.budget.model_dump()))
        except TooManyStates:
            yield None
            continue
        domain = known.release.schema.domain
        areas = Areas.of(records_around(records, known.release.block, list(domain.names)), domain, smoothing)
        priors = areas.priors(known.release.block)
        rng = np.random.default_rng(derive_seed(seed, "persons", known.release.block))
        codes, m = sampled_claims(counted.posterior(priors[UNIFORM]).draw(1, rng)[0], 1, settings.claims, rng)
        frame = pd.DataFrame({"block": known.release.block, "true": matches(codes, known.records).sum(axis=1) == m})
        for name in ASKED:
            frame[name] = counted.posterior(priors[name]).probabilities(codes, m)
        yield frame


def judge_known(result: list[pd.DataFrame | None], seed: int) -> pd.DataFrame:
    """Reliability by tenths and the two scores of every prior, over all blocks that could be counted."""
    counted = pd.concat([frame for frame in result if frame is not None], ignore_index=True)
    reliable = reliability(counted, ASKED, ABOUT, seed).rename(columns={"true": "value"})
    scored = scores(counted, ASKED, ABOUT, seed).assign(bin=-1)
    table = pd.concat([reliable.assign(score="share true"), scored], ignore_index=True)
    blocks = {"blocks": len(result), "counted": sum(frame is not None for frame in result)}
    return table[["source", "score", "bin", "p", "value", "low", "high", "n"]].assign(**blocks)


# All judgements about the probabilities of a study, from its tables and the private records.


def judged(
    claims: pd.DataFrame, rows: pd.DataFrame, ranked: pd.DataFrame, areas: pd.DataFrame, records: pd.DataFrame,
    names: Sequence[str], runs: int, seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:  # fmt: skip
    """
    Reliability, scores and match rates by source, and households singled out. Claims: those drawn at random from one
    generated dataset of each block. Rows: all that some source lists; where RAP-RANK has a part, on the blocks that it was
    run on, a row that it never found with the frequency 0.
    """
    judged_claims = _true_claims(claims, records)
    asked = judged_claims[judged_claims[SAMPLED]]
    ranked = ranked.assign(**{RAP: ranked["runs"] / runs})[["block", *names, RAP]].astype(dict.fromkeys(names, "int16"))
    blocks = set(ranked["block"])
    every = _true_rows(rows.astype(dict.fromkeys(names, "int16")), records, names)
    part = every[every["block"].isin(blocks)]
    listed = part.merge(ranked, on=["block", *names], how="left").fillna({RAP: 0.0})
    sources = (*SOURCES, RAP)
    reliable = [reliability(asked, SOURCES, CLAIMS, seed), reliability(every, SOURCES, ROWS, seed)]
    return (
        pd.concat([*reliable, reliability(listed, (RAP,), ROWS, seed)]),
        pd.concat([scores(asked, SOURCES, CLAIMS, seed), scores(listed, sources, ROWS, seed)]),
        _rates(listed, _true_rows(ranked, records, names), areas, records, names, seed),
        singled_out(judged_claims, len(records), seed),
    )


def _rates(
    listed: pd.DataFrame, ranked: pd.DataFrame, areas: pd.DataFrame, records: pd.DataFrame, names: Sequence[str], seed: int
) -> pd.DataFrame:
    blocks = sorted(set(ranked["block"]))
    part = records[records["block"].isin(blocks)]
    sizes = part.drop_duplicates(["block", *names]).groupby("block", observed=True).size()
    distinct = {str(block): int(size) for block, size in sizes.items()}
    rankings = {source: _ranked_hits(listed, source, distinct, seed) for source in SOURCES}
    rankings[RAP] = _ranked_hits(ranked, RAP, distinct, seed)
    for name in (TRACT, STATE):
        common = _area_rows(areas, blocks, GEOGRAPHY[name], max(distinct.values()))
        judged_rows = _true_rows(common.astype(dict.fromkeys(names, "int16")), records, names)
        rankings[f"{name} alone"] = _ranked_hits(judged_rows, TIMES, distinct, seed)
    return match_rates(rankings, seed)


# Singled out with probability: the table that a policy maker asks for, and what counting took.

SIZES = ((1, 5), (6, 10), (11, 20), (21, 10**9))


def counting_table(blocks: pd.DataFrame) -> pd.DataFrame:
    """By size of the blocks: how many were counted exactly, moves of their diagrams, and the largest number of datasets."""
    rows = []
    for low, high in SIZES:
        part = blocks[blocks["n_households"].between(low, high)]
        if not len(part):
            continue
        exact = part[part["numbers"] == EXACT]
        moves = exact["moves"]
        most = max((int(number) for number in exact["datasets"]), default=0)
        share = 100 * len(exact) / len(part)
        rows.append((f"{low}-{min(high, part['n_households'].max())}", len(part), share, moves.median(), moves.max(), most))
    return pd.DataFrame(rows, columns=["households", "blocks", "exact_percent", "median_moves", "max_moves", "datasets"])


def singled_out_page(table: pd.DataFrame, scored: pd.DataFrame, counted: pd.DataFrame, label: str) -> str:
    said = [_said(row) for row in table.to_dict("records") if row["level"] < 1 or row["prior"] == table["prior"].iloc[0]]
    header = ["prior", "probability", "statements", "false", "95 % interval", "households singled out", "of all households"]
    judged = [_score(row) for row in scored.to_dict("records")]
    about = (
        "A statement says that exactly one household of a block has these codes (as many columns as the study verifies). "
        "At certainty it is proved and never false. Below, it is as likely as stated under the prior, and the share that is "
        "false of the private blocks is counted. Intervals: blocks resampled."
    )
    parts = [about, markdown_table(header, said, left=2), "How right the probabilities are (small scores are good):"]
    parts.append(markdown_table(["about", "source", "score", "value", "95 % interval", "n"], judged, left=3))
    parts.append("What counting took (moves of the diagram of all datasets that fit):")
    header = ["households", "blocks", "counted exactly", "median moves", "most", "most datasets"]
    parts.append(markdown_table(header, map(_size, counted.to_dict("records"))))
    return document("Singled out with probability", label, parts)


def _said(row: Mapping[Any, Any]) -> list[Any]:
    interval = f"{_percent(100 * row['low'])} to {_percent(100 * row['high'])}"
    shares = [_percent(100 * row["false_share"]), interval, row["households"], _percent(row["percent"])]
    said = ["any", "certain (proved)"] if row["level"] == 1 else [_prior(row["prior"]), f"{100 * row['level']:g} % and more"]
    return [*said, row["statements"], *shares]


def _score(row: Mapping[Any, Any]) -> list[Any]:
    value, interval = f"{row['value']:.4f}", f"{row['low']:.4f} to {row['high']:.4f}"
    return [row["about"], _prior(row["source"]), row["score"], value, interval, row["n"]]


def _size(row: Mapping[Any, Any]) -> list[Any]:
    moves = [f"{row['median_moves']:,.0f}", f"{row['max_moves']:,.0f}"]
    return [row["households"], row["blocks"], f"{row['exact_percent']:.0f} %", *moves, f"{row['datasets']:,}"]


def _prior(name: str) -> str:
    return "frequency over generated datasets" if name == GENERATED else name


def _percent(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.1f} %"


# What counting costs: moves per core-second, and peak memory under a budget.

ARRAYS, MEMORY = "states packed into arrays", "memory"


def time_counting(programs: Sequence[Program], budget: Budget) -> dict[str, Any]:
    """Moves and core-seconds of counting all blocks."""
    started = process_time()
    moves = sum(draw_diagram(program, budget).moves for program in programs)
    seconds = process_time() - started
    row = {"what": ARRAYS, "blocks": len(programs), "moves": moves}
    return row | {"core_seconds": seconds, "moves_per_second": moves / seconds}


def measure_memory(release: Release, max_types: int, budgets: Sequence[Budget]) -> pd.DataFrame:
    """Peak memory of counting one block in a process of its own, above what the process held before, for each budget."""
    rows = []
    for budget in budgets:
        result = measure(_count_within, release, max_types, budget)
        row = {"what": MEMORY, "block": release.block, "budget_states": budget.states, "budget_moves": budget.moves}
        row |= {"outcome": result.values.get("outcome", result.ended), "moves": result.values.get("moves")}
        before = result.values.get("before_mb", 0.0)
        rows.append(row | {"peak_mb": result.peak_memory_mb - before, "bound_mb": budget.memory_mb})
    return pd.DataFrame(rows)


def _count_within(release: Release, max_types: int, budget: Budget) -> Iterator[dict[str, Any]]:
    program = build_program(release, max_types)
    yield {"before_mb": peak_memory_mb()}
    try:
        counted = count_release(program, budget)
        counted.posterior(uniform(program.types.domain))
        yield {"outcome": "counted", "moves": counted.diagram.moves, "datasets": str(counted.datasets)}
    except TooManyStates:
        yield {"outcome": "beyond the budget"}
