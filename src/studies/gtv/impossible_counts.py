"""Counts that cannot exist (footnote 9): multiplicities of an assignment that no dataset has; and the command."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.explain import find_release
from genverify.attack.verify import Verifier, cannot_exist, check_ranges, claim_where
from genverify.checker.record_proofs import check_block
from genverify.model.claims import ANY, Claim, Codes, matches, parse_claim
from genverify.model.proof_form import NEVER
from genverify.model.release import Release, read_schema
from genverify.model.work import derive_seed
from genverify.run.layout import STUDY
from genverify.solve.bounds import Node, certificate_of
from genverify.solve.program import Program
from genverify.solve.program_settings import DEFAULT, ProgramSettings
from studies.gtv.settings import Excluded

# Counts that cannot exist (footnote 9): for an assignment a, the multiplicities m that no dataset that fits has.
#
# Outside of the range of COUNT(a) all m are excluded, by the two proofs of the range. Within it there may be gaps: each m
# that no dataset seen so far has is a question of its own. Every proof is checked before anything is said.

COUNTED = ("assignments", "pairs", "outside", "gaps", "possible", "undecided", "certain")


@dataclass(frozen=True)
class Multiplicities:
    """What is known of COUNT(a) in a block of N records: m that some dataset has, m that none has, and m left open."""

    codes: tuple[int, ...]
    n: int
    low: int
    high: int
    gaps: tuple[int, ...]
    undecided: tuple[int, ...]

    @property
    def outside(self) -> int:
        """How many m from 0 to N lie outside of the range."""
        return self.n - (self.high - self.low)

    @property
    def possible(self) -> list[int]:
        return [m for m in range(self.low, self.high + 1) if m not in self.gaps and m not in self.undecided]


def multiplicities(
    verifier: Verifier, codes: tuple[int, ...], seen: Iterable[int], settings: ProgramSettings
) -> Multiplicities:
    """Every m from 0 to N decided, `seen` being some that datasets have; where a limit struck, m is left open."""
    program = verifier.bounder.program
    n, claim = program.release.n, Claim(codes, 0)
    result = verifier.range(claim)
    check_ranges(program, [(claim.predicate(program.types.domain), result)])
    low = result.low if result.lower is not None else 0
    high = result.high if result.upper is not None else n
    gaps, undecided, solver = [], [], settings.make_solver()
    for m in sorted(set(range(low, high + 1)) - {*seen, result.low, result.high}):
        answer = cannot_exist(program, Claim(codes, m), solver, verifier.bounder.limits, settings.max_types)
        if answer.proof is not None:
            _check_impossible(program, Claim(codes, m), answer.proof)
            gaps.append(m)
        elif answer.counterexample is None:
            undecided.append(m)
    return Multiplicities(codes, n, low, high, tuple(gaps), tuple(undecided))


def _say_excluded(study: Path, block: str, text: str) -> Iterator[str]:
    schema = read_schema(study / "release" / "schema.json")
    release, _ = find_release(study, schema, block)
    claim = parse_claim(text, schema.domain)
    result = multiplicities(Verifier(DEFAULT.bounder(release)), claim.codes, (), DEFAULT)
    yield f"Block {block}, {release.n} records: how many can match {text}?"
    yield f"possible: m = {_listed(result.possible)} (a dataset that fits has each of them)"
    outside = [m for m in range(release.n + 1) if not result.low <= m <= result.high]
    yield f"cannot exist: m = {_listed([*outside, *result.gaps])} (proofs checked)"
    if result.gaps:
        yield f"  of these within the range of the count: {_listed(result.gaps)}"
    if result.undecided:
        yield f"not decided within the limits: m = {_listed(result.undecided)}"
    yield f"{len(outside) + len(result.gaps)} of {release.n + 1} counts are excluded."


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(numbers))) or "none"


def _check_impossible(program: Program, claim: Claim, proof: Node) -> None:
    where = dict(claim_where(program.types.domain.names, claim))
    said = {"goal": NEVER, "where": where, "m": claim.m, "proof": proof}
    check_block(program.release, certificate_of(program.release, program.lemmas, said))


def _draw_assignments(datasets: Codes, k: int, count: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Distinct assignments of k columns that records of the generated datasets have, at most `count`."""
    records = datasets.reshape(-1, datasets.shape[-1])
    result: dict[tuple[int, ...], None] = {}
    for _ in range(4 * count):
        columns = rng.choice(records.shape[1], k, replace=False)
        codes = np.full(records.shape[1], ANY, dtype=np.int64)
        codes[columns] = records[rng.integers(len(records)), columns]
        result.setdefault(tuple(codes.tolist()))
        if len(result) == count:
            break
    return list(result)


def excluded_of_block(
    release: Release, datasets: Codes, part: Excluded, settings: ProgramSettings, seed: int
) -> Iterator[dict[str, Any]]:
    """One row per number of columns k: (a, m) pairs of some assignments, how many are excluded, and how."""
    verifier = Verifier(settings.bounder(release))
    for k in part.columns:
        rng = np.random.default_rng(derive_seed(seed, "excluded", release.block, str(k)))
        drawn = _draw_assignments(datasets, k, part.assignments, rng)
        flags = np.stack([matches(np.array(drawn), one).sum(axis=1) for one in datasets])
        results = [
            multiplicities(verifier, codes, set(flags[:, index].tolist()), settings) for index, codes in enumerate(drawn)
        ]
        yield {"k": k, "blocks": 1} | _counts(results)


def _counts(results: Sequence[Multiplicities]) -> dict[str, int]:
    rows = [(1, one.n + 1, one.outside, len(one.gaps), len(one.possible), len(one.undecided), one.low == one.high)
            for one in results]  # fmt: skip
    return dict(zip(COUNTED, map(sum, zip(*rows, strict=True)), strict=True))


def excluded_table(rows: Iterable[dict[str, Any]], label: str) -> pd.DataFrame:
    """All blocks together, by k: pairs, those excluded outside of ranges and in gaps, those that some dataset has."""
    table = pd.DataFrame(list(rows)).groupby("k", as_index=False)[["blocks", *COUNTED]].sum()
    table["excluded_percent"] = (100 * (table["outside"] + table["gaps"]) / table["pairs"]).round(2)
    return table.assign(data=label)


# The command `excluded`.


def add_parser(commands: Any) -> None:
    excluded = commands.add_parser("excluded")
    excluded.add_argument("block", help="15-digit GEOID of the block")
    excluded.add_argument("claim", help="for instance TEN=3,HHSIZE=1 (m is not needed)")
    excluded.add_argument("--study", type=Path, default=STUDY, help="results of a variant (%(default)s)")
    excluded.set_defaults(run=_excluded)


def _excluded(options: argparse.Namespace) -> None:
    for line in _say_excluded(options.study, options.block, options.claim):
        print(line)
