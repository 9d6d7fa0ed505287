"""The verdict about a block, which verdicts flag it, and the verdict that a certificate shows."""

from enum import Enum

from genverify.checker.check import CertificateError, Checked
from genverify.core.predicates import Predicate
from genverify.papers.housing.attack.joint_program import VIOLATION

YES = Predicate.of({VIOLATION: [1]})


class Verdict(Enum):
    """
    Every dataset that fits holds a violation; some fits without one; none fits at all; not decided within the limits.

    Certificates prove the first and the third. That a dataset fits (`violation`, `possible`) was recounted when the block
    was decided; the dataset is not kept.
    """

    VIOLATION = "violation"
    POSSIBLE = "possible"
    CONTRADICTION = "contradiction"
    UNDECIDED = "undecided"


FLAGGED = (Verdict.VIOLATION.value, Verdict.CONTRADICTION.value)
"""Verdicts that flag a block, as in the paper: no dataset without a violation fits. Each needs a proof."""

UNPROVED = (Verdict.POSSIBLE.value, Verdict.UNDECIDED.value)
"""Verdicts that claim nothing of the households, so that they need no proof."""


def proved(checked: Checked, block: str) -> tuple[Verdict, int]:
    """The verdict that a checked certificate shows, and the least number of violations (0 where no dataset fits)."""
    if checked.contradiction:
        return Verdict.CONTRADICTION, 0
    if len(checked.at_least) != 1 or checked.at_least[0][0] != YES or checked.at_least[0][1] < 1:
        shown = ", ".join(f"COUNT({where}) >= {m}" for where, m in checked.at_least) or "nothing"
        raise CertificateError(
            f"block {block}: the certificate shows {shown}; that a violation must exist takes one statement under at_least, "
            f"COUNT({YES}) >= 1 or more. Run detect_housing again."
        )
    return Verdict.VIOLATION, checked.at_least[0][1]
