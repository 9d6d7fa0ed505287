"""Problem 3: which claims hold in every dataset that fits, each with its proof; the attack on a release, or on areas."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from genverify.attack.generate import generate_block
from genverify.attack.onehot import OneHot, records_of, refuting, wrong_answer
from genverify.checker.certificate import write_proofs
from genverify.checker.record_proofs import AreaChecker, CheckSummary, check_block
from genverify.model.areas import AreaReleases
from genverify.model.arrays import Flags, Ints
from genverify.model.claims import ANY, Claim, Codes, as_claims, candidate_claims, claim_arrays, matches
from genverify.model.domain import Predicate
from genverify.model.errors import ReleaseError
from genverify.model.proof_form import AREAS, AT_LEAST, AT_MOST, EXACTLY, ExhaustedTotal, new_certificate
from genverify.model.release import Release, read_releases, read_schema
from genverify.model.settings import DATASETS
from genverify.model.tablefiles import stack
from genverify.model.tabulate import read_datasets
from genverify.model.work import ProgressLog, progress
from genverify.solve.bounds import Bound, Bounder, Limits, Node, certificate_of
from genverify.solve.datasets import class_vectors, draw_dataset
from genverify.solve.joint import CHECKS, ByBlocks, Joint, JointBounder, build_joint, counted, possible_classes, walk_blocks
from genverify.solve.program import Program, build_program, condition_classes, matched_classes
from genverify.solve.program_settings import DEFAULT, ProgramSettings
from genverify.solve.solvers.base import Infeasible, LinearProgram, Optimal, Solver, Stopped

CELLS_AT_ONCE = 2_000_000  # bounds memory: records times types


def effective_k(program: Program, claims: Sequence[Claim], records: Codes) -> list[int]:
    """The size of the smallest sub-claim that forces the rest among the live types; one search serves a whole record."""
    if not claims:
        return []
    codes = np.array([claim.codes for claim in claims], dtype=np.int16)
    kinds = np.unique(records, axis=0)
    described = np.argmax(matches(codes, kinds), axis=1)
    # a column in which all live types hold the same code says nothing
    columns = zip(program.types.atoms, program.types.table.T, strict=True)
    ways = [{atoms[at] for at in np.unique(indices)} for atoms, indices in columns]
    vary = [column for column, atoms in enumerate(ways) if [len(atom) for atom in atoms] != [1]]
    named = (codes[:, vary] != ANY) @ (1 << np.arange(len(vary)))
    subsets, asked, sizes = np.arange(1 << len(vary)), np.unique(described), np.zeros(len(claims), dtype=np.int64)
    size = np.bitwise_count(subsets).astype(np.int64)
    step = max(1, CELLS_AT_ONCE // max(1, len(program.types)))
    for at in range(0, len(asked), step):
        some = asked[at : at + step]
        for record, forced in zip(some.tolist(), _forced(program, kinds[some], vary), strict=True):
            part = described == record
            distinct, index = np.unique(named[part], return_inverse=True)
            enough = (subsets & ~distinct[:, None] == 0) & (distinct[:, None] & ~(subsets | forced) == 0)
            sizes[part] = np.where(enough, size, len(forced)).min(axis=1)[index]
    return sizes.tolist()


def _forced(program: Program, records: Codes, vary: Sequence[int]) -> Ints:
    """Per record and set of columns, as bits: the columns whose code in the record the set forces among live types."""
    types, columns = program.types, len(vary)
    agrees, differ = np.zeros((2, len(records), len(types)), dtype=np.int64)
    for bit, column in enumerate(vary):
        codes, atoms, at = records[:, column].tolist(), types.atoms[column], types.table[:, column]
        agrees |= np.array([[(code in atom) << bit for atom in atoms] for code in codes])[:, at]
        differ |= np.array([[(atom != (code,)) << bit for atom in atoms] for code in codes])[:, at]
    # `free` of a set holds the columns in which some type differs that agrees with the record on just this set; then each
    # column in turn adds to the sets without it what is free with it, because those types agree on the smaller set as well.
    free: Ints = np.zeros(len(records) << columns, dtype=np.int64)
    np.bitwise_or.at(free, (agrees + (np.arange(len(records))[:, None] << columns)).ravel(), differ.ravel())
    free = free.reshape(len(records), -1)
    for bit in range(columns):
        halves = free.reshape(-1, 2, 1 << bit)
        halves[:, 0] |= halves[:, 1]
    return np.asarray(~free & ((1 << columns) - 1))


SEEN_AT_ONCE = 32  # bounds memory: a column of counts for each dataset


class Verdict(Enum):
    """What became of a claim."""

    VERIFIED = "verified"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    UNCERTIFIED = "uncertified"


@dataclass(frozen=True)
class Decision:
    """A verdict, with proofs of COUNT(a) >= m and <= m if verified; was integer search needed, which limit struck?"""

    claim: Claim
    verdict: Verdict
    lower: Node | None = None
    upper: Node | None = None
    integer: bool = False
    limit: str | None = None


def decide(claim: Claim, bound: Callable[[int, int], Bound]) -> Decision:
    """min sum_F z = m = max sum_T z, the two sides asked in turn: `bound` of sign and b says whether sign COUNT <= b."""
    upper = bound(+1, claim.m)
    if upper.counterexample is not None:
        return Decision(claim, Verdict.REFUTED, integer=upper.integer)
    lower = bound(-1, -claim.m)
    integer = upper.integer or lower.integer
    if lower.counterexample is not None:
        return Decision(claim, Verdict.REFUTED, integer=integer)
    if upper.proof is not None and lower.proof is not None and upper.decided and lower.decided:
        return Decision(claim, Verdict.VERIFIED, lower.proof, upper.proof, integer)
    verdict = Verdict.UNCERTIFIED if upper.decided and lower.decided else Verdict.UNDECIDED
    return Decision(claim, verdict, integer=integer, limit=upper.limit or lower.limit)


@dataclass(frozen=True)
class Range:
    """The exact range of COUNT(a), proved on both sides; where a limit struck, what was seen, without a proof there."""

    low: int
    high: int
    lower: Node | None
    upper: Node | None
    limit: str | None

    def statements(self, condition: Predicate) -> list[dict[str, Any]]:
        """The two ends as statements of a certificate; those without a proof are left out."""
        where = {name: list(codes) for name, codes in condition.clauses}
        ends = ((AT_LEAST, self.low, self.lower), (AT_MOST, self.high, self.upper))
        return [{"goal": goal, "where": where, "m": m, "proof": proof} for goal, m, proof in ends if proof]


def check_ranges(program: Program, ranges: Sequence[tuple[Predicate, Range]]) -> dict[str, Any]:
    """The certificate of many ranges about one release, once it is checked."""
    said = [statement for condition, range_ in ranges for statement in range_.statements(condition)]
    certificate = certificate_of(program.release, program.lemmas, *said)
    check_block(program.release, certificate)
    return certificate


@dataclass
class Verifier:
    """Decides claims of one program; claims that ask the same question share the answer and its proof."""

    bounder: Bounder
    answers: dict[tuple[bytes, int, int], Bound] = field(default_factory=dict)

    def decide(self, claims: Sequence[Claim]) -> list[Decision]:
        """The verdict of each claim; every dataset seen so far refutes, at no cost, what it contradicts."""
        if not claims:
            return []
        codes, m = claim_arrays(claims)
        F, T = matched_classes(self.bounder.program, codes)
        open_ = _hold(F, T, self.bounder.seen, m)
        decisions: list[Decision] = []
        tell = ProgressLog()
        for index, claim in enumerate(claims):
            tell("%d of %d claims decided", index, len(claims))
            if open_[index]:
                before = len(self.bounder.seen)
                sides = {+1: _classes(T, index), -1: _classes(F, index)}
                decisions.append(self._question(claim, sides))
                if len(self.bounder.seen) > before:
                    open_ &= _hold(F, T, self.bounder.seen[before:], m)
            else:
                decisions.append(Decision(claim, Verdict.REFUTED))
        return decisions

    def range(self, claim: Claim) -> "Range":
        """The least and the greatest COUNT(a) over all datasets that fit, each with its proof."""
        return self.range_of(claim.predicate(self.bounder.program.types.domain))

    def range_of(self, condition: Predicate) -> "Range":
        """The same for any condition: the least and the greatest number of records that match it."""
        F, T = condition_classes(self.bounder.program, condition)
        high, upper = self.bounder.maximum(T)
        low, lower = self.bounder.maximum(-F)
        return Range(-low, high, lower.proof, upper.proof, upper.limit or lower.limit)

    def _question(self, claim: Claim, sides: Mapping[int, Ints]) -> Decision:
        return decide(claim, partial(self._bound, sides))

    def _bound(self, sides: Mapping[int, Ints], sign: int, b: int) -> Bound:
        key = (sides[sign].tobytes(), sign, b)
        if key not in self.answers:
            program = self.bounder.program
            row = program.row_of.get(key[0])  # a published cell of just these classes: most claims are about such a cell
            if row is not None and (program.hi[row] if sign > 0 else -program.lo[row]) <= b:
                self.answers[key] = Bound(proof={"kind": "bound", "y": {program.rows[row]: sign}})
            else:
                c = np.zeros(program.classes, dtype=np.int64)
                c[sides[sign]] = sign
                self.answers[key] = self.bounder.at_most(c, b)
        return self.answers[key]


def _classes(matrix: csr_array, index: int) -> Ints:
    return matrix.indices[matrix.indptr[index] : matrix.indptr[index + 1]].astype(np.int64)


def _hold(F: csr_array, T: csr_array, seen: Sequence[Ints], m: Ints) -> Flags:
    """Which claims hold in every dataset with the class counts of one of those seen."""
    flags: Flags = np.ones(len(m), dtype=bool)
    for at in range(0, len(seen), SEEN_AT_ONCE):
        counts = np.stack(seen[at : at + SEEN_AT_ONCE], axis=1)
        flags &= ((F @ counts == m[:, None]) & (T @ counts == m[:, None])).all(axis=1)
    return flags


def cannot_exist(program: Program, claim: Claim, solver: Solver, limits: Limits, max_types: int) -> Bound:
    """Whether COUNT(a) = m in no dataset that fits (footnote 9): a program of its own, since counts may have gaps."""
    known = build_program(program.release, max_types, (claim.predicate(program.types.domain), claim.m))
    return Bounder(known, solver, limits).at_most(np.zeros(known.classes, dtype=np.int64), -1)


def decide_onehot(release: Release, claims: Sequence[Claim], solver: Solver) -> list[Decision]:
    """The verdict of each claim, one solve of Problem 3 each, as in the paper: without a proof, by the solver's word."""
    program, domain, decisions = OneHot(release), release.schema.domain, list[Decision]()
    verdicts = {Optimal: Verdict.REFUTED, Infeasible: Verdict.VERIFIED, Stopped: Verdict.UNDECIDED}
    for claim in claims:
        answer, where = solver.solve(refuting(program, claim)), claim.predicate(domain)
        if isinstance(answer, Optimal):
            count = int(where.matches(dict(zip(domain.names, records_of(release, answer.z).T, strict=True))).sum())
            if count == claim.m:
                raise wrong_answer(release, f"{where} is true of {count} of its records, as claimed")
        limit = answer.limit.value if isinstance(answer, Stopped) else None
        decisions.append(Decision(claim, verdicts[type(answer)], integer=True, limit=limit))
    return decisions


@dataclass(frozen=True)
class VerifiedBlock:
    """What came out of a block: every candidate's decision, effective k and proof of the verified ones, and the work."""

    program: Program
    candidates: tuple[Claim, ...]
    decisions: tuple[Decision, ...]
    effective: tuple[int, ...]
    proof_of: tuple[int | None, ...]
    linear_programs: int = 0
    searches: int = 0

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The proofs as plain values: what is checked is what is stored."""
        return certificate_for(self.program.release, self.program.lemmas, verified_of(self.decisions))

    @property
    def claims(self) -> list[Claim]:
        return [decision.claim for decision in verified_of(self.decisions)]

    def counts(self, verdict: Verdict) -> Counter[int]:
        """How many candidates have this verdict, by k."""
        return Counter(d.claim.k for d in self.decisions if d.verdict is verdict)


def verify_block(
    release: Release, datasets: Codes, settings: ProgramSettings, min_k: int, max_k: int | None = None
) -> VerifiedBlock:
    """Every claim that holds in all generated datasets, decided (Problem 3), with every proof checked."""
    result = decide_block(release, datasets, settings, min_k, max_k)
    check_verified(result)
    return result


def check_verified(verified: VerifiedBlock) -> CheckSummary:
    """Check the certificate of a block."""
    return check_block(verified.program.release, verified.certificate)


def decide_block(
    release: Release, datasets: Codes, settings: ProgramSettings, min_k: int, max_k: int | None = None
) -> VerifiedBlock:
    """Every claim that holds in all generated datasets, decided; the proofs are not checked yet."""
    claims = [one for one in as_claims(*candidate_claims(datasets, min_k)) if max_k is None or one.k <= max_k]
    bounder = settings.bounder(release)
    if settings.proves:
        bounder.learn(class_vectors(bounder.program, datasets))
        decisions = Verifier(bounder).decide(claims)
    else:
        decisions = decide_onehot(release, claims, settings.make_solver())
    result = collect(bounder.program, claims, decisions, datasets[0])
    return replace(result, linear_programs=bounder.linear_programs, searches=bounder.searches)


def collect(program: Program, claims: Sequence[Claim], decisions: Sequence[Decision], records: Codes) -> VerifiedBlock:
    """What is known of each candidate, with the effective k of the verified ones."""
    verified = verified_of(decisions)
    effective = tuple(effective_k(program, [decision.claim for decision in verified], records))
    return VerifiedBlock(program, tuple(claims), tuple(decisions), effective, _number_proofs(verified)[0])


def verified_of(decisions: Sequence[Decision]) -> list[Decision]:
    return [decision for decision in decisions if decision.verdict is Verdict.VERIFIED]


def _number_proofs(verified: Sequence[Decision]) -> tuple[tuple[int | None, ...], tuple[tuple[Node, Node], ...]]:
    """The proof number of each claim, and the proofs; claims that share both halves share one, one-hot claims have none."""
    pairs = [(one.lower, one.upper) if one.lower and one.upper else None for one in verified]
    proofs = {(id(pair[0]), id(pair[1])): pair for pair in pairs if pair}
    number = {key: index for index, key in enumerate(proofs)}
    return tuple(number[id(pair[0]), id(pair[1])] if pair else None for pair in pairs), tuple(proofs.values())


def check_decisions(program: Program, verified: Sequence[Decision]) -> None:
    """Check the proofs of verified claims."""
    check_block(program.release, certificate_for(program.release, program.lemmas, verified))


def certificate_for(release: Release, lemmas: Sequence[ExhaustedTotal], verified: Sequence[Decision]) -> dict[str, Any]:
    """The certificate of verified claims, in the form that the checker reads."""
    names, (proof_of, proofs) = release.schema.domain.names, _number_proofs(verified)
    shown = [(decision.claim, proof) for decision, proof in zip(verified, proof_of, strict=True) if proof is not None]
    said = [{"goal": EXACTLY, "where": claim_where(names, one), "m": one.m, "proof": proof} for one, proof in shown]
    halves = [{"lower": lower, "upper": upper} for lower, upper in proofs]
    return certificate_of(release, lemmas) | {"proofs": halves, "statements": said}


def claim_where(names: Sequence[str], claim: Claim) -> Mapping[str, int]:
    """A claim's codes by column, without the columns that may take any value."""
    return {name: code for name, code in zip(names, claim.codes, strict=True) if code != ANY}


# The attack's results as tables: verified claims, and one row per block.

WITHOUT_PROOF = "without_proof"


# a block, the columns of its domain, its verified claims, and the effective k and the number of the proof of each
ClaimRows = tuple[str, Sequence[str], Sequence[Claim], Sequence[int], Sequence[int | None]]


def claims_frame(verified: VerifiedBlock) -> pd.DataFrame:
    """The verified claims of a block: k, m, a nullable code per column, effective k, the place of the proof (null: none)."""
    return _claims_of([_claim_rows(verified)])


def _claim_rows(verified: VerifiedBlock) -> ClaimRows:
    names, block = verified.program.types.domain.names, verified.program.release.block
    return block, names, verified.claims, verified.effective, verified.proof_of


def _claims_of(rows: Sequence[ClaimRows]) -> pd.DataFrame:
    """The claims of several blocks, made into columns at once."""
    blocks, names, claims, effective, proofs = zip(*rows, strict=True)
    frame = claim_columns(list(chain(*claims)), names[0])
    frame.insert(0, "block", pd.Index(blocks, dtype="str").repeat(list(map(len, claims))))
    nullable = pd.array(list(chain(*proofs)), dtype="Int32")
    proof = nullable if nullable.isna().any() else nullable.to_numpy(dtype=np.int32)
    return frame.assign(effective_k=np.array(list(chain(*effective)), dtype=np.int8), proof=proof)


def claim_columns(claims: Sequence[Claim], names: Sequence[str]) -> pd.DataFrame:
    """Claims as rows: k, m and one column of nullable codes per column of the domain."""
    codes = np.array([claim.codes for claim in claims], dtype=np.int16).reshape(len(claims), len(names))
    counts = {"k": np.array([c.k for c in claims], dtype=np.int8), "m": np.array([c.m for c in claims], dtype=np.int32)}
    columns = dict(zip(names, codes.T.copy(), strict=True))
    return pd.DataFrame(counts | {name: pd.arrays.IntegerArray(held, held == ANY) for name, held in columns.items()})


def _verified_row(verified: VerifiedBlock, settings: ProgramSettings) -> dict[str, Any]:
    """What became of the candidates of a block, by verdict and k, and how; without proofs, how many have none."""
    decided = [d for d in verified.decisions if d.verdict in (Verdict.VERIFIED, Verdict.REFUTED, Verdict.UNCERTIFIED)]
    program, columns = verified.program, len(verified.program.types.domain.names)
    row: dict[str, Any] = {"block": program.release.block, "types": len(program.types), "classes": program.classes}
    row |= {"solver": settings.solver, "decided_lp": sum(not d.integer for d in decided)}
    row |= {"decided_ip": sum(d.integer for d in decided)}
    row["limits"] = ", ".join(sorted({d.limit for d in verified.decisions if d.limit}))
    tallies = {"candidates": Counter(claim.k for claim in verified.candidates)}
    tallies |= {verdict.value: verified.counts(verdict) for verdict in Verdict}
    for name, tally in tallies.items():
        row |= {f"{name}_k{k}": tally[k] for k in range(1, columns + 1)}
    return row if settings.proves else row | {WITHOUT_PROOF: verified.proof_of.count(None)}


def verify_batch(
    schema: Path, counts: Path, datasets: Path, settings: ProgramSettings, min_k: int, claims: Path, rows: Path, proofs: Path
) -> None:
    """Three files about the blocks of a file of counts, all proofs checked: verified claims, a row each, certificates."""
    releases = list(read_releases(counts, read_schema(schema)))
    generated, parts = read_datasets(datasets, releases), list[tuple[ClaimRows, dict[str, Any], Any]]()
    for release in progress(releases, "blocks verified"):
        verified = verify_block(release, generated[release.block], settings, min_k)
        parts.append((_claim_rows(verified), _verified_row(verified, settings), verified.certificate))
    stack([_claims_of([one for one, _, _ in parts])] if parts else []).to_parquet(claims, index=False)
    stack([pd.DataFrame([row for _, row, _ in parts])] if parts else []).to_parquet(rows, index=False)
    write_proofs((certificate for _, _, certificate in parts), proofs)


def attack_release(
    release: Release, settings: ProgramSettings = DEFAULT, K: int = DATASETS, min_k: int = 1, seed: int = 1
) -> VerifiedBlock:
    """Generate, verify and check: every claim that comes out has a proof that the checker accepted."""
    generated = generate_block(release, settings.proving("An attack without a study"), K, seed)
    return verify_block(release, generated.records, settings, min_k)


# The attack on blocks through the tables of their areas: what block and area counts prove together, block by block.
#
# First it is shown, for all blocks at once, which records no block can have. With these gone most claims follow from the
# block's own cells; what is left is asked of all blocks together.

DRAWS = 4  # datasets from each class vector, whose records may differ within a class: more refute more before a search
VECTORS = 12  # class counts of a block from which candidates are drawn; all others are compared with these
ONE_SEARCH = 20_000_000  # coefficients of the program of all blocks up to which one search gives a first dataset
SHARES = 4  # of a block in the areas' cells, at each of which its own program may refute a claim


@dataclass(frozen=True)
class VerifiedAreaBlock:
    """What came out of a block: claims, what is open, certificates from its own records, and from all blocks together."""

    number: int
    block: str
    n: int
    claims: tuple[Claim, ...]
    alone: dict[str, Any] | None
    together: dict[str, Any] | None
    undecided: tuple[Claim, ...]

    @property
    def certificates(self) -> list[dict[str, Any]]:
        return [certificate for certificate in (self.alone, self.together) if certificate]


class AreaAttack:
    """The attack on all blocks of some areas, or on some; `shared` is the part of its proofs that all blocks share."""

    def __init__(
        self, levels: AreaReleases, settings: ProgramSettings = DEFAULT, K: int = 20, seed: int = 1,
        asked: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        self.levels, self.settings, self.seed, self.rng = levels, settings, seed, np.random.default_rng(seed)
        self.asked = range(len(levels.blocks)) if asked is None else asked
        whole = build_joint(levels, settings.max_types)
        lp = settings.make_solver().linear_program(whole.A, whole.lo, whole.hi)
        starts = self.starts(whole, lp, K)
        walked = walk_blocks(whole, starts, self.rng)
        solver = settings.make_solver()
        classes, nobody, datasets, programs = possible_classes(whole, solver, lp, [*starts, *walked], self.asked)
        self.joint = whole.restricted(classes)
        self.bounder = JointBounder(self.joint, settings, np.array(datasets)[:, classes])
        self.bounder.linear_programs = programs
        lemmas = {program.release.block: [lemma.as_dict() for lemma in program.lemmas] for program in whole.programs}
        parts = {"lemmas": {block: result for block, result in lemmas.items() if result}, "nobody": list(nobody)}
        self.shared = new_certificate(AREAS, whole.release.block, whole.release.digest, **parts)
        self.checker = AreaChecker(levels, self.shared)

    def starts(self, whole: Joint, lp: LinearProgram, K: int) -> list[Ints]:
        """Datasets of all blocks by random objectives, each once; block by block where one search is too large."""
        solver, rng = self.settings.make_solver(CHECKS), np.random.default_rng(self.seed)
        by_blocks = ByBlocks(whole, solver, lp)
        large = whole.A.shape[0] * whole.A.shape[1] > ONE_SEARCH
        datasets: dict[bytes, Ints] = {}
        for _ in range(K):
            objective = rng.standard_normal(whole.A.shape[1])
            z = None if large else whole.best(solver, objective)
            if z is None and whole.A.shape[1]:
                z = by_blocks.dataset(objective)
            if z is not None:
                datasets[z.tobytes()] = z
        if not datasets:
            names = ", ".join(area.release.block for area in self.levels.areas) or "the blocks"
            raise ReleaseError(
                f"no dataset fits all tables of {names} together, or none was found within program.nodes and "
                f"{CHECKS:,} checks of a search; where the counts are exact, block and area tables contradict each other"
            )
        return list(datasets.values())

    @property
    def datasets(self) -> Ints:
        """Class counts of every dataset that was met, the first one found first."""
        return self.bounder.datasets

    def blocks(self, min_k: int = 1) -> Iterator[VerifiedAreaBlock]:
        """What holds in all datasets, block by block, with every proof checked."""
        return (self.block(number, min_k) for number in self.asked)

    def block(self, number: int, min_k: int = 1) -> VerifiedAreaBlock:
        """What is proved about one block, with every proof checked."""
        program = self.joint.programs[number]
        candidates = self.candidates(number, min_k)
        from_block = verified_of(self.alone(program, number, candidates))
        alone = certificate_for(program.release, program.lemmas, from_block) if from_block else None
        if alone:
            self.checker.alone(number, alone)
        proved = {decision.claim for decision in from_block}
        decisions = self.together(number, [claim for claim in candidates if claim not in proved])
        more = verified_of(decisions)
        of_all = [replace(decision, claim=Claim((number + 1, *decision.claim.codes), decision.claim.m)) for decision in more]
        together = certificate_for(self.joint.release, (), of_all) if of_all else None
        if together:
            self.checker.together(together)
        claims = tuple(decision.claim for decision in (*from_block, *more))
        open_ = tuple(d.claim for d in decisions if d.verdict in (Verdict.UNDECIDED, Verdict.UNCERTIFIED))
        return VerifiedAreaBlock(number, program.release.block, program.n, claims, alone, together, open_)

    def candidates(self, number: int, min_k: int) -> list[Claim]:
        """The claims that hold in every dataset that was met."""
        program, vectors = self.joint.programs[number], self.vectors(number)
        draws = 1 if int(program.types.raw.sum()) == program.classes else DRAWS  # 1: a class holds one kind of record
        drawn = [draw_dataset(program, z, self.rng) for z in vectors[:VECTORS] for _ in range(draws)]
        codes, m = candidate_claims(np.array(drawn), min_k)
        if not len(m):
            return []
        F, T = matched_classes(program, codes)
        holds = ((m[:, None] == F @ vectors.T) & (m[:, None] == T @ vectors.T)).all(axis=1)
        return as_claims(codes[holds], m[holds])

    def vectors(self, number: int) -> Ints:
        """The distinct class counts of a block in the datasets that were met."""
        return np.asarray(np.unique(self.datasets[:, self.joint.spans[number]], axis=0))

    def alone(self, program: Program, number: int, claims: Sequence[Claim]) -> list[Decision]:
        """The claims decided on the block's own program: those that it refutes may still follow from all blocks together."""
        bounder = Bounder(program, self.settings.make_solver(), counted(self.settings))
        bounder.learn([z for z in self.vectors(number) if program.fits(z)])
        return Verifier(bounder).decide(claims)

    def together(self, number: int, claims: Sequence[Claim]) -> list[Decision]:
        """The claims decided on the program of all blocks; after each dataset that is met, the block alone refutes again."""
        left, decisions, used = list(claims), list[Decision](), set[bytes]()
        while left:
            left = self.not_refuted(number, left, used)
            met = len(self.datasets)
            while left and len(self.datasets) == met:
                decisions.append(self.decide(number, left.pop(0)))
        return decisions

    def not_refuted(self, number: int, claims: Sequence[Claim], used: set[bytes]) -> list[Claim]:
        """The claims that no dataset contradicts which differs from a known one in this block only, its shares kept."""
        program, span = self.joint.programs[number], self.joint.spans[number]
        shares = {share.tobytes(): share for share in self.datasets[:, span] @ program.A.T.astype(np.int64)}
        fresh = [key for key in shares if key not in used][:SHARES]
        used.update(fresh)
        for share in (shares[key] for key in fresh):
            decisions = self.alone(replace(program, lo=share, hi=share), number, claims)
            claims = [decision.claim for decision in decisions if decision.verdict is not Verdict.REFUTED]
        return list(claims)

    def decide(self, number: int, claim: Claim) -> Decision:
        """min sum_F z = m = max sum_T z, over the datasets of all blocks."""
        matched = matched_classes(self.joint.programs[number], claim_arrays([claim])[0])
        F, T = (matrix.toarray()[0].astype(np.int64) for matrix in matched)
        vectors = self.datasets[:, self.joint.spans[number]]
        if ((vectors @ F != claim.m) | (vectors @ T != claim.m)).any():
            return Decision(claim, Verdict.REFUTED)
        return decide(claim, lambda sign, b: self.bounder.at_most(number, T if sign > 0 else -F, b))
