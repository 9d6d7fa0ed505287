"""Small certificates of all four models, each with what it is about, and mutants of them that say what is false."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import numpy as np

import brute_force as brute
from genverify.attack.verify import AreaAttack, Verifier, attack_release
from genverify.checker.linear_proofs import check_system
from genverify.checker.record_proofs import AreaChecker, check_block, check_part
from genverify.model.claims import ANY, Claim
from genverify.model.linear import LinearSystem, make_system
from genverify.model.proof_form import AREAS, HOUSING, LINEAR, RECORDS, new_certificate
from genverify.solve.bounds import certificate_of
from genverify.solve.linear.ranges import all_ranges
from genverify.solve.linear.search import Work
from genverify.solve.program_settings import DEFAULT
from tiny_levels import RECORDS as PEOPLE
from tiny_levels import levels_of, true_claims

Text = dict[str, Any]
CELLS = ("x", "y", "z", "t", "u")


@dataclass(frozen=True)
class Case:
    """What is published, a certificate about it that is right, and the checker of its model."""

    model: str
    published: Any
    certificate: Text
    check: Callable[[Text], object]


def cases(random: Random) -> Iterator[Case]:
    """One case of each model, if the counts drawn have something to prove."""
    for make in (records_case, linear_case, areas_case, housing_case):
        case = make(random)
        if case and case.certificate["statements"]:
            case.check(case.certificate)
            yield case


def records_case(random: Random) -> Case:
    release = brute.some_release(random)
    certificate = attack_release(release).certificate
    return Case(RECORDS, release, certificate, lambda text: check_block(release, text))


def some_system(random: Random) -> LinearSystem:
    """Cells between small ends, and sums that some counts within them have; of some, only an end is told."""
    truth = {cell: random.randint(0, 5) for cell in CELLS}
    ends = {cell: (own, own) if random.random() < 0.2 else (0, own + random.randint(0, 4)) for cell, own in truth.items()}
    rows = []
    for number in range(random.randint(2, 4)):
        weights = {cell: random.choice([1, 1, 1, 2, -1]) for cell in random.sample(CELLS, random.randint(2, 4))}
        total, slack = sum(own * truth[cell] for cell, own in weights.items()), random.choice([0, 0, 0, 1])
        rows.append((f"row {number}", weights, total - slack, total + slack))
    return make_system(ends, rows)


def linear_case(random: Random) -> Case:
    system = some_system(random)
    found = all_ranges(system, Work(seconds=20))
    while not found.exact.all():  # a limit struck: then a bound that is stronger by one need not be false
        system = some_system(random)
        found = all_ranges(system, Work(seconds=20))
    certificate = new_certificate(LINEAR, "drawn", system.digest) | {"statements": list(found.statements)}
    return Case(LINEAR, system, deepcopy(certificate), lambda text: check_system(system, text, "drawn"))


def areas_case(random: Random) -> Case:
    blocks = [[random.choice(PEOPLE) for _ in range(random.randint(1, 2))] for _ in range(random.randint(1, 3))]
    names = ["A", "B", "C", "AB", "AC", "BC", "sum"]
    levels = levels_of(blocks, random.sample(names, 2), random.sample(names, 2))
    attack = AreaAttack(levels, K=4)
    said = [{"block": one.block, "alone": one.alone, "together": one.together} for one in attack.blocks()]
    certificate = attack.shared | {"statements": [one for one in said if one["alone"] or one["together"]]}

    def check(text: Text) -> object:
        return list(AreaChecker(levels, text).statements(text["statements"]))

    return Case(AREAS, levels, deepcopy(certificate), check)


def housing_case(random: Random) -> Case | None:
    """The fewest records with a code, as one statement about one of two parts."""
    for _ in range(20):
        release, other = brute.some_release(random), brute.some_release(random)
        names, truth = release.schema.domain.names, brute.Truth(release)
        for code in release.schema.domain.columns[0].codes:
            codes = (code, *[ANY] * (len(names) - 1))
            least = min(truth.counts(codes))
            if least:
                verifier = Verifier(DEFAULT.bounder(release))
                found = verifier.range(Claim(codes, 0))
                assert found.low == least
                assert found.lower
                said = {"goal": "at least", "where": {names[0]: code}, "m": least, "proof": found.lower}
                text = certificate_of(release, verifier.bounder.program.lemmas, said, model=HOUSING)
                return Case(HOUSING, release, deepcopy(text), partial(check_part, [other, release]))
    return None


# mutants: a statement that is false, with the proof of a true one, changed at random or made up


def nodes(value: Any) -> list[Text]:
    """Every leaf and fork below a value."""
    if isinstance(value, list):
        return [node for one in value for node in nodes(one)]
    if not isinstance(value, dict):
        return []
    own = [value] if "y" in value or "at" in value else []
    return own + [node for one in value.values() for node in nodes(one)]


def claims_of(text: Text) -> list[Text]:
    """The statements that name a number, wherever they stand."""
    found = [said for said in text["statements"] if "value" in said or "m" in said]
    parts = [said[name] for said in text["statements"] for name in ("alone", "together") if said.get(name)]
    return found + [said for part in parts for said in part["statements"]]


def mutant(random: Random, case: Case) -> Text:
    """The certificate with one statement that is false, and some numbers of its proofs changed."""
    text = deepcopy(case.certificate)
    said = random.choice(claims_of(text))
    if "value" in said:
        said["value"] += (-1 if said["side"] == "upper" else 1) * random.choice([1, 1, 2, 10])
        last = [one for one in text["statements"] if (one["cell"], one["side"]) == (said["cell"], said["side"])][-1]
        last["value"] = (min if said["side"] == "upper" else max)(
            last["value"] + (-1 if said["side"] == "upper" else 1), said["value"]
        )
    else:
        said["m"] += 1 if said.get("goal") == "at least" else random.choice([1, -1] if said["m"] else [1])
    shake(random, text, random.choice([0, 1, 2, 4]))
    return text


def shake(random: Random, text: Text, times: int) -> None:
    """Change some numbers of the proofs."""
    for _ in range(times):
        node = random.choice(nodes(text) or [{}])
        change = random.choice(("times", "more", "d", "w", "at", "swap", "drop"))
        if change in ("times", "more", "drop") and node.get("y"):
            name = random.choice(list(node["y"]))
            node["y"][name] = {
                "times": 2 * node["y"][name],
                "more": node["y"][name] + random.choice([-2, -1, 1, 2]),
                "drop": 0,
            }[change]
        elif change == "d" and "at" not in node:
            node["d"] = random.choice([1, 2, 3, 50])
        elif change == "w" and node.get("w"):
            node["w"][random.randrange(len(node["w"]))] *= 2
        elif change == "at" and "at" in node:
            node["at"] += random.choice([-1, 1])
        elif change == "swap" and "at" in node:
            node["below"], node["above"] = node["above"], node["below"]


def changed(random: Random, case: Case) -> Text:
    """The certificate with some numbers of its proofs and perhaps of a statement changed: it may still be right."""
    text = deepcopy(case.certificate)
    said = random.choice(claims_of(text))
    if random.random() < 0.5:
        key = "value" if "value" in said else "m"
        said[key] = max(1, said[key] + random.choice([-1, 1]))
    shake(random, text, random.choice([1, 2, 4]))
    return text


def false_statements(case: Case, text: Text) -> int:
    """How many statements some counts or records refute that fit what is published, all of them tried."""
    if case.model == LINEAR:
        points, place = numbers_that_fit(case.published), case.published.place
        ends = [(points[:, place[said["cell"]]], said) for said in text["statements"]]
        return sum((x.max() > said["value"]) if said["side"] == "upper" else (x.min() < said["value"]) for x, said in ends)
    if case.model == AREAS:
        names, right = case.published.schema.domain.names, true_claims(case.published)
        number = {block.block: index for index, block in enumerate(case.published.blocks)}
        parts = [(said["block"], said[name]) for said in text["statements"] for name in ("alone", "together") if said[name]]
        listed = [(number[block], said) for block, part in parts for said in part["statements"]]
        claims = [(at, Claim(tuple(said["where"].get(name, ANY) for name in names), said["m"])) for at, said in listed]
        return sum(claim not in right[at] for at, claim in claims)
    own = {"claims": "exactly", "at_least": "at least"}
    return len(brute.refuted(case.published, {
        key: [said for said in text["statements"] if said["goal"] == goal] for key, goal in own.items()
    }))  # fmt: skip


def lie(random: Random, case: Case) -> Text:
    """What a lying solver could give: a false statement with multipliers that are drawn at random."""
    text = mutant(random, case)
    for node in nodes(text):
        if "at" not in node:
            node["y"] = {
                name: random.randint(-3, 3)
                for name in [*node["y"], *random.sample(names_of(case), min(2, len(names_of(case))))]
            }
    return text


def names_of(case: Case) -> list[str]:
    if case.model == LINEAR:
        return list(case.published.rows)
    return sorted({name for node in nodes(case.certificate) for name in node.get("y", {})} or {"N"})


def numbers_that_fit(system: LinearSystem) -> np.ndarray:
    """Every list of counts within the ends that has the sums."""
    grids = np.meshgrid(*(np.arange(lo, hi + 1) for lo, hi in zip(system.lo, system.hi, strict=True)), indexing="ij")
    points = np.stack([grid.ravel() for grid in grids], axis=1)
    return points[[system.fits(point) for point in points]]
