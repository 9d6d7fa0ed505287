"""The answer to "how likely is this claim?" about a block of a study."""

from collections.abc import Iterator
from pathlib import Path

from genverify.attack.likely import probability, read_prior
from genverify.attack.words.command import conditions, find_release
from genverify.core.claims import parse_claim
from genverify.core.release import read_schema
from genverify.solve.counting.diagram import Budget

SHOWN = 0.00005


def probable_claim(study: Path, block: str, text: str, prior: Path | None, floor: float, budget: Budget) -> Iterator[str]:
    """The claim in words, its probability, and the distribution of its count."""
    schema = read_schema(study / "release" / "schema.json")
    release, _ = find_release(study, schema, block)
    claim = parse_claim(text, schema.domain)
    yield f"Block {block}, {release.n} records. Claim: exactly {claim.m} with"
    yield from conditions(schema, claim)
    table = read_prior(prior, schema.domain, floor) if prior else None
    found = probability(release, claim, table, budget=budget)
    yield f"Probability: {found}."
    if found.value == 1 and found.exact:
        yield "Certain: true of every dataset that fits the published counts and that the prior does not rule out."
    if found.datasets is not None:
        yield f"Datasets that fit: {found.datasets:,}."
    for count, share in enumerate(found.counts):
        if share >= SHOWN:
            yield f"  {count} such records: {100 * share:.2f} %"
