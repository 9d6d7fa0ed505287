"""Protected counts of blocks (swapped, noised, made consistent), and the attack on them: which claims are true."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.sparse import csc_array, csr_array

from genverify.attack.evaluate import Evaluation, Weights, evaluate, ratio_interval
from genverify.attack.generate import generate_block
from genverify.attack.verify import Verdict, VerifiedBlock, verify_block
from genverify.model.arrays import Flags, Ints
from genverify.model.claims import ATTACKED, CONTRADICTORY, UNDECIDED, Codes, candidate_claims, false_claims, matches
from genverify.model.domain import EVERY, Domain, Predicate, Rule, read_domain
from genverify.model.errors import ConfigError, DataError, NoDatasetError, nearest
from genverify.model.query import clip_rule
from genverify.model.release import TOTAL, Release, Schema, ranges_frame, read_study
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import tabulate_counts
from genverify.model.work import derive_seed
from genverify.solve.admissible import TooManyTypes, live_types
from genverify.solve.bounds import certificate_of
from genverify.solve.datasets import draw_dataset
from genverify.solve.program import Program, classes_of, matched_classes
from genverify.solve.program_settings import ProgramSettings
from studies.country.noise import sample, width
from studies.country.sample import batch_of
from studies.country.store import GEOGRAPHY, Types, read_microdata
from studies.country.swapping import Records, swap_areas
from studies.gtv.baselines import binomial, count_priors
from studies.gtv.settings import ProtectedNoise, Protection, SwapColumns

# Kinds of records: those that can exist, the ones together that no query distinguishes.


@dataclass(frozen=True)
class Kinds:
    """The classes of a program that knows nothing of a block; `inside` says which kinds (rows) lie in which queries."""

    program: Program
    inside: csr_array

    @cached_property
    def varies(self) -> Flags:
        """The queries that some records lie in and others do not. The rest are 0 or N, whatever the data are."""
        lying = self.inside.sum(axis=0)
        flags: Flags = (lying > 0) & (lying < self.inside.shape[0])
        return flags

    @cached_property
    def lying_in(self) -> list[Ints]:
        """The kinds that lie in each query."""
        columns = csc_array(self.inside)
        return np.split(columns.indices, columns.indptr[1:-1])

    @cached_property
    def lies_in(self) -> list[Ints]:
        """The queries that each kind lies in."""
        return np.split(self.inside.indices, self.inside.indptr[1:-1])

    def counts(self, kinds: Ints) -> Ints:
        """The count of every query over records of these kinds."""
        queries = [np.zeros(0, dtype=np.int64), *(self.lies_in[kind] for kind in kinds.tolist())]
        return np.bincount(np.concatenate(queries), minlength=self.inside.shape[1])

    def most(self, queries: Flags) -> int:
        """The most of these queries that one record lies in."""
        return int((self.inside @ queries.astype(np.int64)).max(initial=0))

    def records(self, kinds: Ints, rng: np.random.Generator) -> Codes:
        """Records of these kinds, drawn at random and sorted."""
        return draw_dataset(self.program, np.bincount(kinds, minlength=self.program.classes), rng)

    def matching(self, codes: Codes) -> Flags:
        """The kinds of which some record matches the codes of a claim."""
        _, touched = matched_classes(self.program, codes[None, :])
        flags: Flags = touched.toarray()[0] > 0
        return flags


def _possible_schema(domain: Path, settings: ReleaseSettings) -> Schema:
    """What is published, with all that is known of records beforehand: the structural rules, and what the universe keeps."""
    schema = read_study(domain, settings.but(structural_zeros=True))
    keeps = Rule("universe", EVERY, (read_domain(domain).universe(settings.universe).keeps,))
    return replace(schema, rules=(clip_rule(keeps, schema.domain), *schema.rules))


def build_kinds(schema: Schema, max_types: int) -> Kinds:
    """The kinds of the records that the rules of a schema allow."""
    predicates = [query.predicate for query in schema.queries]
    types = live_types(schema.domain, predicates, schema.rules, max_types)
    A, class_of = classes_of(np.array([types.inside(predicate) for predicate in predicates]))
    cells, zeros = np.arange(len(predicates)), np.zeros(len(predicates), dtype=np.int64)
    nothing = Release(schema, "", 0, cells, zeros, zeros)
    program = Program(nothing, types, (), tuple(query.id for query in schema.queries), A, zeros, zeros, class_of)
    return Kinds(program, csr_array(A.T).astype(np.int64))


def _queries_of(schema: Schema, tables: str | Sequence[str]) -> Flags:
    """The queries of the named tables (names and patterns), or all of them."""
    names = [query.table for query in schema.queries]
    patterns = ["*"] if tables == "all" else list(tables)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            known = nearest(pattern, list(dict.fromkeys(names)))
            raise ConfigError(f"config.yaml: protected: noise is measured on the unknown table {pattern!r}: {known}")
    return np.array([any(fnmatchcase(name, pattern) for pattern in patterns) for name in names], dtype=bool)


# Datasets near given counts, by local search: noisy counts made consistent, and datasets that fit ranges of counts.

KICKS = 20  # shakes of a search that is stuck: bounds time; the best that was met counts
DROPPED = 5  # records that a shake takes out
NEVER = 2**60  # above every score, with room for sums in 64 bits


@dataclass(frozen=True)
class TargetRanges:
    """Ranges that counts should lie in; the error of a count is the square of its distance to its range."""

    lo: Ints
    hi: Ints

    def errors(self, counts: Ints) -> Ints:
        away: Ints = np.maximum(np.maximum(self.lo - counts, counts - self.hi), 0)
        return away * away


class Search:
    """Looks for n records with small errors, replacing one at a time, ties at random; `barred` kinds are left alone."""

    def __init__(
        self, kinds: Kinds, wanted: TargetRanges, n: int, rng: np.random.Generator, barred: Flags | None = None
    ) -> None:
        self.kinds, self.wanted, self.n, self.rng = kinds, wanted, n, rng
        self.barred: Flags = np.zeros(kinds.program.classes, dtype=bool) if barred is None else barred
        self.rates = np.zeros(len(wanted.lo), dtype=np.int64)
        self.scores = np.where(self.barred, NEVER, 0)

    def nearest(self, start: Ints | None = None, kicks: int = KICKS) -> Ints:
        """The kinds of n records: filled up and improved, then shaken a few times; the best that was met."""
        best = self._improved(self._filled(np.zeros(0, dtype=np.int64) if start is None else start))
        for _ in range(kicks):
            if self.error(best) == 0:
                break
            tried = self._improved(self._filled(self.rng.permutation(best)[DROPPED:]))
            best = tried if self.error(tried) <= self.error(best) else best
        return best

    def error(self, records: Ints) -> int:
        return int(self.wanted.errors(self.kinds.counts(records)).sum())

    def added(self, records: Ints) -> Ints:
        """The records and one more, the best."""
        return np.append(records, self._pick(self._changes(records)))

    def _filled(self, records: Ints) -> Ints:
        while len(records) < self.n:
            records = self.added(records)
        return records

    def _improved(self, records: Ints) -> Ints:
        records, before = records.copy(), self.error(records) + 1
        while self.error(records) < before:
            before = self.error(records)
            for index in self.rng.permutation(np.flatnonzero(~self.barred[records])):
                records[index] = self._pick(self._changes(np.delete(records, index)))
        return records

    def _changes(self, records: Ints) -> Ints:
        """By how much one more record of each kind would change the error; brought up to date where a count has changed."""
        counts = self.kinds.counts(records)
        rates = self.wanted.errors(counts + 1) - self.wanted.errors(counts)
        for query in np.flatnonzero(rates != self.rates):
            self.scores[self.kinds.lying_in[query]] += rates[query] - self.rates[query]
        self.rates = rates
        return self.scores

    def _pick(self, changes: Ints) -> int:
        return int(self.rng.choice(np.flatnonzero(changes == changes.min())))


# Discrete Gaussian noise on the counts of a block, and what is published of them afterwards.
#
# N is known, so two datasets are neighbours if one record of a block is replaced by another. That changes at most 2 d
# counts, each by 1, where d is the most measured queries that a record lies in: the squared L2 sensitivity is at most 2 d.
# Independent discrete Gaussian noise of parameter sigma^2 on every measured count is then 2 d / (2 sigma^2)-zCDP (Canonne,
# Kamath, Steinke 2020). So with sigma^2 = d / rho the noisy counts are rho-zCDP, and so is whatever is made of them; the
# counts of all blocks together as well, because a record lies in one block. Queries that every record answers alike say
# nothing and get no noise.


def _noise_variance(most: int, rho: float) -> Fraction:
    """sigma^2 with which noisy counts are rho-zCDP, where a record lies in at most that many of them."""
    if not 0 < rho < float("inf"):
        raise ConfigError(f"a budget rho of {rho}: give a number above 0 (the smaller, the more noise)")
    return Fraction(most) / Fraction(str(rho))


def half_width(sigma2: Fraction, queries: int, confidence: float) -> int:
    """w such that with this confidence no noise of a block exceeds it; the chance is shared evenly among its queries."""
    if not 0 < confidence < 1:
        raise ConfigError(f"a confidence of {confidence}: give a number above 0 and below 1; at 1 intervals say nothing")
    return width(sigma2, (1 - confidence) / max(1, queries))


@dataclass(frozen=True)
class Noise:
    """
    Noise of parameter sigma^2 on some queries. With a half-width w, every noisy count is published as a range, plus or
    minus w; without one, the counts of a dataset near the noisy ones are published, as exact numbers.
    """

    kinds: Kinds
    noised: Flags
    sigma2: Fraction
    half_width: int | None

    @classmethod
    def of(cls, kinds: Kinds, measured: Flags, rho: float, confidence: float | None) -> "Noise":
        """The noise of a budget on the measured queries; with a confidence it is published as ranges."""
        noised = measured & kinds.varies
        sigma2 = _noise_variance(kinds.most(noised), rho)
        off = None if confidence is None else half_width(sigma2, int(noised.sum()), confidence)
        return cls(kinds, noised, sigma2, off)

    @property
    def published(self) -> Flags:
        """The queries that the release speaks of: all of them, or those that have a range."""
        everything: Flags = np.ones(len(self.noised), dtype=bool)
        return everything if self.half_width is None else self.noised | ~self.kinds.varies

    def publish(self, counts: Ints, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """
        The least and the greatest number that is known for each count of a block afterwards, from the true counts.

        A count that is not measured lies between 0 and N. A noisy count below -w or above N + w leaves no number: lo > hi.
        """
        noisy = counts[self.noised] + sample(self.sigma2, int(self.noised.sum()), rng)
        lo = np.where(self.kinds.varies, 0, counts)
        hi = np.where(self.kinds.varies, n, counts)
        if self.half_width is None:
            lo[self.noised] = hi[self.noised] = noisy
            counts = self.kinds.counts(Search(self.kinds, TargetRanges(lo, hi), n, rng).nearest())
            return counts, counts
        lo[self.noised] = np.maximum(noisy - self.half_width, 0)
        hi[self.noised] = np.minimum(noisy + self.half_width, n)
        return lo, hi


def describe(protection: Protection, noise: Noise | None) -> dict[str, Any]:
    """A protection in numbers, for whoever reads the results: its settings, and the noise that follows from them."""
    part = dict(protection.noise or dict.fromkeys(ProtectedNoise.model_fields))
    tables = part["tables"] if isinstance(part["tables"], str | None) else " ".join(part["tables"])
    about: dict[str, Any] = {"noised_queries": 0, "noise_sd": 0.0, "half_width": None}
    if noise:
        about = {"noised_queries": int(noise.noised.sum()), "noise_sd": round(float(noise.sigma2) ** 0.5, 6)}
        about["half_width"] = noise.half_width
    return {"swap": protection.swap, **part, "tables": tables, **about}


# Protected counts of blocks: households swapped before they are counted, counts noised before they are published.

BLOCKS_OF_A_TRACT = 10 ** (GEOGRAPHY["block"] - GEOGRAPHY["tract"])  # ids that the digits after the tract allow


def _swapped(
    records: pa.Table, rate: float, swapping: SwapColumns, columns: Sequence[str], state: str, seed: int
) -> pa.Table:
    """The records of a state: every place as it was, a share of them with the columns of another."""
    block = records["block"].cast(pa.string()).cast(pa.int64()).to_numpy()
    values = {name: records[name].to_numpy().astype(np.int64) for name in columns}
    for name in (*swapping.key, swapping.size):
        if name not in values:
            raise ConfigError(f"config.yaml: protected.swapping: no column {name!r}: {nearest(name, list(columns))}")
    key, attributes = np.column_stack([values[name] for name in swapping.key]), np.column_stack(list(values.values()))
    seen = Records(block, block // BLOCKS_OF_A_TRACT, key, attributes, values[swapping.size])
    source = swap_areas(np.full(len(block), state), seen, rate, seed)
    return records.select(list(columns)).take(pa.array(source)).append_column("block", records["block"])


@dataclass(frozen=True)
class Source:
    """The blocks whose counts are published, the microdata that they are counted in, and what is counted."""

    microdata: Path
    domain: Path
    release: ReleaseSettings
    blocks: Collection[str]


@dataclass(frozen=True)
class ProtectedCounts:
    """Published counts (block, query, lo, hi), the schema that says which records are possible, and the protection."""

    possible: Schema
    counts: pd.DataFrame
    how: Mapping[str, Any]

    def batches(self, number: int) -> list[pd.DataFrame]:
        """The counts, dealt out by block."""
        batches = self.counts["block"].map(batch_of(self.counts["block"], number))
        return [self.counts[batches == batch] for batch in range(number)]


def protect_counts(
    source: Source, how: Protection, swapping: SwapColumns, max_types: int, seed: int, purpose: str
) -> ProtectedCounts:
    """The counts of the blocks under a protection: households swapped, then counted, then noise on the counts."""
    possible = _possible_schema(source.domain, source.release)
    noise = None
    if how.noise:
        measured = _queries_of(possible, how.noise.tables)
        noise = Noise.of(build_kinds(possible, max_types), measured, how.noise.rho, how.noise.confidence)
    keeps = read_domain(source.domain).universe(source.release.universe).keeps
    records = _read_blocks(source.microdata, source.blocks, keeps, possible.domain.names, how.swap, swapping, seed)
    return ProtectedCounts(possible, publish(records, possible, noise, seed, purpose), describe(how, noise))


def _read_blocks(
    folder: Path, blocks: Collection[str], keeps: Predicate, columns: Sequence[str], rate: float, swapping: SwapColumns,
    seed: int,
) -> pa.Table:  # fmt: skip
    """The records of the given blocks as they are to be counted; swapping looks at the whole of every state with a block."""
    if rate == 0:
        return _in_universe(read_microdata(folder, blocks=blocks), keeps)
    parts = []
    for state in sorted({block[: GEOGRAPHY["state"]] for block in blocks}):
        records = _in_universe(read_microdata(folder, states=[state]), keeps)
        moved = _swapped(records, rate, swapping, columns, state, seed)
        wanted = np.isin(moved["block"].cast(pa.string()).to_numpy(zero_copy_only=False), list(blocks))
        parts.append(moved.filter(pa.array(wanted)))
    return pa.concat_tables(parts).unify_dictionaries()


def _in_universe(records: pa.Table, keeps: Predicate) -> pa.Table:
    flags = keeps.matches({name: records[name].to_numpy() for name in keeps.columns}) if keeps.columns else None
    return records if flags is None else records.filter(pa.array(flags))


def publish(records: pa.Table, schema: Schema, noise: Noise | None, seed: int, purpose: str) -> pd.DataFrame:
    """What is published about every block, as ranges of counts (block, query, lo, hi); exact ones without noise."""
    if noise:
        _check_possible(records, schema.rules)
    names, sizes, counts = tabulate_counts(records, Predicate(()), schema)
    cells = np.flatnonzero(noise.published) if noise else np.arange(len(schema.queries))
    releases = []
    for block, n, count in zip(names, sizes.tolist(), counts, strict=True):
        rng = np.random.default_rng(derive_seed(seed, "noise", purpose, block))
        lo, hi = noise.publish(count, n, rng) if noise else (count, count)
        releases.append(Release(schema, block, n, cells, lo[cells], hi[cells]))
    return ranges_frame(releases)


def _check_possible(records: pa.Table, rules: Sequence[Rule]) -> None:
    columns: Mapping[str, Any] = {name: records[name].to_numpy() for name in records.column_names if name not in GEOGRAPHY}
    for rule in rules:
        wrong = np.flatnonzero(rule.excludes(columns))
        if wrong.size:
            raise DataError(
                f"{wrong.size} records break the rule {rule.name!r}, the first of them in block "
                f"{records['block'][int(wrong[0])]}, so the noise would not have the stated guarantee. Correct "
                "the rules of the domain file, or the records."
            )


# The attack on protected counts of a block: claims verified from the release, which need not be true of the private block.
#
# Exact counts are attacked as in the study. Ranges leave so many record types open that the program may be too large to
# build. So datasets that fit are searched first, each made to contradict a claim that is still a candidate: where none is
# left, nothing can be verified. Only otherwise is the program built; if it is too large, what is left is undecided.

FAILURES = 20  # in a row, after which the candidates left are taken as found: bounds time
REFUTING_KICKS = 3  # of a search that only has to contradict a claim: fewer than for the first dataset


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
        """A dataset with another number of records that can match the claim: one taken out, or put in for another."""
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
        records = search.nearest(start, REFUTING_KICKS)
        return records if search.error(records) == 0 else None


# How claims that were verified from a protected release stand in the private blocks: true or false.

COUNTED = ["claims", "false", "singleton_claims", "singleton_false", "households_singled_out"]
KINDS = {"all": ("claims", "false"), "singleton": ("singleton_claims", "singleton_false")}


def judge(claims: pd.DataFrame, blocks: pd.DataFrame, records: pd.DataFrame) -> pd.DataFrame:
    """The blocks with their claims, the false ones (COUNT != m), singletons (m = 1), and households truly singled out."""
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
    weights = Weights(["all"] * len(judged), seed)
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
    """For each k, how likely claims about one household are under priors of the private records: median to maximum."""
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
    return {"block": block, "n_households": n, "status": status, "undecided_claims": undecided}
