"""Random forgeries of the tables, proofs and records of the study in the current folder, every digest made to fit."""

import copy
import gzip
import json
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd

from forger import forge_proofs, forge_record, forge_table

HOME = "results/paper"
CLAIMS, ALL_CLAIMS = f"{HOME}/claims/000.parquet", f"{HOME}/claims.parquet"
VERIFIED, GENERATED, ALL_BLOCKS = (
    f"{HOME}/claims/000.blocks.parquet",
    f"{HOME}/generated/000.blocks.parquet",
    f"{HOME}/blocks.parquet",
)
DATASETS, PROOFS, SAMPLE = f"{HOME}/generated/000.parquet", f"{HOME}/proofs/000.jsonl.gz", "results/sample.parquet"
TABLES = (CLAIMS, ALL_CLAIMS, VERIFIED, GENERATED, ALL_BLOCKS, DATASETS)
NAMES = ("PET", "HOME", "AGE")


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as plain values, None where there is none."""
    return [{str(k): None if pd.isna(v) else v for k, v in row.items()} for row in frame.to_dict("records")]


# What a forger does to a table


def change_cell(frame: pd.DataFrame, draw: Random) -> pd.DataFrame:
    column, row = draw.choice(list(frame.columns)), draw.randrange(len(frame))
    old = frame[column].iloc[row]
    values = [value for value in frame[column].tolist() if value is not pd.NA]
    if isinstance(old, str) or frame[column].dtype == bool:
        new: Any = draw.choice(values) if isinstance(old, str) else not old
    else:
        new = draw.choice([pd.NA, *values]) if frame[column].dtype.name.startswith("Int") else old + draw.choice([-1, 1, 7])
    frame[column] = pd.Series([new if i == row else v for i, v in enumerate(frame[column])], dtype=frame[column].dtype)
    return frame


def drop_row(frame: pd.DataFrame, draw: Random) -> pd.DataFrame:
    return frame.drop(index=draw.randrange(len(frame)))


def repeat_row(frame: pd.DataFrame, draw: Random) -> pd.DataFrame:
    return pd.concat([frame, frame.iloc[[draw.randrange(len(frame))]]], ignore_index=True)


def drop_column(frame: pd.DataFrame, draw: Random) -> pd.DataFrame:
    return frame.drop(columns=draw.choice(list(frame.columns)))


def to_fractions(frame: pd.DataFrame, draw: Random) -> pd.DataFrame:
    column = draw.choice([name for name in frame.columns if pd.api.types.is_integer_dtype(frame[name].dtype)])
    return frame.assign(**{column: frame[column].astype("Float64") + draw.choice([0.0, 0.5])})


def empty(frame: pd.DataFrame, draw: Random) -> pd.DataFrame:
    return frame.iloc[:0]


def swap_columns(frame: pd.DataFrame, draw: Random) -> pd.DataFrame:
    one, other = draw.sample([name for name in frame.columns if name != "block"], 2)
    return frame.assign(**{one: frame[other], other: frame[one]})


CHANGES = [change_cell] * 4 + [drop_row, repeat_row, drop_column, to_fractions, empty, swap_columns]


def forge_some_table(draw: Random) -> str:
    path, change = draw.choice(TABLES), draw.choice(CHANGES)
    forge_table(path, lambda frame: change(frame, draw))
    carried = draw.random() < 0.6 and path not in (ALL_CLAIMS, ALL_BLOCKS)
    if carried:
        carry_on()
    return f"{change.__name__} of {path}{', carried on' if carried else ''}"


def carry_on() -> None:
    """Put the tables of the variant together from the batches again, as the workflow would."""
    sample = pd.read_parquet(SAMPLE)
    claims, blocks = pd.read_parquet(CLAIMS), [pd.read_parquet(path) for path in (GENERATED, VERIFIED)]
    if "block" in claims:
        joined = sample.merge(claims.assign(order=range(len(claims))), on="block").sort_values(["design", "block", "order"])
        forge_table(ALL_CLAIMS, lambda frame: joined.drop(columns="order"))
    if all("block" in frame for frame in blocks):
        merged = sample.merge(blocks[0].merge(blocks[1], on="block"), on="block").sort_values(["design", "block"])
        forge_table(ALL_BLOCKS, lambda frame: merged)


# What a forger does to proofs


def forge_some_proofs(draw: Random) -> str:
    change = draw.choice((change_claim, drop_claim, repeat_claim, change_multiplier, drop_block, swap_proofs))
    forge_proofs(PROOFS, lambda blocks: change(blocks, draw))
    listed = draw.random() < 0.6
    if listed:
        list_claims()
        carry_on()
    return f"{change.__name__}{', listed' if listed else ''}"


def _claimed(blocks: list[dict[str, Any]], draw: Random) -> dict[str, Any]:
    return draw.choice([block for block in blocks if block["statements"]])


def change_claim(blocks: list[dict[str, Any]], draw: Random) -> None:
    claim = draw.choice(_claimed(blocks, draw)["statements"])
    kind = draw.choice(("m", "code", "column", "proof"))
    if kind == "m":
        claim["m"] += draw.choice((-1, 1, 2))
    elif kind == "proof":
        claim["proof"] += draw.choice((-1, 1))
    elif kind == "code" and claim["where"]:
        claim["where"][draw.choice(list(claim["where"]))] = draw.choice((-1, 0, 1, 2, 3))
    else:
        claim["where"] = {name: draw.choice((1, 2, 3)) for name in draw.sample(NAMES, draw.randint(0, 3))}


def drop_claim(blocks: list[dict[str, Any]], draw: Random) -> None:
    claims = _claimed(blocks, draw)["statements"]
    claims.remove(draw.choice(claims))


def repeat_claim(blocks: list[dict[str, Any]], draw: Random) -> None:
    claims = _claimed(blocks, draw)["statements"]
    claims.append(copy.deepcopy(draw.choice(claims)))


def change_multiplier(blocks: list[dict[str, Any]], draw: Random) -> None:
    node = draw.choice(_claimed(blocks, draw)["proofs"])[draw.choice(("lower", "upper"))]
    while "kind" not in node:
        node = node[draw.choice(("below", "above"))]
    if node["y"]:
        node["y"][draw.choice(list(node["y"]))] += draw.choice((-1, 1))
    else:
        node["y"]["N"] = draw.choice((-1, 1))


def drop_block(blocks: list[dict[str, Any]], draw: Random) -> None:
    blocks.remove(draw.choice(blocks))


def swap_proofs(blocks: list[dict[str, Any]], draw: Random) -> None:
    one, other = draw.sample(blocks, 2)
    one["about"], other["about"] = other["about"], one["about"]


def list_claims() -> None:
    """The table of claims, and the counts of the blocks, as the forged proofs have them."""
    blocks = [json.loads(line) for line in gzip.decompress(Path(PROOFS).read_bytes()).splitlines()]
    known = {tuple(row[name] for name in ("block", *NAMES)): row["effective_k"] for row in rows_of(pd.read_parquet(CLAIMS))}
    rows = []
    for block in blocks:
        for claim in block["statements"]:
            codes = {name: claim["where"].get(name) for name in NAMES}
            effective = known.get((block["about"]["name"], *codes.values()), len(claim["where"]))
            row = {"block": block["about"]["name"], "k": len(claim["where"]), "m": claim["m"], **codes}
            rows.append(row | {"effective_k": effective, "proof": claim["proof"]})
    forge_table(CLAIMS, lambda frame: pd.DataFrame(rows, columns=frame.columns).astype(frame.dtypes.to_dict()))
    counted = Counter((row["block"], row["k"]) for row in rows)

    def recount(frame: pd.DataFrame) -> pd.DataFrame:
        for k in range(1, len(NAMES) + 1):
            verified = frame["block"].map(lambda block, k=k: counted[block, k]).astype(frame[f"verified_k{k}"].dtype)
            frame[f"candidates_k{k}"] += verified - frame[f"verified_k{k}"]
            frame[f"verified_k{k}"] = verified
        return frame

    forge_table(VERIFIED, recount)


# What a forger does to records


def forge_some_record(draw: Random) -> str:
    paths = [f"{HOME}/claims/000.record.json", f"{HOME}/claims.record.json", f"{HOME}/generated/000.record.json",
             f"{HOME}/release/record.json", "figures/fig3.record.json", "results/store.record.json"]  # fmt: skip
    path, change = draw.choice(paths), draw.choice((rename, drop_name, empty_name, add_output, change_value, change_digest))
    forge_record(path, lambda text: change(text, draw))
    return f"{change.__name__} of {path}"


def _part(text: dict[str, Any], draw: Random) -> dict[str, Any]:
    found: dict[str, Any] = text[draw.choice([part for part in ("inputs", "outputs") if text[part]])]
    return found


def rename(text: dict[str, Any], draw: Random) -> None:
    part = _part(text, draw)
    part[draw.choice(("proof", "more", "claim"))] = part.pop(draw.choice(list(part)))


def drop_name(text: dict[str, Any], draw: Random) -> None:
    part = _part(text, draw)
    part.pop(draw.choice(list(part)))


def empty_name(text: dict[str, Any], draw: Random) -> None:
    part = _part(text, draw)
    part[draw.choice(list(part))] = {}


def add_output(text: dict[str, Any], draw: Random) -> None:
    Path("figures/drawn.pdf").write_bytes(b"by hand")
    name = draw.choice([*text["outputs"], "more"])
    text["outputs"].setdefault(name, {})["figures/drawn.pdf"] = sha256(b"by hand").hexdigest()


def change_value(text: dict[str, Any], draw: Random) -> None:
    key = draw.choice(("rule", "wildcards", "params", "versions", "started", "seconds", "git"))
    if key == "rule":
        text["rule"] = draw.choice(("plot_fig3", "plot_ablation", "verify", "collect", "generate"))
    elif key in ("started", "seconds"):
        text[key] = "2030-01-01T00:00:00Z" if key == "started" else 1.5
    elif text[key]:
        text[key][draw.choice(list(text[key]))] = draw.choice(("001", "no_ones", 2, None))


def change_digest(text: dict[str, Any], draw: Random) -> None:
    files = draw.choice([text["code"], text["lock"], *text["inputs"].values(), *text["outputs"].values()])
    if files:
        files[draw.choice(list(files))] = "0" * 64


FORGERS: Sequence[Callable[[Random], str]] = (forge_some_table, forge_some_table, forge_some_proofs, forge_some_record)
