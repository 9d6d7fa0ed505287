"""Certificates made from others: the same proof used otherwise, and small changes that may make it wrong."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from genverify.model.domain import Predicate
from genverify.model.query import Query
from genverify.model.release import Release

Text = dict[str, Any]
SMALL = (-2, -1, 1, 2)


def nodes_of(text: Text) -> list[Text]:
    """Every leaf and fork of a certificate."""
    roots = [pair[side] for pair in text["proofs"] for side in ("lower", "upper")]
    roots += [statement["proof"] for key in ("impossible", "at_least") for statement in text.get(key, [])]
    return [node for root in [*roots, *filter(None, [text.get("contradiction")])] for node in below(root)]


def below(node: Text) -> list[Text]:
    return [node, *(found for side in ("below", "above") if side in node for found in below(node[side]))]


def impossible_of(node: Text, s: int) -> Text:
    """A proof of s COUNT <= s m as a proof that a larger s COUNT cannot be: the claim itself takes the multiplier -s d."""
    if "kind" not in node:
        return {**node, **{side: impossible_of(node[side], s) for side in ("below", "above")}}
    return {**node, "c": -s * node.get("d", 1), "kind": "empty"} if node["kind"] == "bound" else dict(node)


def contradictory(release: Release, text: Text) -> tuple[Release, Text]:
    """The release with one cell more, that says the opposite of a verified claim, and the proof that no dataset fits."""
    [claim], [pair] = text["claims"], text["proofs"]
    extra = Query("extra", "T", "extra", Predicate.of({name: [code] for name, code in claim["where"].items()}))
    schema = replace(release.schema, queries=(*release.schema.queries, extra))
    cells, lo, hi = (
        np.append(a, b)
        for a, b in [(release.cells, len(schema.queries) - 1), (release.lo, claim["m"] + 1), (release.hi, claim["m"] + 1)]
    )
    node = deepcopy(impossible_of(pair["upper"], 1))
    for leaf in below(node):
        if "c" in leaf:
            leaf["y"]["extra"] = leaf.pop("c")
    return Release(schema, release.block, release.n, cells, lo, hi), {
        **text,
        "proofs": [],
        "claims": [],
        "impossible": [],
        "at_least": [],
        "contradiction": node,
    }


def leaf_of(random: Random, text: Text) -> Text:
    return random.choice([node for node in nodes_of(text) if "kind" in node])


def fork_of(random: Random, text: Text) -> Text | None:
    forks = [node for node in nodes_of(text) if "kind" not in node]
    return random.choice(forks) if forks else None


def cells_of(release: Release) -> list[str]:
    return ["N", *(query.id for query in release.queries)]


def change_multiplier(random: Random, release: Release, text: Text) -> Release | None:
    leaf = leaf_of(random, text)
    if not leaf["y"]:
        return None
    cell = random.choice(list(leaf["y"]))
    leaf["y"][cell] += random.choice(SMALL)
    return release


def remove_multiplier(random: Random, release: Release, text: Text) -> Release | None:
    leaf = leaf_of(random, text)
    if not leaf["y"]:
        return None
    leaf["y"].pop(random.choice(list(leaf["y"])))
    return release


def add_multiplier(random: Random, release: Release, text: Text) -> Release:
    leaf_of(random, text)["y"][random.choice(cells_of(release))] = random.choice(SMALL)
    return release


def replace_cell(random: Random, release: Release, text: Text) -> Release | None:
    leaf = leaf_of(random, text)
    if not leaf["y"]:
        return None
    number = leaf["y"].pop(random.choice(list(leaf["y"])))
    leaf["y"][random.choice(cells_of(release))] = number
    return release


def change_m(random: Random, release: Release, text: Text) -> Release | None:
    said = [*text["claims"], *text.get("impossible", []), *text.get("at_least", [])]
    if not said:
        return None
    random.choice(said)["m"] += random.choice((-1, 1))
    return release


def change_claim(random: Random, release: Release, text: Text) -> Release | None:
    said = [*text["claims"], *text.get("impossible", []), *text.get("at_least", [])]
    if not said:
        return None
    where, column = random.choice(said)["where"], random.choice(release.schema.domain.columns)
    where[column.name] = random.choice(column.codes)
    if len(where) > 1 and random.random() < 0.5:
        where.pop(random.choice(list(where)))
    return release


def change_count(random: Random, release: Release, text: Text) -> Release | None:
    if not len(release.cells):
        return None
    lo, hi, place = release.lo.copy(), release.hi.copy(), random.randrange(len(release.cells))
    lo[place] = hi[place] = max(0, int(hi[place]) + random.choice(SMALL))
    return replace(release, lo=lo, hi=hi)


def add_lemma(random: Random, release: Release, text: Text) -> Release | None:
    cells = cells_of(release)
    if len(cells) == 1:
        return None
    chosen = random.sample(cells[1:], random.randint(1, min(3, len(cells) - 1)))
    text["lemmas"].append({"universe": random.choice(cells), "cells": chosen})
    return release


def change_lemma(random: Random, release: Release, text: Text) -> Release | None:
    if not text["lemmas"]:
        return None
    lemma, cell = random.choice(text["lemmas"]), random.choice(cells_of(release))
    change = random.choice(("universe", "drop", "add", "replace"))
    if change == "universe":
        lemma["universe"] = cell
    elif change == "add" or not lemma["cells"]:
        lemma["cells"].append(cell)
    elif change == "drop":
        lemma["cells"].pop(random.randrange(len(lemma["cells"])))
    else:
        lemma["cells"][random.randrange(len(lemma["cells"]))] = cell
    return release


def change_at(random: Random, release: Release, text: Text) -> Release | None:
    fork = fork_of(random, text)
    if fork is None:
        return None
    fork["at"] += random.choice((-1, 1))
    return release


def change_part(random: Random, release: Release, text: Text) -> Release | None:
    fork = fork_of(random, text)
    if fork is None:
        return None
    fork.pop("where", None)
    fork.pop("like", None)
    columns = release.schema.domain.columns
    if random.random() < 0.5:
        fork["like"] = [random.choice(column.codes) for column in columns]
    else:
        column = random.choice(columns)
        fork["where"] = {column.name: random.sample(column.codes, random.randint(1, len(column.codes)))}
    return release


def swap_sides(random: Random, release: Release, text: Text) -> Release | None:
    fork = fork_of(random, text)
    if fork is None:
        return None
    fork["below"], fork["above"] = fork["above"], fork["below"]
    return release


def swap_proofs(random: Random, release: Release, text: Text) -> Release | None:
    if not text["proofs"]:
        return None
    pair = random.choice(text["proofs"])
    pair["lower"], pair["upper"] = pair["upper"], pair["lower"]
    return release


def prune_fork(random: Random, release: Release, text: Text) -> Release | None:
    """Forget one case of a fork: its place is taken by the other one."""
    fork = fork_of(random, text)
    if fork is None:
        return None
    kept = dict(fork[random.choice(("below", "above"))])
    fork.clear()
    fork.update(kept)
    for node in below(fork):
        if "w" in node:
            node["w"].pop()
    return release


def change_w(random: Random, release: Release, text: Text) -> Release | None:
    leaf = leaf_of(random, text)
    if not leaf.get("w"):
        return None
    leaf["w"][random.randrange(len(leaf["w"]))] += random.choice(SMALL)
    return release


def change_d(random: Random, release: Release, text: Text) -> Release:
    leaf = leaf_of(random, text)
    leaf["d"] = leaf.get("d", 1) + random.choice(SMALL)
    return release


def change_c(random: Random, release: Release, text: Text) -> Release | None:
    if not text.get("impossible"):
        return None
    leaf = random.choice([node for said in text["impossible"] for node in below(said["proof"]) if "kind" in node])
    leaf["c"] = leaf.get("c", 0) + random.choice(SMALL)
    return release


def change_kind(random: Random, release: Release, text: Text) -> Release:
    leaf = leaf_of(random, text)
    leaf["kind"] = "empty" if leaf["kind"] == "bound" else "bound"
    return release


MUTATIONS: list[Callable[[Random, Release, Text], Release | None]] = [
    change_multiplier, change_multiplier, remove_multiplier, add_multiplier, replace_cell, change_m, change_claim,
    change_count, change_count, add_lemma, change_lemma, change_at, change_part, swap_sides, swap_proofs, prune_fork,
    change_w, change_d, change_c, change_kind,
]  # fmt: skip


def mutate(random: Random, release: Release, text: Text) -> tuple[str, Release]:
    """Change one thing, in place; the name of the change and the release, which may have changed."""
    while True:
        mutation = random.choice(MUTATIONS)
        changed = mutation(random, release, text)
        if changed is not None:
            return mutation.__name__, changed
