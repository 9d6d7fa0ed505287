"""How likely is what is not certain: exact probabilities given a release and a prior, or estimates with an interval."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import floor as whole_part
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.attack.generate import generate_block, starting_points
from genverify.attack.verify import Verifier, check_ranges
from genverify.model.arrays import Floats, Ints, row_weights, weighted_keys
from genverify.model.claims import ANY, Claim, Codes, claim_arrays, column_subsets, matches, parse_claim
from genverify.model.domain import Column, Domain
from genverify.model.errors import ConfigError, DataError, GenverifyError, ReleaseError, nearest
from genverify.model.release import Release
from genverify.model.settings import DATASETS
from genverify.model.tablefiles import Expected, naming_unreadable, need_columns, open_csv, plain_text, read_frame
from genverify.model.tabulate import tabulate
from genverify.solve.bounds import Bounder
from genverify.solve.counting import diagram as counting
from genverify.solve.counting import distribution
from genverify.solve.counting.diagram import BUDGET, Budget, TooManyStates
from genverify.solve.counting.distribution import run_chain
from genverify.solve.counting.prior import Masses, Prior, lay_on, sample_prior, uniform
from genverify.solve.datasets import class_vectors, draw_records
from genverify.solve.program import Program, WrongAnswer, build_program
from genverify.solve.program_settings import DEFAULT, ProgramSettings


@dataclass(frozen=True)
class DatasetCount:
    """The datasets that fit a release, counted: how many class vectors and datasets there are, in exact integers."""

    program: Program
    diagram: counting.Diagram

    @cached_property
    def vectors(self) -> int:
        return counting.count_vectors(self.diagram)

    @cached_property
    def datasets(self) -> int:
        return counting.count_datasets(self.diagram, self.program.raw)

    def mixture(self, prior: Prior) -> "Mixture":
        """What follows for a block of some kind, each kind as likely as its share among groups and the release make it."""
        parts = [(share, self.posterior(one)) for share, one in prior.by_kind()]
        from scipy.special import softmax  # a tenth of a second to import, which jobs that count nothing need not take

        evidence = np.array([np.log(share) + part.log_evidence for share, part in parts])
        return Mixture(tuple(part for _, part in parts), softmax(evidence))

    def posterior(self, prior: Prior) -> "Posterior":
        """What follows for records that are drawn independently; an error where the prior rules the release out."""
        masses = lay_on(prior, self.program)
        weights = counting.prior_weights(self.diagram, masses.of_classes, self.program.n)
        result = counting.forward(self.diagram, weights)
        if not result.total > 0:
            without = (masses.of_classes[None, :] * self.program.A).sum(axis=1) == 0
            cells = [self.program.rows[row] for row in np.flatnonzero(without & (self.program.lo > 0))]
            counted = f"cell {cells[0]} counts records, and all that it could hold" if cells else ""
            raise counting.UnlikelyRelease(
                f"block {self.program.release.block}: prior {prior.name} gives probability 0 to the release: "
                f"{counted or 'some record of every dataset that fits'} has weight 0 there. "
                "Give every record that can exist some weight (a floor)."
            )
        return Posterior(self.program, self.diagram, prior, masses, weights, result)


def count_release(program: Program, budget: Budget = BUDGET) -> DatasetCount:
    """Count the datasets that fit a program, within a budget; an error where none does."""
    diagram = counting.draw_diagram(program, budget)
    if not len(diagram.ends):
        raise ReleaseError(
            f"block {program.release.block}: no dataset fits the published counts, so nothing has a probability"
        )
    return DatasetCount(program, diagram)


@dataclass(frozen=True)
class Posterior:
    """All datasets that fit a release, weighed by a prior: N records drawn independently, given the published counts."""

    program: Program
    diagram: counting.Diagram
    prior: Prior
    masses: Masses
    weights: counting.Weights
    forward: counting.Forward

    @property
    def log_evidence(self) -> float:
        """How likely the release is under the prior, up to a term that all priors share."""
        # weights were scaled by the largest
        largest = self.masses.of_classes[self.diagram.most > 0].max(initial=0.0)
        return float(np.log(self.forward.total)) + (self.program.n * float(np.log(largest)) if largest else 0.0)

    def distribution(self, codes: Codes, top: int) -> Floats:
        """P(COUNT = 0), ..., P(COUNT = top), P(COUNT > top) of every row of codes."""
        return distribution.count_distribution(self.diagram, self.weights, self.masses.shares(codes), top)

    def probabilities(self, codes: Codes, m: Ints) -> Floats:
        """P(R(a, m)) of every claim: 1 exactly if it is certain, below 1 if not."""
        result = np.zeros(len(m))
        for top in np.unique(m).tolist():
            asked = np.flatnonzero(m == top)
            shares = self.masses.shares(codes[asked])
            result[asked] = distribution.count_probability(self.diagram, self.weights, shares, top, self.forward.total)
        return result

    def present(self, codes: Codes) -> Floats:
        """The probability that at least one record matches: 1 exactly if that is certain, below 1 if not."""
        absent = self.probabilities(codes, np.zeros(len(codes), dtype=np.int64))
        return np.where(absent > 0, np.clip(1 - absent, 0, np.nextafter(1.0, 0.0)), 1.0)

    @cached_property
    def class_counts(self) -> Floats:
        """The distribution of every class count, a row per class."""
        return counting.class_counts(self.diagram, self.weights, self.forward)

    def rows(self, most: int) -> tuple[Codes, Floats]:
        """The likeliest records with the probability that at least one is there; of those with a floor's weight, some."""
        records, shares, classes = self.masses.listed(self.class_counts[:, 0] < 1, most)
        counts = np.arange(self.class_counts.shape[1])
        absent = (self.class_counts[classes] * (1 - shares[:, None]) ** counts).sum(axis=1)
        order = np.lexsort((*records.T[::-1], -(1 - absent)))[:most]
        return records[order], np.clip(1 - absent[order], 0, 1)

    def draw(self, draws: int, rng: np.random.Generator) -> Codes:
        """Independent datasets, each with its probability: shape (draws, N, columns), the records of each sorted."""
        vectors = distribution.draw_vectors(self.diagram, self.weights, self.forward, draws, rng)
        return np.array([self.masses.draw(z, rng) for z in vectors])


@dataclass(frozen=True)
class Mixture:
    """A block of one of several kinds, each with its probability given the release; one kind where no groups are known."""

    parts: tuple[Posterior, ...]
    shares: Floats

    def distribution(self, codes: Codes, top: int) -> Floats:
        return self._mixed([part.distribution(codes, top) for part in self.parts])

    def probabilities(self, codes: Codes, m: Ints) -> Floats:
        """P(R(a, m)) of every claim: 1 exactly if it is certain, below 1 if not."""
        return self._mixed([part.probabilities(codes, m) for part in self.parts])

    def _mixed(self, values: Sequence[Floats]) -> Floats:
        mixed = np.minimum(np.tensordot(self.shares, np.array(values), 1), np.nextafter(1.0, 0.0))
        certain: Floats = np.where(np.min(values, axis=0) == 1, 1.0, mixed)
        return certain

    def draw(self, draws: int, rng: np.random.Generator) -> Codes:
        times = rng.multinomial(draws, self.shares) if len(self.parts) > 1 else [draws]
        return np.concatenate([part.draw(number, rng) for part, number in zip(self.parts, times, strict=True) if number])


# Probabilities where counting is too much: draws of Markov chains, with an interval on every number.

SURE = 1.96  # standard deviations of a normal distribution to each side: 95 %


@dataclass(frozen=True)
class Effort:
    """Chains, each from its own dataset; draws of each, records that a step draws again, steps between two draws."""

    chains: int = 8
    draws: int = 40
    records: int = 6
    between: int = 3


@dataclass(frozen=True)
class ChainDraws:
    """Datasets drawn by chains: shape (chains, draws, N, columns). Not independent: chains are compared."""

    records: Codes

    def probabilities(self, codes: Codes, m: Ints) -> tuple[Floats, Floats, Floats]:
        """The share of draws in which each claim holds, and an interval (95 %) around it."""
        chains, draws = self.records.shape[:2]
        flat = self.records.reshape(chains * draws, *self.records.shape[2:])
        held = np.array([matches(codes, dataset).sum(axis=1) == m for dataset in flat]).reshape(chains, draws, len(m))
        return interval(held.mean(axis=1), draws)


def interval(means: Floats, draws: float, sure: float = SURE) -> tuple[Floats, Floats, Floats]:
    """
    The mean over chains with a Wilson interval at the number of independent draws that the spread of the chains speaks for:
    that of the claim itself or of all claims together, whichever is smaller, since few chains can agree by chance; at least
    one per chain, at most all. Chains that agree on 0 or 1 do not make it certain.
    """
    chains, mean = len(means), means.mean(axis=0)
    spread = means.var(axis=0, ddof=1) / chains if chains > 1 else np.full(len(mean), np.inf)
    binomial = mean * (1 - mean)
    ratio = np.divide(binomial, spread, out=np.zeros_like(mean), where=spread > 0)
    together = binomial.sum() / spread.sum() if spread.sum() > 0 else 0.0
    n = np.clip(np.minimum(ratio, together), chains, chains * draws)
    centre = (mean + sure**2 / (2 * n)) / (1 + sure**2 / n)
    half = sure * np.sqrt(binomial / n + sure**2 / (4 * n**2)) / (1 + sure**2 / n)
    return mean, np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def estimate(program: Program, prior: Prior, starts: Codes, effort: Effort, seed: int) -> ChainDraws:
    """Chains from datasets that fit (generated ones, shape (K, N, columns)), spread over those given."""
    masses, rng = lay_on(prior, program), np.random.default_rng(seed)
    chains = _chains(masses, prior, starts, effort, rng)
    return ChainDraws(np.array([[masses.draw(step.z, rng) for step in chain] for chain in chains]))


def estimate_claim(
    program: Program, prior: Prior, claim: Claim, starts: Codes, effort: Effort, seed: int
) -> tuple[float, float, float]:
    """The probability of one claim and an interval (95 %): its mean, given the records that each step did not draw again."""
    from scipy.special import stdtrit  # as above

    masses, rng = lay_on(prior, program), np.random.default_rng(seed)
    shares = masses.shares(np.array([claim.codes], dtype=np.int16))[0]
    chains = _chains(masses, prior, starts, effort, rng)
    chances = np.array([[step.chance(shares, claim.m) for step in chain] for chain in chains])
    mean, spread = chances.mean(), chances.var()
    # such a number is worth as many draws as a draw's variance is times its own
    worth = mean * (1 - mean) / spread if spread > 0 else 1.0
    # the spread of few chains is itself uncertain: Student's distribution
    sure = float(stdtrit(max(1, len(chances) - 1), 0.975))
    # draws of a short chain hang together: a chain counts as one number
    value, low, high = interval(chances.mean(axis=1)[:, None], max(1.0, worth), sure)
    return float(value[0]), float(low[0]), float(high[0])


def _chains(
    masses: Masses, prior: Prior, starts: Codes, effort: Effort, rng: np.random.Generator
) -> Iterator[Iterator[distribution.Step]]:
    program = masses.program
    known = [z for z in class_vectors(program, starts) if (masses.of_classes[z > 0] > 0).all()]
    if not known:
        raise GenverifyError(
            f"block {program.release.block}: prior {prior.name} gives weight 0 to a record of every known dataset; "
            "give every record that can exist some weight (a floor)"
        )
    system, records = counting.system_of(program), effort.records
    for index in np.linspace(0, len(known) - 1, effort.chains).round().astype(int).tolist():
        yield run_chain(system, masses.of_classes, known[index], records, effort.draws, effort.between, rng)


WEIGHT, GROUP = "weight", "group"


@dataclass(frozen=True)
class Probability:
    """
    P(exactly m records match | release, prior), `exact` or estimated between `low` and `high` (95 %). Where it was counted,
    `counts` holds P(COUNT = 0), P(COUNT = 1), ... and `datasets` how many datasets fit; 1 then stands for certain only.
    `calibration`, of a sample's prior: what became of statements from it about records that were left out of the sample.
    """

    claim: Claim
    prior: str
    value: float
    low: float
    high: float
    exact: bool
    counts: tuple[float, ...] = ()
    datasets: int | None = None
    calibration: "Calibration | None" = None

    def __str__(self) -> str:
        prior = f"prior: {self.prior}" + (f"; {self.calibration}" if self.calibration else "")
        if self.exact:
            return f"{_percent(self.value)} (exact, {prior})"
        ends = self.value, self.low, self.high
        near = [f"near {_percent(value)}" if value in (0, 1) else _percent(value) for value in ends]
        return f"{near[0]} (estimated, {near[1]} to {near[2]}, {prior})"


def _percent(value: float) -> str:
    """
    A probability to read; what is not certain is never printed as 100 % or 0 %.

    >>> _percent(1.0), _percent(0.9999999), _percent(0.5)
    ('100 %', 'over 99.99 %', '50.00 %')
    """
    if value in (0, 1):
        return f"{100 * value:.0f} %"
    if value > 0.9999:
        return "over 99.99 %"
    return "under 0.01 %" if value < 0.0001 else f"{100 * value:.2f} %"


def probability(
    release: Release, claim: Claim | str, prior: Prior | pd.DataFrame | None = None, floor: float = 0.0,
    budget: Budget = BUDGET, settings: ProgramSettings = DEFAULT, seed: int = 1, effort: Effort | None = None,
    sample: pd.DataFrame | None = None,
) -> Probability:  # fmt: skip
    """
    How likely a claim is given a release: a claim or a text such as `sex=f,age=old,m=1`, with labels or codes.

    `prior` is None (every record of the domain equally likely), a Prior, or a table with a column per column of the release,
    in labels or codes, and `weight`; `floor` is then the weight of records not in the table. `sample` are records of people
    like these, from which a prior is estimated (`prior_from_sample`). What cannot be counted within the budget is proved
    where it is certain or impossible, else estimated with the effort.
    """
    domain = release.schema.domain
    asked = parse_claim(claim, domain) if isinstance(claim, str) else claim
    if sample is not None and (prior is not None or floor):
        raise ConfigError("give a sample, or a prior with its floor: a sample is smoothed by itself")
    given = prior if prior is None or isinstance(prior, Prior) else prior_of(prior, domain, "a table of weights", floor)
    known = (given or uniform(domain)) if sample is None else prior_from_sample(sample, domain)
    result = _probability(settings.bounder(release), known, asked, budget, settings, seed, effort)
    certain = result.exact and result.value in (0, 1)  # of every dataset that fits: no prior has a part in it
    return result if certain else replace(result, calibration=calibration(release, known, seed))


def _probability(
    bounder: Bounder, prior: Prior, claim: Claim, budget: Budget, settings: ProgramSettings, seed: int, effort: Effort | None
) -> Probability:
    """Counted, or else proved, or else estimated."""
    program = bounder.program
    try:
        counted, (codes, _) = count_release(program, budget), claim_arrays([claim])
        counts = counted.mixture(prior).distribution(codes, program.n)[0][:-1].tolist()
        value = counts[claim.m] if claim.m < len(counts) else 0.0
        return Probability(claim, prior.title, value, value, value, True, tuple(counts), counted.datasets)
    except TooManyStates:
        thorough, effort, proved = effort is None, effort or Effort(), Verifier(bounder).range(claim)
    if prior.sample and prior.sample.kinds is not None:  # chains draw records independently, and say so
        alone = replace(prior.sample, groups=None, kinds=None)
        prior = replace(prior, name=f"{prior.name}, groups left aside", sample=alone)
    settled = proved.low == proved.high or not proved.low <= claim.m <= proved.high
    if settled and prior.rules_nothing_out and not proved.limit:
        check_ranges(program, [(claim.predicate(program.types.domain), proved)])
        value = float(proved.low == claim.m)
        return Probability(claim, prior.name, value, value, value, exact=True)
    if thorough:
        starts = generate_block(program.release, settings, DATASETS, seed).records
    else:
        rng = np.random.default_rng(seed)
        points = [np.repeat(np.arange(len(z)), z) for z in starting_points(bounder, rng)]
        starts = draw_records(program, np.array(points), rng)
    return Probability(claim, prior.name, *estimate_claim(program, prior, claim, starts, effort, seed), exact=False)


def prior_of(table: pd.DataFrame, domain: Domain, name: str, floor: float = 0.0) -> Prior:
    """A prior from a table of records, in codes or labels, each with its weight; a duplicated record has both weights."""
    need_columns(f"prior {name}", map(str, table.columns), (*domain.names, WEIGHT))
    try:
        codes = table[list(domain.names)].to_numpy(dtype=np.int16)
    except (TypeError, ValueError):
        codes = np.stack([_codes(column, table[column.name], f"prior {name}") for column in domain.columns], axis=1)
    weights = pd.to_numeric(table[WEIGHT], errors="coerce").to_numpy(dtype=np.float64)
    rows, index = np.unique(codes, axis=0, return_inverse=True)
    summed = np.bincount(index.ravel(), weights, minlength=len(rows)).astype(np.float64)
    return Prior(name, domain, rows, summed, floor)


def prior_from_sample(sample: pd.DataFrame, domain: Domain | Release, name: str = "sample") -> Prior:
    """
    A prior estimated from sampled records, a row each, in labels or codes: back-off smoothing. A column `weight`, if there
    is one, says how often a record was sampled (whole numbers, each record once), else how many people a row stands for. A
    column `group` names the block of each record, where that is known: people of a block may be alike.
    """
    domain = domain.schema.domain if isinstance(domain, Release) else domain
    need_columns(f"sample {name}", map(str, sample.columns), domain.names)
    if not len(sample):
        raise DataError(f"sample {name}: has no records; give some, or no sample: the prior is then uniform")
    codes = np.stack([_codes(column, sample[column.name], f"sample {name}") for column in domain.columns], axis=1)
    given = sample[WEIGHT] if WEIGHT in sample and WEIGHT not in domain.names else pd.Series(1.0, sample.index)
    weights = pd.to_numeric(given, errors="coerce").to_numpy(dtype=np.float64)
    for row, weight in given[~(np.isfinite(weights) & (weights >= 0))].items():
        raise DataError(f"sample {name}: row {row!r}: weight {weight!r} is not a number from 0 on")
    known = sample[GROUP] if GROUP in sample and GROUP not in domain.names else None
    if known is not None and known.isna().any():
        raise DataError(f"sample {name}: a record has no {GROUP}: name the {GROUP} of all records, or leave the column out")
    return sample_prior(name, domain, codes, weights, None if known is None else pd.factorize(known, sort=True)[0])


def _codes(column: Column, values: "pd.Series[Any]", name: str) -> npt.NDArray[np.int16]:
    """The codes of a column of a table: by its labels, or as they are where all values are codes and not labels."""
    texts = values.map(plain_text)
    labels = {meaning: code for code, meaning in column.meaning.items()}
    codes = {str(code): code for code in column.codes}
    known = codes if texts.isin(codes).all() and not texts.isin(labels).all() else labels
    for row, text in texts[~texts.isin(known)].items():
        words = nearest(text, list(labels))
        raise DataError(f"{name}: row {row!r}: column {column.name} has no value {text!r}: {words}")
    return np.array([known[text] for text in texts], dtype=np.int16)


def read_prior(path: Path, domain: Domain, floor: float, sample: bool = False) -> Prior:
    """A prior from a CSV or Parquet file: a table of weights, or a sample."""
    needed = domain.names if sample else (*domain.names, WEIGHT)
    expected = Expected("a sample" if sample else "a table of weights", f"give the columns {', '.join(needed)}")
    with naming_unreadable(path, expected):
        table = read_frame(path) if path.suffix == ".parquet" else open_csv(path, expected).frame(texts=[])
    return prior_from_sample(table, domain, str(path)) if sample else prior_of(table, domain, str(path), floor)


SOME = Budget(states=100_000, moves=400_000, seconds=30.0)
# they only find candidates, whose probability is then computed: SLACK is 1.5 standard deviations of a share of 60
DRAWS = 60
SLACK = 0.1  # draws that make a claim look a little less likely than it is do not hide it


def count_some(program: Program) -> DatasetCount | None:
    """The datasets that fit, counted; None where that takes more than a few seconds."""
    try:
        return count_release(program, SOME)
    except TooManyStates:
        return None


def probable_singletons(
    counted: DatasetCount, prior: Prior, verified: Collection[Claim], min_k: int, least: float, seed: int,
    decided: bool = True,
) -> pd.DataFrame:  # fmt: skip
    """
    Claims about exactly one record that are not verified and have at least this probability, the likeliest first:
    a code per column (none where any will do), k and probability.

    `decided`: no candidate was left open. A verified claim whose probability is not 1, or the reverse, is a bug: an error.
    """
    program = counted.program
    codes, chance = likely_claims(counted.mixture(prior), min_k, least, seed)
    known = {claim.codes for claim in verified if claim.m == 1}
    sure = np.array([tuple(row) in known for row in codes.tolist()], dtype=bool)
    # nothing else is certain where everything is decided and the prior rules no record out
    if (chance[sure] != 1).any() or (decided and prior.rules_nothing_out and (chance[~sure] == 1).any()):
        raise WrongAnswer(
            f"block {program.release.block}: what is verified and what has probability 1 differ. One of the two is wrong: "
            "nothing is reported. Please report this as a bug."
        )
    codes, chance = codes[~sure], chance[~sure]
    frame = pd.DataFrame(codes, columns=list(program.types.domain.names)).astype("Int16").mask(codes == ANY)
    frame = frame.assign(k=(codes != ANY).sum(axis=1), probability=chance)
    frame.insert(0, "block", program.release.block)
    return frame[frame["probability"] >= least].sort_values(["probability", "k"], ascending=False, kind="stable")


def likely_claims(posterior: Mixture, min_k: int, least: float, seed: int, most: int | None = None) -> tuple[Codes, Floats]:
    """Claims about exactly one record that draws make look at least so likely, or `most` of them, with their probability."""
    rng = np.random.default_rng(seed)
    codes = likely_singletons(posterior.draw(DRAWS, rng), min_k, max(least - SLACK, 1 / DRAWS))
    if most is not None and len(codes) > most:
        codes = codes[np.sort(rng.choice(len(codes), most, replace=False))]
    return codes, posterior.probabilities(codes, np.ones(len(codes), dtype=np.int64))


def likely_singletons(datasets: Codes, min_k: int, least: float) -> Codes:
    """The claims with m = 1 that hold in at least this share of the datasets (K, N, columns), a row of codes each."""
    K, N, width = datasets.shape
    if N == 0:
        return np.zeros((0, width), dtype=np.int16)
    records = datasets.reshape(K * N, width).astype(np.int64)
    weights = row_weights(records.max(axis=0) + 1)
    result = [np.zeros((0, width), dtype=np.int16)]
    for columns in column_subsets(width, min_k):
        chosen = list(columns)
        keys = weighted_keys(records[:, chosen], None if weights is None else weights[chosen]).reshape(K, N)
        order = np.argsort(keys, axis=1)
        ranked = np.take_along_axis(keys, order, axis=1)
        apart = ranked[:, 1:] != ranked[:, :-1]
        edge = np.ones((K, 1), dtype=bool)
        single = np.concatenate([edge, apart], axis=1) & np.concatenate([apart, edge], axis=1)
        _, first, times = np.unique(ranked[single], return_index=True, return_counts=True)
        indices = (np.arange(K)[:, None] * N + order)[single][first[times >= least * K]]
        codes = np.full((len(indices), width), ANY, dtype=np.int16)
        codes[:, chosen] = records[indices][:, chosen]
        result.append(codes)
    return np.concatenate(result)


# How well the probabilities of a sample's prior hold: blocks of records that are left out of it are published as the release
# is, and what is then likely and not certain is compared with their records.

JUDGED = (0.99, 0.9)  # what is called all but sure, and likely
BLOCKS = 20  # of left-out records: a few seconds, and several hundred statements of most samples
STATEMENTS = 300  # of one block that are weighed: claims about one record hang together
FEW = Budget(states=24_000, moves=400_000, seconds=1.0)  # a block that takes more is passed over
WEIGHTS_COUNT = "weights are numbers of sampled records (survey weights: divide them by their mean)"
LIKE_RANGES = "left-out counts are published in the ranges that this release has, by the rule that its counts suggest"
LEFT = 2  # parts of the sample that must remain for one that is left out


@dataclass(frozen=True)
class Calibration:
    """By level, how many statements that likely were made about left-out blocks, how many held; what had to be assumed."""

    blocks: int
    statements: Mapping[float, tuple[int, int]]
    assumed: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts, tried = [], "not tried on left-out records: the sample is too small, or counting took too long"
        for level, (said, held) in self.statements.items():
            share = f" ({whole_part(100 * held / said)} %)" if said else ""
            parts.append(f"{held} of {said} statements at {100 * level:.0f} %{share}")
        if self.blocks:
            tried = f"on {self.blocks} blocks of left-out records {' and '.join(parts)} held"
        return "; assumed: ".join([tried, *self.assumed])


def calibration(release: Release, prior: Prior, seed: int = 1) -> Calibration | None:
    """What became of statements about left-out records; none for a prior that is not of a sample."""
    if prior.sample is None:
        return None
    groups = b"" if prior.sample.groups is None else prior.sample.groups.tobytes()
    key = (release.digest, prior.records.tobytes(), prior.weights.tobytes(), groups, seed)
    return release.schema.derived(Calibration, key, lambda: _calibrated(release, prior, seed))


def _calibrated(release: Release, prior: Prior, seed: int) -> Calibration:
    judged = [(np.zeros(0), np.zeros(0, dtype=bool))]  # statements that are likely and not certain, and which are true
    for number, (records, rest) in enumerate(left_out_blocks(prior, release.n, np.random.default_rng(seed))):
        program = build_program(published_alike(release, records), DEFAULT.max_types)
        try:
            counted = count_release(program, FEW)
        except TooManyStates:
            continue
        codes, chances = likely_claims(counted.mixture(rest), 1, min(JUDGED), seed + number, STATEMENTS)
        open_ = (chances >= min(JUDGED)) & (chances < 1)
        judged.append((chances[open_], matches(codes[open_], records).sum(axis=1) == 1))
    chances, true = map(np.concatenate, zip(*judged, strict=True))
    levels = {level: (int((chances >= level).sum()), int(true[chances >= level].sum())) for level in JUDGED}
    assumed = [WEIGHTS_COUNT] if prior.sample and prior.sample.as_counts else []
    assumed += [LIKE_RANGES] if (release.lo < release.hi).any() else []
    return Calibration(len(judged) - 1, levels, tuple(assumed))


def left_out_blocks(prior: Prior, n: int, rng: np.random.Generator) -> Iterator[tuple[Codes, Prior]]:
    """Disjoint blocks of n records of the sample, or its groups of about n, each with the prior of all other records."""
    sample = prior.sample
    if sample is None or not n:
        return
    rows = rng.permutation(np.repeat(np.arange(len(sample.times)), sample.times))
    blocks = [rows[first : first + n] for first in range(0, len(rows) - n + 1, n)] if len(rows) >= (LEFT + 1) * n else []
    if sample.groups is not None:
        of_groups = [rows[sample.groups[rows] == group] for group in rng.permutation(sample.groups.max() + 1)]
        blocks = [block for block in of_groups if n <= 2 * len(block) <= 4 * n]
    for block in blocks[:BLOCKS]:
        weights = np.maximum(sample.weights - np.bincount(block, minlength=len(sample.weights)) * sample.one, 0)
        yield sample.records[block], replace(prior, weights=weights, sample=replace(sample, weights=weights))


def published_alike(release: Release, records: Codes) -> Release:
    """What would be published of other records in the cells of a release."""
    names = release.schema.domain.names
    columns = dict(zip(names, records.T, strict=True))
    counts: Ints = tabulate(columns, np.zeros(1, dtype=np.int64), release.schema.domain, release.queries)[0]
    lo, hi = counts.copy(), counts.copy()
    printed = set(release.lo[release.lo == release.hi].tolist())
    ends = {(most - least, least, most) for least, most in zip(release.lo.tolist(), release.hi.tolist(), strict=True)}
    # a count that it prints nowhere, and that lies in a range which it prints, is printed as that range: the narrowest
    for _, least, most in sorted((end for end in ends if end[0]), reverse=True):
        inside = (counts >= least) & (counts <= most) & ~np.isin(counts, list(printed))
        lo, hi = np.where(inside, least, lo), np.where(inside, most, hi)
    return replace(release, n=len(records), lo=lo, hi=np.minimum(hi, len(records)))
