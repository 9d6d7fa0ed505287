"""Claims and proofs in plain English: which published cells force a claim, and why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.generate import no_dataset_fits
from genverify.attack.probability import probability, read_prior
from genverify.attack.verify import Decision, Verdict, VerifiedBlock, Verifier, check_decisions, check_ranges, claim_where
from genverify.checker.certificate import Forks, leaves
from genverify.checker.record_proofs import Cells
from genverify.checker.stored import checked_blocks
from genverify.model.arrays import Flags, Ints
from genverify.model.claims import ANY, Claim, parse_claim
from genverify.model.domain import EVERY, Domain, Exclusions, Predicate, Rule
from genverify.model.errors import MALFORMED, ConfigError, DataError, naming, refusing
from genverify.model.files import read_yaml
from genverify.model.release import TOTAL, Release, Schema, read_releases, read_schema
from genverify.model.tablefiles import read_frame, table_file, table_names
from genverify.model.work import derive_seed
from genverify.solve.admissible import Types, live_types, one_code_each, zero_cells
from genverify.solve.counting.diagram import Budget
from genverify.solve.program_settings import DEFAULT

# Claims in plain English, composed from a file of phrases.

Known = Mapping[str, int]  # column name: code, for the columns that a claim speaks of


Case = tuple[Predicate, str]  # words for a claim that holds the codes of the condition


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
        allowed = not self.only or any(fits(when, known) for when in self.only)
        cases = [next((words for when, words in slot if fits(when, known)), "") for slot in self.slots]
        phrases = [words for words in cases if words]
        if not allowed or not phrases or any(fits(when, known) for when in self.unless):
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
    with naming(path), refusing(MALFORMED, f"{path}: not a phrase file", "see data/census/phrases.yaml for the form"):
        return _parse_phrases(read_yaml(path), domain)


def _parse_phrases(text: Mapping[str, Any], domain: Domain) -> Phrases:
    """A phrase file from its parsed YAML."""
    sentences = tuple(_sentence(part, domain) for part in text["sentences"])
    vary, unsaid = tuple(domain[name].name for name in text.get("vary", [])), text.get("unsaid", {})
    said = [when for one in sentences for when in (*one.only, *(when for slot in one.slots for when, _ in slot))]
    for column in domain.columns:
        known = {code for when in said for code in when.where.get(column.name, ())}.union(unsaid.get(column.name, ()))
        for code in (code for code in column.codes if code not in known):
            raise DataError(
                f"no words for {column.name}={code} ({column.meaning[code]}): add a case or list it under `unsaid`"
            )
    return Phrases(sentences, vary)


def _sentence(text: Mapping[str, Any], domain: Domain) -> Sentence:
    slots = tuple(tuple((_condition(case.get("when"), domain), case["say"]) for case in slot) for slot in text["slots"])
    only, unless = (tuple(_condition(when, domain) for when in text.get(key, [])) for key in ("only", "unless"))
    return Sentence(text.get("start", ""), slots, text.get("join") == "list", only, unless)


def _condition(when: Mapping[str, Sequence[int]] | None, domain: Domain) -> Predicate:
    return domain.check(Predicate.of(when), "a case") if when else EVERY


# What a sum of published cells rests on: few zero cells and totals that rule out every record that it does not fit.

MAX_TYPES = 2_000_000  # bounds memory while a proof is put into words
WITNESSES = 400  # wrong records drawn in a round; all are looked at afterwards, so this decides the speed only


class Reasons:
    """The zero cells and totals of a block, ready to say which of them a leaf of a proof needs."""

    def __init__(self, release: Release, lemmas: Sequence[Mapping[str, Any]], search: bool = True) -> None:
        self.release, self.cells, self.search = release, Cells(release), search
        self.labels = {TOTAL: "all records", **{query.id: query.label for query in release.queries}}
        self.lemmas = {f"lemma {index}": lemma for index, lemma in enumerate(lemmas)}
        self.rules = zero_cells(release)
        for name, lemma in self.lemmas.items():
            universe, *cells = (self.cells[cell].predicate for cell in (lemma["universe"], *lemma["cells"]))
            self.rules.append(Rule(name, universe, tuple(cells)))
        self.exclusions = Exclusions(release.schema.domain, self.rules)

    def count_text(self, name: str) -> str:
        """The count of a cell, or the range that it is known to lie in."""
        cell = self.cells[name]
        return f"{cell.hi}" if cell.lo == cell.hi else f"{cell.lo} to {cell.hi}"

    def needed(self, leaf: Mapping[str, Any], s: int, forks: Forks, matching: Sequence[Predicate]) -> list[Rule]:
        """
        The rules that exclude every record for which the leaf's sum is wrong, each of them needed.

        `matching`: the sum is about the records that match one of these. Rules are chosen that exclude most of a sample of
        the wrong records; then all records are looked at, and what is left over joins the sample.
        """
        if not self.search:
            return []
        rng = np.random.default_rng(derive_seed(0, "reasons", self.release.block))
        wrong_of = partial(self.wrong, leaf, s, forks, matching)
        chosen, seen = list[int](), np.zeros((len(self.rules), 0), dtype=bool)
        types, wrong = wrong_of(chosen)
        while wrong.any():
            seen = np.hstack([seen, self.exclusions.of(_sample(types, wrong, rng))])
            more = _cover(seen, chosen)
            if not more:
                return [self.rules[index] for index in chosen]
            chosen += more
            types, wrong = wrong_of(chosen)
        for index in list(chosen):  # less those without which no wrong record comes back
            fewer = [other for other in chosen if other != index]
            if seen[fewer].any(axis=0).all() and not wrong_of(fewer)[1].any():
                chosen = fewer
        return [self.rules[index] for index in chosen]

    def wrong(
        self, leaf: Mapping[str, Any], s: int, forks: Forks, matching: Sequence[Predicate], chosen: Sequence[int]
    ) -> tuple[Types, Flags]:
        """The records, were only these rules known, and which of them the leaf's sum does not fit."""
        domain = self.release.schema.domain
        # of a fork on the records like one, the record itself: close enough for words
        parts = [Predicate.of(fork["where"]) if "where" in fork
                 else exactly(dict(zip(domain.names, fork["like"], strict=True))) for fork, _ in forks]  # fmt: skip
        cells = [self.cells[name].predicate for name in leaf["y"]]
        rules = [*(self.rules[index] for index in chosen), *self.release.schema.rules]
        single = one_code_each(self.release.queries, domain)
        types = live_types(domain, [*cells, *parts, *matching, *single], rules, MAX_TYPES)
        v: Ints = np.zeros(len(types), dtype=np.int64)
        for (name, y), predicate in zip(leaf["y"].items(), cells, strict=True):
            v += y * types.coefficients(predicate, self.cells[name].sums)
        for predicate, w in zip(parts, leaf.get("w", []), strict=False):
            v += w * types.inside(predicate)
        target = leaf.get("d", 1) * s if leaf["kind"] == "bound" else 0
        return types, v < (target * np.any([types.inside(predicate) for predicate in matching], axis=0) if target else 0)


def exactly(where: Mapping[str, int]) -> Predicate:
    """The condition that columns hold these codes."""
    return Predicate.of({name: [code] for name, code in where.items()})


def _sample(types: Types, wrong: Flags, rng: np.random.Generator) -> Ints:
    """Distinct wrong records as rows of codes: all of them if they are few."""
    # The wrong types may stand for more records than memory holds, so they are never listed. All records are numbered, type
    # after type; numbers are drawn without replacement, and each is decoded: its type by where it falls among the ends, its
    # code in each column as a digit of what is left, in a number system whose bases are the sizes of the type's atoms.
    ends = np.cumsum(types.raw[wrong])
    drawn = np.sort(rng.choice(int(ends[-1]), min(WITNESSES, int(ends[-1])), replace=False, shuffle=False))
    row = np.searchsorted(ends, drawn, side="right")
    rest, table = drawn - np.concatenate([[0], ends])[row], types.table[wrong][row]
    codes = np.zeros(table.shape, dtype=np.int64)
    for column, atoms in enumerate(types.atoms):
        widths = np.array([len(atom) for atom in atoms])
        padded = np.array([[*atom, *[0] * (int(widths.max()) - len(atom))] for atom in atoms])
        at = table[:, column]
        codes[:, column], rest = padded[at, rest % widths[at]], rest // widths[at]
    return codes


def _cover(seen: Flags, chosen: Sequence[int]) -> list[int]:
    """
    Further rules, one after the other the one that excludes most records that no rule excludes yet.

    >>> _cover(np.array([[True, False, False], [False, True, True]]), [0]), _cover(np.zeros((0, 3), dtype=bool), [])
    ([1], [])
    """
    left = ~seen[list(chosen)].any(axis=0)
    more: list[int] = []
    while left.any() and len(seen):  # all blocks together may have no zero cell
        sizes = seen[:, left].sum(axis=1)
        best = int(np.argmax(sizes))
        if sizes[best] == 0:
            break
        more.append(best)
        left &= ~seen[best]
    return more


def proof_cells(reasons: Reasons, proofs: Mapping[str, Any], claim: Mapping[str, Any]) -> list[str]:
    """The published cells that the proof of a claim rests on: those that it adds up, and the zeros and totals it needs."""
    where = [exactly(claim["where"])]
    cells: dict[str, None] = {}
    for side, s in (("lower", -1), ("upper", +1)):
        for leaf, forks in leaves(proofs["proofs"][claim["proof"]][side]):
            cells |= dict.fromkeys(leaf["y"])
            for rule in reasons.needed(leaf, s, forks, where):
                lemma = reasons.lemmas.get(rule.name)
                cells |= dict.fromkeys([*lemma["cells"], lemma["universe"]] if lemma else [rule.name])
    return [cell for cell in cells if cell != TOTAL]


# A proof laid out: which published cells, with their labels and counts, force a claim; and the same in words.


@dataclass(frozen=True)
class _Sum:
    """Cells that are added up (over a common denominator), what follows, and the zeros and totals that this rests on."""

    conclusion: str
    over: int
    cells: tuple[tuple[int, str], ...]
    sides: tuple[tuple[int, bool], ...]
    because: tuple[Rule, ...]


@dataclass(frozen=True)
class CaseSplit:
    """Two cases: at most `at` records lie in a part, or more."""

    part: str
    at: int
    below: "Layout"
    above: "Layout"


Layout = _Sum | CaseSplit

CONCLUSIONS = {
    "at_most": "every record that matches counts at least once in this sum, and no record counts below 0",
    "at_least": "no record counts more in this sum than it matches the claim",
    "cannot_be": "no record counts below 0 in this sum, but the sum is: this case cannot be",
    "never_below": "a count is never below 0",
    "none_matches": "no possible record matches",
}


def lay_out(reasons: Reasons, node: Mapping[str, Any], s: int, matching: Sequence[Predicate], forks: Forks = ()) -> Layout:
    """One half of a proof (s = -1: at least m, s = +1: at most m) about the records that match one of the conditions."""
    if "kind" in node:
        because, weights = tuple(reasons.needed(node, s, forks, matching)), node.get("w", [])
        if not node["y"] and not any(weights):
            return _Sum("never_below" if s < 0 else "none_matches", 1, (), (), because)
        sign = s if node["kind"] == "bound" else 1
        conclusion = "cannot_be" if node["kind"] != "bound" else "at_least" if s < 0 else "at_most"
        cells = tuple((sign * y, name) for name, y in node["y"].items())
        sides = tuple((sign * w, below) for (_, below), w in zip(forks, weights, strict=False) if w)
        return _Sum(conclusion, node.get("d", 1), cells, sides, because)
    part = str(Predicate.of(node["where"])) if "where" in node else f"in the same published cells as {node['like']}"
    cases = {"below": [*forks, (node, True)], "above": [*forks, (node, False)]}
    below, above = (lay_out(reasons, node[side], s, matching, path) for side, path in cases.items())
    return CaseSplit(part, node["at"], below, above)


def explain_proof(reasons: Reasons, proofs: Mapping[str, Any], claim: Mapping[str, Any]) -> Iterator[str]:
    """The two halves of a verified claim's proof, line by line."""
    where = [exactly(claim["where"])]
    for words, side, s in (("At least", "lower", -1), ("At most", "upper", +1)):
        yield f"{words} {claim['m']}:"
        yield from layout_lines(reasons, lay_out(reasons, proofs["proofs"][claim["proof"]][side], s, where), "  ")


def contradiction_cells(release: Release, lemmas: Sequence[Mapping[str, Any]], leaf: Mapping[str, Any]) -> list[str]:
    """The cells with which a leaf shows that no dataset fits: those that it adds up, and the zeros that it needs."""
    reasons = Reasons(release, lemmas)
    needed = reasons.needed(leaf, 0, [], [EVERY])
    return [*(_cell(reasons, name) for name in leaf["y"]), *(_exclusion(reasons, rule) for rule in needed)]


def _cell(reasons: Reasons, name: str) -> str:
    return f"{name} = {reasons.count_text(name)} ({reasons.labels[name]})"


def _exclusion(reasons: Reasons, rule: Rule) -> str:
    if rule.name not in reasons.lemmas:
        return _cell(reasons, rule.name)
    lemma = reasons.lemmas[rule.name]
    parts = " + ".join(f"{cell} ({reasons.count_text(cell)})" for cell in lemma["cells"])
    return f"{parts} = {lemma['universe']} ({reasons.count_text(lemma['universe'])}): nobody else is in {lemma['universe']}"


def layout_lines(reasons: Reasons, layout: Layout, indent: str = "") -> Iterator[str]:
    """A layout in words: the cases one below the other, each with its sum and its reasons."""
    if isinstance(layout, CaseSplit):
        yield f"{indent}either at most {layout.at} records are {layout.part}:"
        yield from layout_lines(reasons, layout.below, indent + "  ")
        yield f"{indent}or at least {layout.at + 1} records are {layout.part}:"
        yield from layout_lines(reasons, layout.above, indent + "  ")
        return
    if layout.cells or layout.sides:
        yield f"{indent}add up{f' (all divided by {layout.over})' if layout.over != 1 else ''}:"
    for y, name in layout.cells:
        yield f"{indent}  {y:+d} x {_cell(reasons, name)}"
    for w, below in layout.sides:
        yield f"{indent}  {w:+d} x the {'at most' if below else 'at least'} above"
    yield indent + CONCLUSIONS[layout.conclusion]
    if layout.because:
        yield f"{indent}because no other record is possible:"
        yield from (f"{indent}  {_exclusion(reasons, rule)}" for rule in layout.because)


def explain(verified: VerifiedBlock, claim: Claim | int) -> str:
    """What a verified claim, or the one with this number, says, and the published cells that force it."""
    domain, release = verified.program.types.domain, verified.program.release
    claim = dict(enumerate(verified.claims)).get(claim, claim) if isinstance(claim, int) else claim
    if not isinstance(claim, Claim):
        raise DataError(f"there is no claim {claim}: {len(verified.claims)} are verified, numbered from 0")
    if claim not in verified.claims:
        raise DataError(f"block {release.block}: {_in_words(domain, claim)} is not among the verified claims")
    number = verified.proof_of[verified.claims.index(claim)]
    stored = {"where": claim_where(domain.names, claim), "m": claim.m, "proof": number}
    reasons = Reasons(release, verified.certificate["lemmas"])
    return "\n  ".join([_in_words(domain, claim), *explain_proof(reasons, verified.certificate, stored)])


def _in_words(domain: Domain, claim: Claim) -> str:
    """A claim in the words of its domain."""
    parts = [f"{column.label}: {column.meaning.get(code, code)}"
            for column, code in zip(domain.columns, claim.codes, strict=True) if code != ANY]  # fmt: skip
    return f"exactly {claim.m} record{'' if claim.m == 1 else 's'} with {', '.join(parts)}"


# The answer to "explain this claim": its stored proof in words, once it is checked, or what the release says of it.


def explain_claim(study: Path, block: str, text: str) -> Iterator[str]:
    """The claim in words and, if it is verified, the cells that force it; otherwise the range of its count."""
    release, batch, claim, head = _question(study, block, text)
    schema = release.schema
    counts, proofs = table_file(study / "release", batch), study / "proofs" / f"{batch}.jsonl.gz"
    (stored,) = checked_blocks(counts, proofs, schema, {block})
    yield from head
    proof = stored.proof_of.get((claim.codes, claim.m))
    if proof is not None:
        yield "Verified: true of every dataset that fits the published counts (proof checked)."
        statement = {"where": claim_where(schema.domain.names, claim), "m": claim.m, "proof": proof}
        yield from explain_proof(Reasons(release, stored.proofs["lemmas"]), stored.proofs, statement)
    elif _without_proof(table_file(study / "claims", batch), schema, block, claim):
        yield "Verified by the solver, without proof: the study was run with the one-hot program (program.formulation)."
    else:
        yield from _searched(release, claim)


def _without_proof(path: Path, schema: Schema, block: str, claim: Claim) -> bool:
    claims = read_frame(path) if path.exists() else pd.DataFrame()
    if claims.empty:
        return False
    unproved = claims[(claims["block"] == block) & (claims["m"] == claim.m) & claims["proof"].isna()]
    return claim.codes in map(tuple, unproved[list(schema.domain.names)].fillna(ANY).to_numpy(dtype=int).tolist())


def _question(study: Path, block: str, text: str) -> tuple[Release, str, Claim, list[str]]:
    schema = read_schema(study / "release" / "schema.json")
    release, batch = find_release(study, schema, block)
    claim = parse_claim(text, schema.domain)
    head = f"Block {block}, {release.n} records. Claim: exactly {claim.m} with"
    return release, batch, claim, [head, *conditions(schema, claim)]


def conditions(schema: Schema, claim: Claim) -> Iterator[str]:
    for column, code in zip(schema.domain.columns, claim.codes, strict=True):
        if code != ANY:
            meaning = column.meaning.get(code, "no such code: no record can hold it")
            yield f"  {column.label}: {meaning} ({column.name} = {code})"


def _searched(release: Release, claim: Claim) -> Iterator[str]:
    """What the release says of a claim that the study did not verify; what is certain has a proof, checked here."""
    verifier = Verifier(DEFAULT.bounder(release))
    counts = verifier.range(claim)
    if counts.limit:
        seen = f"seen between {counts.low} and {counts.high}" if counts.low <= counts.high else "not bounded"
        yield f"Not among the stored claims, and not decided: its count was {seen} ({counts.limit})."
    elif counts.low > counts.high:
        raise no_dataset_fits(verifier.bounder, counts.upper, None)
    elif counts.low == counts.high == claim.m:
        check_decisions(verifier.bounder.program, [Decision(claim, Verdict.VERIFIED, counts.lower, counts.upper)])
        yield (
            "Not among the stored claims (the study keeps those with k >= verify.min_k), but verified now, proof checked: "
            "true of every dataset that fits the published counts."
        )
    else:
        check_ranges(verifier.bounder.program, [(claim.predicate(release.schema.domain), counts)])
        ends = f"the count ranges from {counts.low} to {counts.high}"
        yield f"Not verified: over all datasets that fit, {ends} (both bounds checked)."


def find_release(study: Path, schema: Schema, block: str) -> tuple[Release, str]:
    """The release of a block and the name of its batch."""
    for batch in table_names(study / "release"):
        for release in read_releases(table_file(study / "release", batch), schema):
            if release.block == block:
                return release, batch
    raise DataError(f"{study / 'release'}: no block {block}; results/sample/blocks.parquet lists the sampled blocks")


LEAST_PRINTED = 0.00005  # what is less likely would be printed as 0.00 %


def probable_claim(
    study: Path, block: str, text: str, prior: Path | None, floor: float, budget: Budget, sample: Path | None = None
) -> Iterator[str]:
    """The claim in words, its probability, and the distribution of its count."""
    if sample and (prior or floor):
        raise ConfigError("--sample is smoothed by itself: give it without --prior and --floor")
    release, _, claim, head = _question(study, block, text)
    yield from head
    file = sample or prior
    table = read_prior(file, release.schema.domain, floor, sample is not None) if file else None
    result = probability(release, claim, table, budget=budget)
    yield f"Probability: {result}."
    if result.value == 1 and result.exact:
        yield "Certain: true of every dataset that fits the published counts and that the prior does not rule out."
    if result.datasets is not None:
        yield f"Datasets that fit: {result.datasets:,}."
    for count, share in enumerate(result.counts):
        if share >= LEAST_PRINTED:
            yield f"  {count} such records: {100 * share:.2f} %"
