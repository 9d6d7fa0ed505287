"""The answer to "explain this claim": its stored proof in words, once it is checked, or what the release says of it."""

from collections.abc import Iterator
from pathlib import Path

from genverify.attack.block import check_decisions, claim_where
from genverify.attack.contradiction import no_dataset_fits
from genverify.attack.verify import Decision, Range, Verdict, Verifier, check_ranges
from genverify.attack.words.layout import explain_proof
from genverify.attack.words.reasons import Reasons
from genverify.checker.stored import checked_blocks
from genverify.core.claims import ANY, Claim, parse_claim
from genverify.core.errors import DataError
from genverify.core.release import Release, Schema, read_releases, read_schema
from genverify.core.tablefile import read_frame, table_file, table_names
from genverify.solve.settings import DEFAULT


def explain_claim(study: Path, block: str, text: str) -> Iterator[str]:
    """The claim in words and, if it is verified, the cells that force it; otherwise the range of its count."""
    schema = read_schema(study / "release" / "schema.json")
    release, batch = find_release(study, schema, block)
    claim = parse_claim(text, schema.domain)
    counts, proofs = table_file(study / "release", batch), study / "proofs" / f"{batch}.jsonl.gz"
    (stored,) = checked_blocks(counts, proofs, schema, {block})
    yield f"Block {block}, {release.n} records. Claim: exactly {claim.m} with"
    yield from conditions(schema, claim)
    proof = stored.proof_of.get((claim.codes, claim.m))
    if proof is not None:
        yield "Verified: true of every dataset that fits the published counts (proof checked)."
        statement = {"where": claim_where(schema.domain.names, claim), "m": claim.m, "proof": proof}
        yield from explain_proof(Reasons(release, stored.proofs["lemmas"]), stored.proofs, statement)
    elif _without_proof(table_file(study / "claims", batch), schema, block, claim):
        yield "Verified by the solver, without proof: the study was run with the one-hot program (program.formulation)."
    else:
        yield from _searched(release, claim)


def _without_proof(path: Path, schema: Schema, block: str, claim: Claim) -> bool:
    """Whether the claims of a batch list this one, but name no proof."""
    if not path.exists():
        return False
    claims = read_frame(path)
    if len(claims) == 0:
        return False
    unproved = claims[(claims["block"] == block) & (claims["m"] == claim.m) & claims["proof"].isna()]
    codes = unproved[list(schema.domain.names)].fillna(ANY).to_numpy(dtype=int)
    return claim.codes in map(tuple, codes.tolist())


def conditions(schema: Schema, claim: Claim) -> Iterator[str]:
    for column, code in zip(schema.domain.columns, claim.codes, strict=True):
        if code != ANY:
            meaning = column.meaning.get(code, "no such code: no record can hold it")
            yield f"  {column.label}: {meaning} ({column.name} = {code})"


def _searched(release: Release, claim: Claim) -> Iterator[str]:
    """What the release says of a claim that the study did not verify; what is certain has a proof, checked here."""
    verifier = Verifier(DEFAULT.bounder(release))
    counts = verifier.range(claim)
    if counts.limit:
        seen = f"seen between {counts.low} and {counts.high}" if counts.low <= counts.high else "not bounded"
        yield f"Not among the stored claims, and not decided: its count was {seen} ({counts.limit})."
    elif counts.low > counts.high:
        raise no_dataset_fits(verifier.bounder, counts.upper, None)
    elif counts.low == counts.high == claim.m:
        check_decisions(verifier.bounder.program, [_decision(claim, counts)])
        yield (
            "Not among the stored claims (the study keeps those with k >= verify.min_k), but verified now, proof checked: "
            "true of every dataset that fits the published counts."
        )
    else:
        check_ranges(verifier.bounder.program, [(claim.predicate(release.schema.domain), counts)])
        ends = f"the count ranges from {counts.low} to {counts.high}"
        yield f"Not verified: over all datasets that fit, {ends} (both bounds checked)."


def _decision(claim: Claim, counts: Range) -> Decision:
    return Decision(claim, Verdict.VERIFIED, counts.lower, counts.upper)


def find_release(study: Path, schema: Schema, block: str) -> tuple[Release, str]:
    """The release of a block and the name of its batch."""
    for batch in table_names(study / "release"):
        for release in read_releases(table_file(study / "release", batch), schema):
            if release.block == block:
                return release, batch
    raise DataError(f"{study / 'release'}: no block {block}; results/sample/blocks.parquet lists the sampled blocks")
