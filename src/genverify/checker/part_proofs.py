"""
The checker of a certificate about one of several parts of what is published together (the model `housing`).

What two publishers say of the same records may be too much for one proof. Then a certificate is about a part of it, which is
a release, and shows one thing: that some records with a condition must exist, or that no dataset fits. What holds of every
dataset that fits a part holds of every dataset that fits the whole.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from genverify.checker.certificate import CertificateError, read_head
from genverify.checker.record_proofs import CheckSummary, check_block
from genverify.model.domain import Predicate
from genverify.model.proof_form import HOUSING
from genverify.model.release import Release


def part_of(parts: Sequence[Release], certificate: Mapping[str, Any]) -> Release:
    """The part that a certificate is about, by its digest; an error where it is about none of them."""
    place = f"block {parts[0].block}"
    if read_head(certificate, place) != HOUSING:
        raise CertificateError(f"{place}: the model is {certificate['model']}, where {HOUSING} is needed")
    found = next((part for part in parts if part.digest == certificate["about"]["digest"]), None)
    if found is None:
        raise CertificateError(f"{place}: the proofs are of other counts than these, or of other tables. Verify it again.")
    return found


def check_part(parts: Sequence[Release], certificate: Mapping[str, Any]) -> CheckSummary:
    """Check a certificate against the part that it is about."""
    return check_block(part_of(parts, certificate), certificate)


def least_records(checked: CheckSummary, where: Predicate, block: str) -> int | None:
    """The least number of records that meet a condition, 1 or more, if a certificate shows just this; None: none fits."""
    others = checked.claims + checked.impossible
    if checked.contradiction and not others and not checked.at_least:
        return None
    bounds = checked.at_least
    if others or checked.contradiction or len(bounds) != 1 or bounds[0][0] != where or bounds[0][1] < 1:
        shown = ", ".join(f"COUNT({one}) >= {m}" for one, m in bounds) or "nothing"
        raise CertificateError(
            f"block {block}: the certificate shows {shown}; it takes one statement, COUNT({where}) >= 1 or more, or that no "
            "dataset fits. Make it again."
        )
    return bounds[0][1]
