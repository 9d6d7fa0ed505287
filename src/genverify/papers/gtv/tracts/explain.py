"""The answer to "explain this claim" about a block of a tract: its stored proof in words, once it is checked."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from genverify.attack.block import claim_where
from genverify.attack.words.command import conditions
from genverify.attack.words.layout import explain_proof
from genverify.attack.words.reasons import Reasons
from genverify.checker.levels import LevelsChecker
from genverify.core.claims import Claim, parse_claim
from genverify.core.errors import DataError
from genverify.core.levels import Levels, seen_from
from genverify.core.release import Release, read_releases, read_schema
from genverify.papers.gtv.tracts.check import read_tracts
from genverify.papers.gtv.tracts.publish import TRACT_DIGITS, batch_of_tracts


def explain_in_tract(folder: Path, block: str, text: str) -> Iterator[str]:
    """The claim in words and, if it is verified, the cells of the block, of other blocks and of the tract that force it."""
    levels = read_levels(folder, block[:TRACT_DIGITS])
    numbers = [number for number, release in enumerate(levels.blocks) if release.block == block]
    if not numbers:
        raise DataError(f"{folder}: no block {block} in its tract")
    claim = parse_claim(text, levels.schema.domain)
    shared, line = _proofs(folder, block)
    checker = LevelsChecker(levels, shared)
    checker.check(numbers[0], line["alone"], line["together"])
    yield f"Block {block}, {levels.blocks[numbers[0]].n} records. Claim: exactly {claim.m} with"
    yield from conditions(levels.schema, claim)
    own = seen_from(levels, numbers[0])
    for release, certificate, said in (
        (own, line["alone"], claim),
        (checker.release, line["together"], Claim((numbers[0] + 1, *claim.codes), claim.m)),
    ):
        stored = _stored(release, certificate, said)
        if stored:
            yield "Verified: true of every dataset that fits the tables of all blocks and of the tract (proof checked)."
            yield from explain_proof(Reasons(release, certificate["lemmas"]), certificate, stored)
            yield from _nobody(shared)
            return
    yield "Not among the verified claims: some dataset may contradict it, or it was not asked."


def read_levels(folder: Path, tract: str) -> Levels:
    """The published counts of one tract and of its blocks."""
    schemas = [read_schema(folder / f"{level}.json") for level in ("blocks", "tracts")]
    names = zip(("blocks", "tracts"), schemas, strict=True)
    blocks, tracts = (list(read_releases(folder / f"{level}.parquet", schema)) for level, schema in names)
    own = [release for release in tracts if release.block == tract]
    if not own:
        raise DataError(
            f"{folder}: no tract {tract}, the first {TRACT_DIGITS} digits of the block; give a block of the study"
        )
    return batch_of_tracts(blocks, own, 0, 1)[0]


def _proofs(folder: Path, block: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    for path in sorted((folder / "proofs").glob("*.jsonl.gz")):
        for shared, lines in read_tracts(path):
            if shared["block"] == block[:TRACT_DIGITS]:
                for line in lines:
                    if line["block"] == block:
                        return shared["shared"], line
    raise DataError(f"{folder / 'proofs'}: no proofs about block {block}; claims about it were not asked (largest_block)")


def _stored(release: Release, certificate: Mapping[str, Any] | None, claim: Claim) -> Mapping[str, Any] | None:
    where = claim_where(release.schema.domain.names, claim)
    claims = certificate["claims"] if certificate else []
    return next((stored for stored in claims if stored["where"] == where and stored["m"] == claim.m), None)


def _nobody(shared: Mapping[str, Any]) -> Iterator[str]:
    """What the proof rests on besides, where all blocks together rule records out."""
    for proof in shared["nobody"]:
        yield (
            f"Besides, some records are ruled out for all blocks at once: {len(proof['y'])} cells of blocks and tract add "
            "up to a sum that leaves no room for any of them."
        )
