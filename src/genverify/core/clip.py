"""Conditions, rules and queries without codes that no record of a domain holds."""

from dataclasses import replace
from functools import cache

from genverify.core.domain import Domain
from genverify.core.predicates import Predicate, Rule
from genverify.core.queries import Query


def clip_query(query: Query, domain: Domain) -> Query:
    """The query without codes that no record of the domain holds; most have none and stay as they are."""
    clipped = _clip(query.predicate, domain)
    return query if clipped is query.predicate else replace(query, predicate=clipped)


def _clip(predicate: Predicate, domain: Domain) -> Predicate:
    """The predicate without codes that no record of the domain holds; itself where it has none."""
    if all(_held(domain[name].codes).issuperset(codes) for name, codes in predicate.clauses):
        return predicate
    known = ((name, codes, domain[name].codes) for name, codes in predicate.clauses)
    return Predicate(tuple((name, tuple(code for code in codes if code in held)) for name, codes, held in known))


@cache
def _held(codes: tuple[int, ...]) -> frozenset[int]:
    return frozenset(codes)


def clip_rule(rule: Rule, domain: Domain) -> Rule:
    """The rule without codes that no record of the domain holds."""
    return Rule(rule.name, _clip(rule.when, domain), tuple(_clip(option, domain) for option in rule.one_of))
