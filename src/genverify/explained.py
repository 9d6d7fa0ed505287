"""The answer to "explain this claim": its stored proof in words, or what the release says of it."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from genverify.attack import ProgramSettings
from genverify.claims import ANY, Claim, parse_claim
from genverify.errors import DataError
from genverify.explain import explain_proof
from genverify.prooffile import read_proofs
from genverify.release import Release, Schema, read_releases, read_schema
from genverify.verify import Verifier

SETTINGS = ProgramSettings("compact", "highs", 2_000_000, 200_000, 500, 200, 180.0)


def explain_claim(study: Path, block: str, text: str) -> Iterator[str]:
    """The claim in words and, if it is verified, the cells that force it; otherwise the range of its count."""
    schema = read_schema(study / "release" / "schema.json")
    release, batch = find_release(study, schema, block)
    claim = parse_claim(text, schema.domain)
    yield f"Block {block}, {release.n} records. Claim: exactly {claim.m} with"
    yield from _conditions(schema, claim)
    where = {name: code for name, code in zip(schema.domain.names, claim.codes, strict=True) if code != ANY}
    for found in read_proofs(study / "proofs" / f"{batch}.jsonl.gz"):
        for stored in found["claims"] if found["block"] == block else []:
            if stored["where"] == where and stored["m"] == claim.m:
                yield "Verified: true of every dataset that fits the published counts."
                yield from explain_proof(release, found, stored)
                return
    if _without_proof(study / "claims" / f"{batch}.parquet", schema, block, claim):
        yield "Verified by the solver, without proof: the study was run with the one-hot program (program.formulation)."
        return
    yield from _range(release, claim)


def _without_proof(path: Path, schema: Schema, block: str, claim: Claim) -> bool:
    """Whether the claims of a batch list this one, but name no proof."""
    if not path.exists():
        return False
    claims = pd.read_parquet(path)
    if len(claims) == 0:
        return False
    unproved = claims[(claims["block"] == block) & (claims["m"] == claim.m) & claims["proof"].isna()]
    codes = unproved[list(schema.domain.names)].fillna(ANY).to_numpy(dtype=int)
    return claim.codes in map(tuple, codes.tolist())


def _conditions(schema: Schema, claim: Claim) -> Iterator[str]:
    for column, code in zip(schema.domain.columns, claim.codes, strict=True):
        if code != ANY:
            meaning = column.meaning.get(code, "no such code: no record can hold it")
            yield f"  {column.label}: {meaning} ({column.name} = {code})"


def _range(release: Release, claim: Claim) -> Iterator[str]:
    """What the release says of a claim that the study did not verify."""
    found = Verifier(SETTINGS.bounder(release)).range(claim)
    if found.limit:
        yield f"Not among the stored claims; its count was seen between {found.low} and {found.high} ({found.limit})."
    elif found.low == found.high == claim.m:
        yield "Not among the stored claims (the study keeps those with k >= verify.min_k), but verified now."
    else:
        yield f"Not verified: over all datasets that fit, the count ranges from {found.low} to {found.high}."


def find_release(study: Path, schema: Schema, block: str) -> tuple[Release, str]:
    """The release of a block and the name of its batch."""
    for path in sorted((study / "release").glob("*.parquet")):
        for release in read_releases(path, schema):
            if release.block == block:
                return release, path.stem
    raise DataError(f"{study / 'release'}: no block {block}; results/sample/blocks.parquet lists the sampled blocks")
