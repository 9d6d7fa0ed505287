"""A verified claim and its proof, as a text."""

from collections.abc import Iterator, Mapping
from typing import Any

from genverify.attack.block import Verified, claim_where
from genverify.attack.levels import LevelsVerified
from genverify.attack.words.layout import explain_proof
from genverify.attack.words.reasons import Reasons
from genverify.checker.levels import LevelsChecker
from genverify.core.claims import ANY, Claim
from genverify.core.domain import Domain
from genverify.core.errors import DataError
from genverify.core.levels import Levels, seen_from


def explain(verified: Verified, claim: Claim) -> str:
    """What a verified claim says, and the published cells that force it."""
    domain, release = verified.program.types.domain, verified.program.release
    if claim not in verified.claims:
        raise DataError(f"block {release.block}: {in_words(domain, claim)} is not among the verified claims")
    stored = {
        "where": claim_where(domain.names, claim),
        "m": claim.m,
        "proof": verified.proof_of[verified.claims.index(claim)],
    }
    reasons = Reasons(release, verified.certificate["lemmas"])
    return "\n".join([in_words(domain, claim), *_indented(explain_proof(reasons, verified.certificate, stored))])


def explain_levels(levels: Levels, shared: Mapping[str, Any], verified: LevelsVerified, claim: Claim) -> str:
    """What a claim about a block says, and the cells of blocks and areas that force it."""
    domain, checker = levels.schema.domain, LevelsChecker(levels, shared)
    here = Claim((verified.number + 1, *claim.codes), claim.m)
    kinds = (verified.alone, seen_from(levels, verified.number), claim), (verified.together, checker.release, here)
    for certificate, release, said in kinds:
        where = claim_where(release.schema.domain.names, said)
        for stored in certificate["claims"] if certificate else ():
            if certificate and stored["where"] == where and stored["m"] == claim.m:
                checker.check(verified.number, verified.alone, verified.together)
                reasons = Reasons(release, certificate["lemmas"])
                lines = _indented(explain_proof(reasons, certificate, stored))
                return "\n".join([f"block {verified.block}: {in_words(domain, claim)}", *lines])
    raise DataError(f"block {verified.block}: {in_words(domain, claim)} is not among the verified claims")


def in_words(domain: Domain, claim: Claim) -> str:
    """
    A claim in the words of its domain.

    >>> from genverify.core.domain import Column
    >>> in_words(Domain((Column("SEX", "sex", (0, 1), ("f", "m")), Column("AGE", "age", (0,), ("old",)))), Claim((1, -1), 2))
    'exactly 2 records with sex: m'
    """
    parts = [f"{column.label}: {column.meaning.get(code, code)}"
            for column, code in zip(domain.columns, claim.codes, strict=True) if code != ANY]  # fmt: skip
    return f"exactly {claim.m} record{'' if claim.m == 1 else 's'} with {', '.join(parts)}"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    yield from (f"  {line}" for line in lines)
