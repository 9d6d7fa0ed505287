"""What a release publishes: tables as lists of counting queries, built from a compact table file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from itertools import product
from typing import Any

from genverify.model.domain import EVERY, Column, Domain, DomainFile, Predicate, Rule, Universe
from genverify.model.errors import DataError, naming, nearest, refuse_unknown

# Groups of codes, the words of which the lines of published tables are made, and lists of groups.


@dataclass(frozen=True)
class Group:
    """A named set of codes of one column (or of no column: everyone), the word of which line ids are made."""

    name: str
    label: str
    predicate: Predicate


@dataclass(frozen=True)
class Vocabulary:
    """All groups of a table file, and its lists of groups."""

    groups: Mapping[str, Group]
    lists: Mapping[str, Sequence[str]]

    def listed(self, name: str, within: tuple[str, ...] = ()) -> Iterator[str]:
        """The groups of a list, those of the lists that it names included; a group is a list of itself."""
        if name in self.lists and name not in within:
            for entry in self.lists[name]:
                yield from self.listed(entry, (*within, name))
        elif name in self.groups:
            yield name
        elif name in within:
            raise DataError(f"list {name!r} names itself: {' > '.join((*within, name))}")
        else:
            raise DataError(f"unknown list {name!r}: {nearest(name, [*self.lists, *self.groups])}")


def read_vocabulary(text: Mapping[str, Any], domain: Domain, changes: Mapping[str, Sequence[int]]) -> Vocabulary:
    """The groups and lists of a table file; `changes` gives some groups other codes."""
    groups = {str(name): _group(domain, str(name), entry, changes) for name, entry in text["groups"].items()}
    for name in changes:
        refuse_unknown(name, groups, f"release.groups: unknown group {name!r}")
    lists = {str(name): [str(entry) for entry in entries] for name, entries in text.get("lists", {}).items()}
    for section, make in (("bands", _bands), ("sets", _sets)):
        for name, entry in text.get(section, {}).items():
            made = list(make(domain[entry["column"]], entry))
            lists[str(name)] = [group.name for group in made]
            for group in made:
                if groups.setdefault(group.name, group).predicate != group.predicate:
                    raise DataError(f"{section} {name}: the group {group.name} is there already, with other codes")
    return Vocabulary(groups, lists)


def groups_of(text: Mapping[str, Any], domain: Domain, name: str | None) -> list[Group]:
    """The groups of one list of a table file; none where no list is named."""
    vocabulary = read_vocabulary(text, domain, {})
    return [vocabulary.groups[word] for word in vocabulary.listed(name)] if name else []


def _group(domain: Domain, name: str, entry: Mapping[str, Any], changes: Mapping[str, Sequence[int]]) -> Group:
    where = {str(column): codes for column, codes in entry.items() if column != "label"}
    if len(where) > 1 or ("label" not in entry and not where):
        raise DataError(f"group {name}: give exactly one column with its codes, and a label; or a label only, for everyone")
    with naming(f"group {name}"):
        codes = {column: _codes(domain[column], changes.get(name, given)) for column, given in where.items()}
    return Group(name, str(entry.get("label", name)), domain.check(Predicate.of(codes), f"group {name}"))


def _codes(column: Column, given: Any) -> Sequence[int]:
    """Codes as a list, as `first-last`, or as {size: numbers} for a column of sets."""
    if isinstance(given, Mapping):
        sizes = set(_numbers(given["size"]))
        return [code for code, words in column.set_of.items() if len(words) in sizes]
    return list(_numbers(given)) if isinstance(given, str) else list(given)


def _numbers(given: Any) -> range:
    """One number, or `first-last`."""
    first, _, last = str(given).partition("-")
    return range(int(first), int(last or first) + 1)


def _bands(column: Column, entry: Mapping[str, Any]) -> Iterator[Group]:
    """Consecutive codes from each start to the next one, the last up to the highest code."""
    starts = [start for given in entry["starts"] for start in _numbers(given)]
    highest = max(column.codes)
    for first, after in zip(starts, [*starts[1:], highest + 1], strict=True):
        codes = [code for code in column.codes if first <= code < after]
        name = str(first) if len(codes) == 1 else f"{first}-{'over' if after > highest else after - 1}"
        words = name.replace("-over", f" {entry['unit']} and over") if "over" in name else f"{name} {entry['unit']}"
        yield Group(name, words.replace("-", " to "), Predicate.of({column.name: codes}))


def _sets(column: Column, entry: Mapping[str, Any]) -> Iterator[Group]:
    """Each set of `size` words, or each set of `holding` words with whatever else."""
    if not column.sets:
        raise DataError(f"column {column.name} has no sets: give its words as subsets_of in the domain file")
    wanted, prefix = (int(entry["size"]), "") if "size" in entry else (int(entry["holding"]), "any-")
    for chosen, meaning in zip(column.sets, column.meanings, strict=True):
        if len(chosen) == wanted:
            codes = [code for code, own in column.set_of.items() if own == chosen or (prefix and set(chosen) <= set(own))]
            yield Group(prefix + "+".join(chosen), str(entry["label"]).format(meaning), Predicate.of({column.name: codes}))


@dataclass(frozen=True)
class Query:
    """
    A counting query: a line of a published table, with a stable id, its words and its condition.

    With `sums`, the line publishes not how many records match but the sum of their codes in a column (persons, children).

    >>> query = Query("H4.rent", "H4", "renter occupied", Predicate.of({"TEN": [3]}))
    >>> print(query.predicate)
    TEN=3
    """

    id: str
    table: str
    label: str
    predicate: Predicate
    sums: str | None = None


Merged = Mapping[str, Sequence[int] | None]  # groups of codes by their names; None: as the file has them


def build_queries(
    text: Mapping[str, Any], domain: DomainFile, universe: Universe, tables: str | Sequence[str] = "all",
    groups: Merged | None = None, without: Sequence[str] = (),
) -> tuple[Query, ...]:  # fmt: skip
    """The distinct queries of the chosen tables: where two lines have the same condition, the first one stays."""
    queries: dict[tuple[Predicate, str | None], Query] = {}
    for query in published_lines(text, domain, universe, tables, groups, without):
        queries.setdefault((query.predicate, query.sums), query)
    return tuple(queries.values())


def published_lines(
    text: Mapping[str, Any], domain: DomainFile, universe: Universe, tables: str | Sequence[str] = "all",
    groups: Merged | None = None, without: Sequence[str] = (),
) -> Iterator[Query]:  # fmt: skip
    """Every line of the chosen tables but those of `without`, also where two say the same."""
    changes = {name: codes for name, codes in (groups or {}).items() if codes is not None}
    known = read_vocabulary(text, domain.domain, changes)
    levels = {name: entry.get("level") for name, entry, _ in _iterated(text)}
    wanted = _chosen(levels, tables, "tables") - _chosen(levels, without, "without")
    if without and not wanted:
        raise DataError("release.without leaves no table: name fewer, or other tables in release.tables")
    for name, base, iteration in _iterated(text):
        if name in wanted:
            yield from _lines(known, domain, universe, name, base, iteration)


def _iterated(text: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Every table: its name, its base entry, and the groups that the iteration adds."""
    letters = {str(letter): str(groups) for letter, groups in text.get("iterations", {}).items()}
    for name, entry in text["tables"].items():
        yield str(name), entry, ""
        if "iterations" in entry:
            first, last = str(entry["iterations"]).split("-")
            for letter, groups in letters.items():
                if first <= letter <= last:
                    yield f"{name}{letter}", entry, groups


def table_titles(text: Mapping[str, Any]) -> dict[str, str]:
    """What each table is about: its title, and the groups that its iteration keeps to."""
    labels = {str(name): str(entry.get("label", name)) for name, entry in text["groups"].items()}
    titles = {}
    for name, entry, iteration in _iterated(text):
        rest = ", ".join(labels.get(word, word) for word in iteration.split(".") if word)
        titles[name] = f"{entry.get('title', name)}{f' ({rest})' if rest else ''}"
    return titles


def _chosen(levels: Mapping[str, str | None], tables: str | Sequence[str], setting: str) -> set[str]:
    """The tables that a list of names, patterns (`P16*`) or levels (`level=tract`) selects."""
    if tables == "all":
        return set(levels)
    chosen: set[str] = set()
    for pattern in [tables] if isinstance(tables, str) else list(tables):
        result = {name for name, level in levels.items() if fnmatchcase(name, pattern) or pattern == f"level={level}"}
        if not result:
            known = [*levels, *sorted({f"level={level}" for level in levels.values() if level})]
            total = "A table whose one line counts all records is none of these: that is N, which every release has"
            raise DataError(f"release.{setting}: unknown table {pattern!r}: {nearest(pattern, known)}. {total}")
        chosen |= result
    return chosen


def _line_ids(known: Vocabulary, entry: Mapping[str, Any]) -> list[str]:
    """The lines that are written out, then every combination of the crossed lists."""
    lines = [str(line) for line in entry.get("lines", [])]
    if "cross" in entry:
        with naming(f"table {entry.get('title')}"):
            crossed = [list(known.listed(str(part))) for part in entry["cross"]]
        lines += [".".join(line) for line in product(*crossed)]
    return lines


def _lines(
    known: Vocabulary, domain: DomainFile, universe: Universe, name: str, entry: Mapping[str, Any], iteration: str
) -> Iterator[Query]:
    """The lines of one table; its universe becomes a clause unless the study is about that universe."""
    of_table = domain.universe(entry.get("universe", "everything"))
    clause = EVERY if of_table.name == universe.name else of_table.keeps
    groups, sums = known.groups, entry.get("sums")
    if sums is not None:
        domain.domain[sums]
    for line in _line_ids(known, entry):
        words, predicate = [word for word in (*line.split("."), *iteration.split(".")) if word], clause
        for word in words:
            refuse_unknown(word, groups, f"table {name}, line {line}: unknown group {word!r}")
            predicate = _both(predicate, groups[word].predicate)
        yield Query(f"{name}.{line}", name, ", ".join(groups[word].label for word in words), predicate, sums)


_both = lru_cache(maxsize=20_000)(Predicate.__and__)  # a study is read several times, with the same lines


# Conditions, rules and queries without codes that no record of a domain holds.


def clip_query(query: Query, domain: Domain) -> Query:
    """The query without codes that no record of the domain holds."""
    return replace(query, predicate=_clip(query.predicate, domain))


def _clip(predicate: Predicate, domain: Domain) -> Predicate:
    """The predicate without codes that no record of the domain holds; itself where it has none."""
    if all(_held(domain[name].codes).issuperset(codes) for name, codes in predicate.clauses):
        return predicate
    known = ((name, codes, _held(domain[name].codes)) for name, codes in predicate.clauses)
    return Predicate(tuple((name, tuple(code for code in codes if code in held)) for name, codes, held in known))


_held = cache(frozenset[int])


def clip_rule(rule: Rule, domain: Domain) -> Rule:
    return rule.changed(lambda predicate: _clip(predicate, domain))
