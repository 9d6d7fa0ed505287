"""The attack on one release: generate datasets that fit, verify the claims that hold in all of them, check every proof."""

from genverify.attack.block import Verified, verify_block
from genverify.attack.generate import generate_block
from genverify.attack.settings import DATASETS
from genverify.core.release import Release
from genverify.solve.settings import DEFAULT, ProgramSettings


def attack_release(
    release: Release, settings: ProgramSettings = DEFAULT, K: int = DATASETS, min_k: int = 1, seed: int = 1
) -> Verified:
    """Generate, verify and check: every claim that comes out has a proof that the checker accepted."""
    generated = generate_block(release, settings.proving("An attack without a study"), K, seed)
    return verify_block(release, generated.records, settings, min_k)
