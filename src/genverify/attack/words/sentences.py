"""Claims in plain English, composed from a file of phrases."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genverify.core.domain import Domain
from genverify.core.errors import DataError
from genverify.core.files import read_yaml
from genverify.core.predicates import EVERY, Predicate

Known = Mapping[str, int]  # column name: code, for the columns that a claim speaks of


@dataclass(frozen=True)
class Case:
    """Words for a claim that holds the codes of `when`."""

    when: Predicate
    say: str


@dataclass(frozen=True)
class Sentence:
    """Slots of cases; the first case that fits speaks in each."""

    start: str
    slots: tuple[tuple[Case, ...], ...]
    as_list: bool
    only: tuple[Predicate, ...]
    unless: tuple[Predicate, ...]

    def text(self, known: Known) -> str:
        """The sentence about a claim; empty if it has nothing to say."""
        if (self.only and not fits_any(self.only, known)) or fits_any(self.unless, known):
            return ""
        phrases = [words for slot in self.slots if (words := _first(slot, known))]
        if not phrases:
            return ""
        return " ".join([self.start, listed(phrases) if self.as_list else " ".join(phrases)]).strip() + "."


@dataclass(frozen=True)
class Phrases:
    """The sentences of a phrase file, and the columns in which examples should differ."""

    sentences: tuple[Sentence, ...]
    vary: tuple[str, ...]

    def describe(self, known: Known) -> str:
        """The claim in plain English."""
        return " ".join(text for sentence in self.sentences if (text := sentence.text(known)))


def fits(when: Predicate, known: Known) -> bool:
    """Whether a claim says for certain that its records satisfy the condition."""
    return all(known.get(name) in codes for name, codes in when.clauses)


def fits_any(conditions: Iterable[Predicate], known: Known) -> bool:
    return any(fits(when, known) for when in conditions)


def _first(slot: Sequence[Case], known: Known) -> str:
    return next((case.say for case in slot if fits(case.when, known)), "")


def listed(words: Sequence[str]) -> str:
    """
    Words as a list.

    >>> listed(["male"]), listed(["male", "Black"]), listed(["male", "Black", "old"])
    ('male', 'male and Black', 'male, Black, and old')
    """
    if len(words) < 3:
        return " and ".join(words)
    return ", ".join(words[:-1]) + f", and {words[-1]}"


def read_phrases(path: Path, domain: Domain) -> Phrases:
    """A phrase file, which must have words for every code of the domain."""
    try:
        return parse_phrases(read_yaml(path), domain)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{path}: not a phrase file ({error!r}); see data/census/phrases.yaml for the form") from None
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def parse_phrases(text: Mapping[str, Any], domain: Domain) -> Phrases:
    """A phrase file from its parsed YAML."""
    sentences = tuple(_sentence(part, domain) for part in text["sentences"])
    vary = tuple(domain[name].name for name in text.get("vary", []))
    _check_covered(sentences, text.get("unsaid", {}), domain)
    return Phrases(sentences, vary)


def _sentence(text: Mapping[str, Any], domain: Domain) -> Sentence:
    slots = tuple(tuple(Case(_condition(case.get("when"), domain), case["say"]) for case in slot) for slot in text["slots"])
    only, unless = (tuple(_condition(when, domain) for when in text.get(key, [])) for key in ("only", "unless"))
    return Sentence(text.get("start", ""), slots, text.get("join") == "list", only, unless)


def _condition(when: Mapping[str, Sequence[int]] | None, domain: Domain) -> Predicate:
    return domain.check(Predicate.of(when), "a case") if when else EVERY


def _check_covered(sentences: Sequence[Sentence], unsaid: Mapping[str, Sequence[int]], domain: Domain) -> None:
    conditions = [case.when for sentence in sentences for slot in sentence.slots for case in slot]
    conditions += [when for sentence in sentences for when in sentence.only]
    for column in domain.columns:
        spoken = {code for when in conditions for code in when.where.get(column.name, ())}
        for code in column.codes:
            if code not in spoken and code not in unsaid.get(column.name, ()):
                raise DataError(
                    f"no words for {column.name}={code} ({column.meaning[code]}): add a case or list it under `unsaid`"
                )
