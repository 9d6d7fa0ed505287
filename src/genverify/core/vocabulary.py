"""Groups of codes, the words of which the lines of published tables are made, and lists of groups."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genverify.core.domain import Column, Domain
from genverify.core.errors import DataError, nearest
from genverify.core.predicates import Predicate


@dataclass(frozen=True)
class Group:
    """
    A named set of codes of one column (or of no column: everyone), the word of which line ids are made.

    >>> print(Group("renter", "renter occupied", Predicate.of({"TEN": [3, 4]})).predicate)
    TEN=3|4
    """

    name: str
    label: str
    predicate: Predicate


@dataclass(frozen=True)
class Vocabulary:
    """
    All groups of a table file, and its lists of groups.

    >>> renter, owner = (Group(name, name, Predicate.of({"TEN": [code]})) for name, code in (("renter", 3), ("owner", 1)))
    >>> list(Vocabulary({"renter": renter, "owner": owner}, {"tenure": ["owner", "renter"]}).listed("tenure"))
    ['owner', 'renter']
    """

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
        if name not in groups:
            raise DataError(f"release.groups: unknown group {name!r}: {nearest(name, list(groups))}")
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
    try:
        predicate = Predicate.of(
            {column: _codes(domain[column], changes.get(name, given)) for column, given in where.items()}
        )
    except DataError as error:
        raise DataError(f"group {name}: {error}") from None
    return Group(name, str(entry.get("label", name)), domain.check(predicate, f"group {name}"))


def _codes(column: Column, given: Any) -> Sequence[int]:
    """Codes as a list, as `first-last`, or as {size: numbers} for a column of sets."""
    if isinstance(given, Mapping):
        sizes = set(_numbers(given["size"]))
        return [code for code, words in column.set_of.items() if len(words) in sizes]
    return list(_numbers(given)) if isinstance(given, str) else list(given)


def _numbers(given: Any) -> range:
    """
    One number, or `first-last`.

    >>> list(_numbers("2-4")), list(_numbers(7))
    ([2, 3, 4], [7])
    """
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
            codes = [
                code for code, words in column.set_of.items() if words == chosen or (prefix and set(chosen) <= set(words))
            ]
            yield Group(prefix + "+".join(chosen), str(entry["label"]).format(meaning), Predicate.of({column.name: codes}))
