"""The attack on a block for Tables 4, 5 and 7 at once: its claims, and which are left where answers are withheld."""

import numpy as np
import pandas as pd

from genverify.attack.block import verify_block
from genverify.attack.generate import generate_block
from genverify.attack.tables import claim_columns
from genverify.core.release import Release
from genverify.papers.gtv.zeros.decide import publish_less, survivors
from genverify.papers.gtv.zeros.explain import WITHHELD
from genverify.solve.settings import ProgramSettings


def attack_block(
    release: Release, settings: ProgramSettings, K: int, min_k: int, seed: int
) -> tuple[pd.DataFrame, dict[str, object]]:
    """
    The claims, with a column for each variant: is it verified from the answers that this publishes? Every proof is checked.

    Only claims about a single household are decided again, as in Table 5. And the block: its answers, whether it is unique.
    """
    generated = generate_block(release, settings, K, seed)
    claims = verify_block(release, generated.records, settings, min_k).claims
    found = claim_columns(claims, release.schema.domain.names)
    found.insert(0, "block", release.block)
    single = np.array([claim.m == 1 for claim in claims], dtype=bool)
    singles = [claim for claim in claims if claim.m == 1]
    for variant, withhold in WITHHELD.items():
        verified = np.ones(len(claims), dtype=bool)
        if withhold:
            verified[:] = False
            verified[single] = survivors(publish_less(release, withhold, ()), singles, settings, check=True).verified
        found[f"verified_{variant}"] = verified
    zeros, ones = (int((release.lo == answer).sum()) for answer in (0, 1))
    told = {"queries": len(release.schema.queries), "zeros": zeros, "ones": ones, "unique": generated.unique}
    return found, {"block": release.block, **told}
