"""The attack on an area of many records, without exchanges of records: their number grows with the square of the classes."""

from genverify.attack.block import Verified, check_verified, collect
from genverify.attack.generate import generate_block
from genverify.attack.verify import Decision, Verifier
from genverify.core.arraytypes import Ints
from genverify.core.claims import Claim, as_claims, candidate_claims
from genverify.core.release import Release
from genverify.core.timing import NowAndThen, log
from genverify.solve.bounds import Bounder, Limits
from genverify.solve.datasets import class_vectors
from genverify.solve.program import program_of
from genverify.solve.settings import ProgramSettings

LARGE = 300  # records of an area, from which on exchanges of records take longer than linear programs
NODES = 60  # of one question; what needs more is undecided, and counted as such


class LargeBounder(Bounder):
    """A bounder that looks for better points by linear programs alone; proofs are found as before."""

    def better(self, c: Ints, b: int) -> Ints | None:
        return None


class _Told(Verifier):
    """A verifier that says now and then how far it is."""

    def __init__(self, bounder: Bounder) -> None:
        super().__init__(bounder)
        self.asked, self.say = 0, NowAndThen()

    def _question(self, claim: Claim, F: Ints, T: Ints) -> Decision:
        self.asked += 1
        self.say("%d questions about candidate claims asked ...", self.asked)
        return super()._question(claim, F, T)


def bounder_of(release: Release, settings: ProgramSettings) -> Bounder:
    """The bounder of an area, by its size."""
    if release.n < LARGE:
        return settings.bounder(release)
    limits = Limits(min(settings.nodes, NODES), settings.leaves, settings.seconds)
    return LargeBounder(program_of(release, settings.max_types), settings.make_solver(), limits)


def attack_large(release: Release, settings: ProgramSettings, datasets: int, min_k: int, seed: int) -> Verified:
    """Generate, verify and check."""
    found = generate_block(release, settings.proving("the audit of a release"), datasets, seed).records
    bounder = bounder_of(release, settings)
    bounder.seen.extend(class_vectors(bounder.program, found))
    claims = as_claims(*candidate_claims(found, min_k))
    log.info("%d records: %d datasets that fit, %d candidate claims", release.n, len(found), len(claims))
    verified = collect(bounder.program, claims, _Told(bounder).decide(claims), found[0])
    log.info("%d claims hold; checking their proofs", len(verified.claims))
    check_verified(verified)
    return verified
