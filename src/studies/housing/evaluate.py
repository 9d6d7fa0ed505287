"""Detection and re-identification compared with the private households (Table 1, section 4.1)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.model.arrays import Flags
from genverify.model.errors import DataError
from genverify.model.files import read_json
from genverify.model.work import derive_seed
from studies.housing.detect import FLAGGED
from studies.housing.households import COLUMNS, HouseholdFile, chosen_blocks, property_households, read_states
from studies.housing.settings import Condition
from studies.housing.sources import FILES

# Match keys: what the attacker's identified data say of a household, and which households exceed the occupancy limit.

SUBSIDY = "BEDROOMS"
"""The column that is 0 for a household outside of subsidized properties."""


def with_key(households: pd.DataFrame, names: Sequence[str], file: HouseholdFile) -> pd.DataFrame:
    """The households as the key S shows them: their block, and a column for each name of the key."""
    return pd.DataFrame({"block": households["block"], **{name: file.values(name, households) for name in names}})


def knows_subsidy(names: Sequence[str], file: HouseholdFile) -> bool:
    """Whether a key tells subsidized households from the others."""
    return any((name if name in COLUMNS else file.attributes[name].column) == SUBSIDY for name in names)


def in_violation(households: pd.DataFrame, file: HouseholdFile) -> Flags:
    """V: the households of more persons than their unit may hold."""
    bedrooms, size = (file.values(name, households) for name in (SUBSIDY, "SIZE"))
    return file.violates(bedrooms, size)


def read_property_households(path: Path, blocks: int | None = None) -> pd.DataFrame:
    """The private households of all blocks that hold a property, or of as many of these as a condition has."""
    households = pd.concat(map(property_households, read_states(path)), ignore_index=True)
    return households if blocks is None else households[households["block"].isin(chosen_blocks(households["block"], blocks))]


# Re-identification (section 4.1): reconstructed violations are ranked and joined with identified data.
#
# A configuration is a block together with the values of the match key S, since the attacker joins within a block; one
# ranking runs over all flagged blocks. "How often" is read as households per reconstruction: the violations with this
# configuration in all reconstructions of the block (two alike in one of them count twice) over the number of
# reconstructions, so that blocks with fewer than t of them are ranked by the same measure. V-hat holds every identified
# household that has one of the first k configurations, in violation or not. Where the key tells subsidized households from
# others, the identified households are the subsidized ones; otherwise they are all households of the property blocks. V is
# never restricted to flagged blocks.
#
# The paper's "fraction of putative violations that can be matched to a true violation" may also be meant of configurations,
# each counted once, however many households have it: that is the scope `distinct`. On unique households both readings
# agree. The text most likely counts otherwise again (`once`): configurations in precision and above the line of recall, but
# below it every household in violation, as a join of distinct rows with a list of households does.

SCOPES = ("all", "unique", "distinct", "once")
"""
All identified households; those unique in their block in the key; each configuration of a block once, true if any is; the
same with recall over all households in violation.
"""

SAMPLING = "sampling"
CURVE = ["source", "key", "scope", "k", "frequency", "putative", "true", "precision", "recall", "match_rate"]


@dataclass(frozen=True)
class IdentifiedHouseholds:
    """D_S: the identified households of a match key S, and what only the evaluation knows of them: V, and who is unique."""

    key: str
    names: tuple[str, ...]
    households: pd.DataFrame

    def true(self, scope: str) -> int:
        """|V|, over all households, over those unique in their block, or over configurations: what recall is a share of."""
        counted = "all" if scope == "once" else scope
        return int(self.households[f"{counted}_true"].sum())

    def tally(self, place: str) -> pd.DataFrame:
        """How many households, and how many of them in V, have each configuration of a place (block or state)."""
        flags = [name for scope in SCOPES for name in (scope, f"{scope}_true")]
        return self.households.groupby([place, *self.names], as_index=False)[flags].sum()


def identify(households: pd.DataFrame, key: str, names: Sequence[str], file: HouseholdFile) -> IdentifiedHouseholds:
    """The identified data of a key, made of the private households: exact, as in the paper."""
    seen = with_key(households, names, file).assign(state=households["block"].str[:2], all=1)
    seen["violates"] = in_violation(households, file)
    if knows_subsidy(names, file):
        seen = seen[households[SUBSIDY] > 0].copy()
    alike = seen.groupby(["block", *names])["violates"]
    seen["unique"] = (alike.transform("size") == 1).astype(np.int64)
    seen["distinct"] = (alike.cumcount() == 0).astype(np.int64)
    seen["once"] = seen["distinct"]
    held = alike.transform("any")
    for scope, true in zip(SCOPES, (seen["violates"], seen["violates"], held, held), strict=True):
        seen[f"{scope}_true"] = seen[scope] * true
    return IdentifiedHouseholds(key, tuple(names), seen)


def count_violations(reconstructions: pd.DataFrame, file: HouseholdFile) -> pd.DataFrame:
    """Reconstructed violations: how often each household of a block occurs in all reconstructions, and in the likeliest."""
    rows = reconstructions[in_violation(reconstructions, file)]
    rows = rows.assign(times=rows["count"], first=rows["count"].where(rows["rank"] == 0, 0))
    return rows.groupby(["block", *COLUMNS], as_index=False)[["times", "first"]].sum()


def rank_reconstructed(
    counted: pd.DataFrame, found: "pd.Series[int]", identified: IdentifiedHouseholds, file: HouseholdFile, seed: int
) -> pd.DataFrame:
    """R'_S: the configurations of reconstructed violations by how many of them a reconstruction of their block holds."""
    names = list(identified.names)
    rows = with_key(counted, names, file).assign(times=counted["times"])
    rows = rows.groupby(["block", *names])["times"].sum().reset_index()
    unknown = sorted(set(rows["block"]) - set(found.index))
    if unknown:
        raise DataError(f"block {unknown[0]} has reconstructions, but no row that says how many: make its batch again")
    frequency = rows["times"].to_numpy() / found.reindex(rows["block"]).to_numpy(dtype=float)
    return _ranked(rows.assign(frequency=frequency), ["frequency"], seed)


def _ranked(rows: pd.DataFrame, by: Sequence[str], seed: int) -> pd.DataFrame:
    """Rows, the largest first; ties in an order drawn from the seed."""
    ties = np.random.default_rng(seed).permutation(len(rows))
    return rows.iloc[np.lexsort([ties, *(-rows[name].to_numpy() for name in reversed(by))])].reset_index(drop=True)


def rank_sample(
    households: pd.DataFrame, identified: IdentifiedHouseholds, file: HouseholdFile, share: float, seed: int
) -> pd.DataFrame:
    """R_S of the sampling attack: configurations of a state by the share, then number, of sampled ones in violation."""
    drawn = draw_sample(households, share, seed)
    rows = with_key(drawn, identified.names, file).assign(state=drawn["block"].str[:2], violates=in_violation(drawn, file))
    grouped = rows.groupby(["state", *identified.names])["violates"].agg(times="sum", frequency="mean").reset_index()
    ties = derive_seed(seed, "housing", "ties", SAMPLING, identified.key)
    return _ranked(grouped[grouped["times"] > 0], ["frequency", "times"], ties)


def draw_sample(households: pd.DataFrame, share: float, seed: int) -> pd.DataFrame:
    """So large a share of each state's households, drawn without replacement."""
    parts = []
    for state, own in households.groupby(households["block"].str[:2]):
        rng = np.random.default_rng(derive_seed(seed, "housing", "baseline_sample", str(state)))
        parts.append(own.iloc[np.sort(rng.choice(len(own), round(share * len(own)), replace=False))])
    return pd.concat(parts, ignore_index=True)


def curves(ranked: pd.DataFrame, identified: IdentifiedHouseholds, place: str, source: str) -> pd.DataFrame:
    """PRECISION (4), RECALL (5) and MATCH RATE (9) for every k, over households and over configurations (SCOPES)."""
    on = [place, *identified.names]
    joined = ranked.merge(identified.tally(place), on=on, how="left")
    k = np.arange(1, len(joined) + 1)
    frames = []
    for scope in SCOPES:
        putative, hits = (joined[name].fillna(0).astype(np.int64).to_numpy() for name in (scope, f"{scope}_true"))
        true, matched = np.cumsum(hits), np.cumsum(putative)
        shares = {"precision": _over(true, matched), "recall": _over(true, identified.true(scope))}
        shares["match_rate"] = np.cumsum(hits > 0) / k
        frame = pd.DataFrame({"k": k, "frequency": joined["frequency"], "putative": matched, "true": true, **shares})
        frames.append(frame.assign(source=source, key=identified.key, scope=scope))
    return pd.concat(frames, ignore_index=True)[CURVE]


def _over(above: Any, below: Any) -> Any:
    """A share, unknown where there is nothing to share."""
    whole = np.broadcast_to(np.asarray(below, dtype=float), np.shape(above))
    return np.divide(above, whole, out=np.full(np.shape(above), np.nan), where=whole > 0)


def totals(identified: IdentifiedHouseholds, flagged: set[str]) -> Iterator[dict[str, Any]]:
    """What is identified, and of it in violation (`true`), in all and in flagged blocks; `violations`: recall's whole."""
    rows = identified.households
    inside = rows[rows["block"].isin(flagged)]
    for scope in SCOPES:
        yield {
            "key": identified.key, "scope": scope,
            "households": int(rows[scope].sum()), "true": int(rows[f"{scope}_true"].sum()),
            "violations": identified.true(scope),
            "flagged_households": int(inside[scope].sum()), "flagged_violations": int(inside[f"{scope}_true"].sum()),
        }  # fmt: skip


def reidentify(
    households: pd.DataFrame, condition: str, flagged: set[str], counted: pd.DataFrame, found: "pd.Series[int]",
    keys: Mapping[str, Sequence[str]], file: HouseholdFile, seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:  # fmt: skip
    """
    The curves of every match key in the flagged blocks, and the totals that they are measured by. `counted` are the
    reconstructed violations, `found` the number of reconstructions of each block.
    """
    inside = counted[counted["block"].isin(flagged)]
    parts, rows = [], []
    for key, names in keys.items():
        identified = identify(households, key, names, file)
        ties = derive_seed(seed, "housing", "ties", condition, key)
        ranked = rank_reconstructed(inside, found, identified, file, ties)
        parts.append(curves(ranked, identified, "block", condition))
        rows += list(totals(identified, flagged))
    return pd.concat(parts, ignore_index=True), pd.DataFrame(rows)


def sampling_curves(
    households: pd.DataFrame, keys: Mapping[str, Sequence[str]], file: HouseholdFile, share: float, seed: int
) -> pd.DataFrame:
    """The sampling attack with every key, on all property blocks: it needs no published statistics, and knows no flags."""
    found = []
    for key, names in keys.items():
        identified = identify(households, key, names, file)
        found.append(curves(rank_sample(households, identified, file, share, seed), identified, "state", SAMPLING))
    return pd.concat(found, ignore_index=True)


# What detection and reconstruction left behind, a batch at a time, so that memory stays within bounds.

RECONSTRUCTION = ["block", "rank", *COLUMNS, "count"]


def read_counted(paths: Sequence[str], file: HouseholdFile) -> pd.DataFrame:
    """The reconstructed violations of all batches, and how often each one occurs."""
    parts = [count_violations(pd.read_parquet(path, columns=RECONSTRUCTION), file) for path in paths]
    kept = [part for part in parts if len(part)]
    return pd.concat(kept or parts[:1], ignore_index=True)


def read_found(paths: Sequence[str]) -> "pd.Series[int]":
    """How many reconstructions each block has; one with none is as if it had not been tried."""
    rows = [pd.read_parquet(path, columns=["block", "found"]) for path in paths]
    frame = pd.concat([part for part in rows if len(part)] or rows[:1], ignore_index=True)
    twice = frame.loc[frame["block"].duplicated(), "block"]
    if len(twice):
        raise DataError(f"block {twice.iloc[0]} is in two batches of reconstructions: delete them and run again")
    found: pd.Series[int] = frame[frame["found"] > 0].set_index("block")["found"].astype(np.int64)
    return found


def is_synthetic(manifest: Path, condition: str) -> bool:
    """Whether the statistics of a condition are of synthetic households; files of a user have no truth to be judged by."""
    source = read_json(manifest)["source"]
    if source == FILES:
        raise DataError(
            f"condition {condition} publishes the files that housing.picture and housing.sf1 name: their private households "
            f"are not known, so nothing can be evaluated. Ask for results/housing/{condition}/blocks.parquet, or name none."
        )
    return bool(source == "synthetic")


def by_condition(paths: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Files of several conditions, by the folder that they stand in."""
    return {Path(path).parent.name: pd.read_parquet(path) for path in paths}


# Detection judged (Table 1): flagged blocks beside those that truly hold a household in violation.

SUPPRESSED = "suppressed"
"""What became of a block whose property swapping made too small: HUD does not publish it, so nobody attacks it."""


def judge_blocks(
    households: pd.DataFrame, blocks: pd.DataFrame, file: HouseholdFile, suppresses: bool = False
) -> pd.DataFrame:
    """A row per property block: its verdict, its true violations; `suppresses`: blocks may be missing from the release."""
    truth = households.assign(violations=in_violation(households, file), subsidized=households[SUBSIDY] > 0)
    truth = truth.assign(n=1).groupby("block")[["violations", "subsidized", "n"]].sum().reset_index()
    blocks = blocks[["block", "n", "n_s", "verdict", "least_violations"]]
    if suppresses:
        missing = truth.loc[~truth["block"].isin(blocks["block"]), ["block", "n"]]
        missing = missing.assign(n_s=0, verdict=SUPPRESSED, least_violations=0)
        blocks = pd.concat([blocks, missing], ignore_index=True)
    odd = sorted(set(truth["block"]) ^ set(blocks["block"]))
    if odd:
        where = "blocks.parquet" if odd[0] in set(truth["block"]) else "households.parquet"
        raise DataError(
            f"block {odd[0]}: missing from {where}, so verdicts and truth cannot be compared; run detection again"
        )
    frame = blocks.merge(truth.drop(columns="n"), on="block").sort_values("block")
    return frame.assign(flagged=frame["verdict"].isin(FLAGGED)).reset_index(drop=True)


def with_reconstructions(judged: pd.DataFrame, counted: pd.DataFrame, found: "pd.Series[int]") -> pd.DataFrame:
    """Judged blocks with the violations of the most likely reconstruction and the `mean` over all; missing if none."""
    seen = counted.groupby("block")[["first", "times"]].sum().reindex(found.index, fill_value=0)
    frame = judged.assign(found=judged["block"].map(found).fillna(0).astype(np.int64))
    frame["first"] = frame["block"].map(seen["first"])
    frame["mean"] = frame["block"].map(seen["times"]) / frame["found"].where(frame["found"] > 0)
    return frame


def check_sound(judged: pd.DataFrame, protection: Condition, condition: str, synthetic: bool) -> None:
    """Unprotected, a flagged block without a true violation is a fault of ours: stop, and name it (synthetic data only)."""
    if protection.swap or protection.noise != "none" or protection.noise_hud:
        return
    wrong = judged[judged["flagged"] & (judged["violations"] == 0)]
    if len(wrong):
        first = f"block {wrong['block'].iloc[0]} ({wrong['verdict'].iloc[0]})" if synthetic else "the first one is not named"
        raise DataError(
            f"condition {condition}: {len(wrong)} flagged blocks hold no violation, though nothing was protected: {first}. "
            "Detection is not sound; compare its program with the published statistics of this block."
        )


def summarise_blocks(judged: pd.DataFrame) -> dict[str, float]:
    """Block-level precision and recall, what chance gives, and how the other blocks ended."""
    flagged, true = judged["flagged"], judged["violations"] > 0
    both, putative, violating = (int(flags.sum()) for flags in (flagged & true, flagged, true))
    counts = {"blocks": len(judged), "blocks_with_violation": violating, "putative_blocks": putative}
    precision, recall = (both / whole if whole else float("nan") for whole in (putative, violating))
    shares = {"true_putative_blocks": both, "block_precision": precision, "block_recall": recall}
    shares |= {"chance_precision": float(true.mean()), "chance_recall": float(flagged.mean())}
    ends = {"contradictions": "contradiction", "undecided": "undecided", "suppressed": SUPPRESSED}
    return counts | shares | {name: int((judged["verdict"] == verdict).sum()) for name, verdict in ends.items()}
