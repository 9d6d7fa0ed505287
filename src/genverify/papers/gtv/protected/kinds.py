"""Kinds of records: those that can exist, the ones together that no query distinguishes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.sparse import csc_array, csr_array

from genverify.core.arraytypes import Flags, Ints
from genverify.core.claims import Codes
from genverify.core.clip import clip_rule
from genverify.core.domain import read_domain
from genverify.core.errors import ConfigError, nearest
from genverify.core.predicates import EVERY, Rule
from genverify.core.release import Release, Schema, read_study
from genverify.core.settings import ReleaseSettings
from genverify.solve.classes import matched_classes
from genverify.solve.datasets import draw_dataset
from genverify.solve.program import Program, classes_of
from genverify.solve.types import live_types


@dataclass(frozen=True)
class Kinds:
    """The classes of a program that knows nothing of a block; `inside` says which kinds (rows) lie in which queries."""

    program: Program
    inside: csr_array

    @cached_property
    def varies(self) -> Flags:
        """The queries that some records lie in and others do not. The rest are 0 or N, whatever the data are."""
        lying = self.inside.sum(axis=0)
        flags: Flags = (lying > 0) & (lying < self.inside.shape[0])
        return flags

    @cached_property
    def lying_in(self) -> list[Ints]:
        """The kinds that lie in each query."""
        columns = csc_array(self.inside)
        return np.split(columns.indices, columns.indptr[1:-1])

    @cached_property
    def lies_in(self) -> list[Ints]:
        """The queries that each kind lies in."""
        return np.split(self.inside.indices, self.inside.indptr[1:-1])

    def counts(self, kinds: Ints) -> Ints:
        """The count of every query over records of these kinds."""
        queries = [np.zeros(0, dtype=np.int64), *(self.lies_in[kind] for kind in kinds.tolist())]
        return np.bincount(np.concatenate(queries), minlength=self.inside.shape[1])

    def most(self, queries: Flags) -> int:
        """The most of these queries that one record lies in."""
        return int((self.inside @ queries.astype(np.int64)).max(initial=0))

    def records(self, kinds: Ints, rng: np.random.Generator) -> Codes:
        """Records of these kinds, drawn at random and sorted."""
        return draw_dataset(self.program, np.bincount(kinds, minlength=self.program.classes), rng)

    def matching(self, codes: Codes) -> Flags:
        """The kinds of which some record matches the codes of a claim."""
        _, touched = matched_classes(self.program, codes[None, :])
        flags: Flags = touched.toarray()[0] > 0
        return flags


def possible_schema(domain: Path, settings: ReleaseSettings) -> Schema:
    """What is published, with all that is known of records beforehand: the structural rules, and what the universe keeps."""
    schema = read_study(domain, settings.but(structural_zeros=True))
    keeps = Rule("universe", EVERY, (read_domain(domain).universe(settings.universe).keeps,))
    return replace(schema, rules=(clip_rule(keeps, schema.domain), *schema.rules))


def build_kinds(schema: Schema, max_types: int) -> Kinds:
    """The kinds of the records that the rules of a schema allow."""
    predicates = [query.predicate for query in schema.queries]
    types = live_types(schema.domain, predicates, schema.rules, max_types)
    A, class_of = classes_of(np.array([types.inside(predicate) for predicate in predicates]))
    cells, zeros = np.arange(len(predicates)), np.zeros(len(predicates), dtype=np.int64)
    nothing = Release(schema, "", 0, cells, zeros, zeros)
    program = Program(nothing, types, (), tuple(query.id for query in schema.queries), A, zeros, zeros, class_of)
    return Kinds(program, csr_array(A.T).astype(np.int64))


def queries_of(schema: Schema, tables: str | Sequence[str]) -> Flags:
    """The queries of the named tables (names and patterns), or all of them."""
    names = [query.table for query in schema.queries]
    patterns = ["*"] if tables == "all" else list(tables)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            known = nearest(pattern, list(dict.fromkeys(names)))
            raise ConfigError(f"config.yaml: protected: noise is measured on the unknown table {pattern!r}: {known}")
    return np.array([any(fnmatchcase(name, pattern) for pattern in patterns) for name in names], dtype=bool)
