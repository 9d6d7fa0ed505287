"""What a certificate shows, one question at a time: two for each proof of claims, one for all else."""

from collections.abc import Iterator, Mapping, Sequence

from genverify.checker.form import Certificate, Node, ProvedBound, Statement, read_bounds
from genverify.core.domain import Domain
from genverify.core.errors import DataError
from genverify.core.predicates import Predicate
from genverify.core.release import Release
from genverify.show.export.program import AT_LEAST, AT_MOST, NEVER, Question

Group = Sequence[Statement]
LISTED = 10  # claims of a group that are named in the head of a file
INDEX = "index.csv"


def claims_by_proof(certificate: Certificate) -> dict[tuple[int, int], list[Statement]]:
    """The claims by the number of their proof and their m: what is shown of one group is shown at once."""
    groups: dict[tuple[int, int], list[Statement]] = {}
    for claim in certificate.claims:
        assert claim.proof is not None
        groups.setdefault((claim.proof, claim.m), []).append(claim)
    return groups


def questions_of(domain: Domain, certificate: Certificate) -> Iterator[tuple[Question, Group]]:
    """Every question of a certificate, with the statements that its answer settles."""
    for number, (key, group) in enumerate(claims_by_proof(certificate).items()):
        for question in claim_questions(domain, group, f"claims_{number}_proof_{key[0]}"):
            yield question, group
    for number, said in enumerate(certificate.impossible):
        words = (f"Shown: never exactly {_records(said.m)} with", *conditions(domain, said.where))
        yield Question(f"impossible_{number}", words, NEVER, (said.where,), said.m, said.lower), [said]
    for number, said in enumerate(certificate.at_least):
        yield bound_question(domain, f"bound_{number}", said, AT_LEAST, said.lower), [said]
    if certificate.contradiction is not None:
        words = ("Shown: no dataset fits the published counts; they contradict each other",)
        yield Question("contradiction", words, NEVER, (), 0, certificate.contradiction), []


def claim_questions(domain: Domain, group: Group, name: str) -> list[Question]:
    """
    The two halves of claims with one proof: at least m records match all that the claims say, at most m match any of them.

    Each claim of the group counts no fewer records than the first and no more than the second: exactly m.
    """
    m, first = group[0].m, group[0]
    every, some = _all_of(group), shortest([claim.where for claim in group])
    lower = [f"Shown: at least {_records(m)} with", *conditions(domain, every)]
    upper = [f"Shown: at most {_records(m)} with", *conditions(domain, some[0])]
    for other in some[1:]:
        upper += ["  or", *conditions(domain, other)]
    if len(group) > 1:
        both = [
            f"By both halves, m = {m} of each of {len(group)} claims:",
            *(f"  {claim.where}" for claim in group[:LISTED]),
        ]
        both += [f"  and {len(group) - LISTED} more, listed in {INDEX}"] if len(group) > LISTED else []
        lower, upper = [*lower, *both], [*upper, *both]
    return [
        Question(f"{name}_at_least", tuple(lower), AT_LEAST, (every,), m, first.lower),
        Question(f"{name}_at_most", tuple(upper), AT_MOST, tuple(some), m, first.upper),
    ]


def bound_questions(
    release: Release, lemmas: Sequence[Mapping[str, object]], bounds: Sequence[ProvedBound]
) -> list[Question]:
    """Bounds of counts, such as the range of a cell that is not published, each on one side."""
    certificate, domain = read_bounds(release, lemmas, bounds), release.schema.domain
    sides = {"lower": AT_LEAST, "upper": AT_MOST}
    return [
        bound_question(domain, f"bound_{place}", said, sides[bound.side], said.lower)
        for place, (bound, said) in enumerate(zip(bounds, certificate.claims, strict=True))
    ]


def bound_question(domain: Domain, name: str, said: Statement, goal: str, proof: Node) -> Question:
    words = (f"Shown: {goal} {_records(said.m)} with", *conditions(domain, said.where))
    return Question(name, words, goal, (said.where,), said.m, proof)


def find_claim(certificate: Certificate, where: Predicate, m: int, block: str) -> Statement:
    """The claim with these conditions; an error if the certificate has no proof of it."""
    for claim in certificate.claims:
        if set(claim.where.clauses) == set(where.clauses) and claim.m == m:
            return claim
    raise DataError(
        f"block {block}: the claim {where}, m = {m} is not among its {len(certificate.claims)} claims with a proof. Ask "
        "`genverify explain` what is known of it"
    )


def _records(m: int) -> str:
    return f"{m} record" if m == 1 else f"{m} records"


def _all_of(group: Group) -> Predicate:
    found = group[0].where
    for claim in group[1:]:
        found = found & claim.where
    return found


def shortest(conditions: Sequence[Predicate]) -> list[Predicate]:
    """
    The conditions that no other one is part of: whoever meets one of all meets one of these.

    >>> one, two = Predicate.of({"A": [1], "B": [2]}), Predicate.of({"A": [1]})
    >>> [str(found) for found in shortest([one, two])]
    ['A=1']
    """
    least: list[Predicate] = []
    for one in sorted(dict.fromkeys(conditions), key=lambda one: (len(one.clauses), one.clauses)):
        if not any(set(other.clauses) <= set(one.clauses) for other in least):
            least.append(one)
    return least


def conditions(domain: Domain, where: Predicate) -> list[str]:
    """A condition in the words of the domain, one line for each column."""
    found = []
    for name, codes in where.clauses:
        column = domain[name]
        meanings = " or ".join(column.meaning.get(code, "no such code") for code in codes)
        found.append(f"  {column.label}: {meanings} ({name} = {'|'.join(map(str, codes))})")
    return found or ["  no condition: every record"]
