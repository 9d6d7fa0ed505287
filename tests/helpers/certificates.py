"""Certificates in a short notation for tests, by what is shown, put into the form that the checker reads."""

from typing import Any

from genverify.checker.record_proofs import CheckSummary, check_block
from genverify.model.proof_form import AT_LEAST, EXACTLY, NEVER, NOTHING, RECORDS, new_certificate
from genverify.model.release import Release

Text = dict[str, Any]
LISTS = {"claims": EXACTLY, "impossible": NEVER, "at_least": AT_LEAST}
KNOWN = {"block", "release", "lemmas", "proofs", "contradiction", *LISTS}


def in_form(release: Release, text: Any) -> Any:
    """
    The certificate of `claims`, `impossible`, `at_least` and a `contradiction`; its digest is that of the release, unless
    `release` names another one. What is no such notation stays as it is.
    """
    if not isinstance(text, dict) or "proofs" not in text or "statements" in text:
        return text
    name, digest = text.get("block", release.block), text.get("release", release.digest)
    found = new_certificate(RECORDS, name, digest, lemmas=text.get("lemmas", []), proofs=text["proofs"])
    for key, goal in LISTS.items():
        said = text.get(key, [])
        if not isinstance(said, list):
            return found | {"statements": said}
        found["statements"] += [{"goal": goal, **one} if isinstance(one, dict) else one for one in said]
    if "contradiction" in text:
        found["statements"].append({"goal": NOTHING, "proof": text["contradiction"]})
    return found | {key: own for key, own in text.items() if key not in KNOWN}


def check(release: Release, text: Any) -> CheckSummary:
    """The checker, on the short notation."""
    return check_block(release, in_form(release, text))
