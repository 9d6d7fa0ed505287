"""
The attack on blocks through the tables of their areas: what block and area counts prove together, block by block.

First it is shown, for all blocks at once, which records no block can have. With these gone most claims follow from the
block's own cells; what is left is asked of all blocks together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from genverify.attack.verify import Decision, Verdict, Verifier, certificate_for, decide, verified_of
from genverify.checker.area_proofs import AreaChecker
from genverify.model.areas import AreaReleases
from genverify.model.arrays import Ints
from genverify.model.claims import Claim, as_claims, candidate_claims, claim_arrays
from genverify.model.errors import ReleaseError
from genverify.model.proof_form import AREAS, new_certificate
from genverify.solve.bounds import Bounder
from genverify.solve.datasets import draw_dataset
from genverify.solve.joint import CHECKS, ByBlocks, Joint, JointBounder, build_joint, counted, possible_classes, walk_blocks
from genverify.solve.program import Program, matched_classes
from genverify.solve.program_settings import DEFAULT, ProgramSettings
from genverify.solve.solvers.base import LinearProgram

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

    @cached_property
    def determined(self) -> int:
        """How many records of the block are known in every column."""
        return sum(claim.m for claim in self.claims if claim.k == len(claim.codes))


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
        for number in self.asked:
            yield self.block(number, min_k)

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
        result: Ints = np.unique(self.datasets[:, self.joint.spans[number]], axis=0)
        return result

    def alone(self, program: Program, number: int, claims: Sequence[Claim]) -> list[Decision]:
        """The claims decided on the block's own program: those that it refutes may still follow from all blocks together."""
        if not claims:
            return []
        bounder = Bounder(program, self.settings.make_solver(), counted(self.settings))
        bounder.learn(list(self.vectors(number)))
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
            bounder = Bounder(replace(program, lo=share, hi=share), self.settings.make_solver(), counted(self.settings))
            bounder.learn([z for z in self.vectors(number) if bounder.program.fits(z)])
            decisions = Verifier(bounder).decide(claims)
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
