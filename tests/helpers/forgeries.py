"""Random forgeries of the tables, proofs and records of the study in the current folder, every digest made to fit."""

import copy
import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd

from forger import forge_proofs, forge_record, forge_table, rewrite

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
    changes = (rename, drop_name, empty_name, add_output, change_value, change_digest, change_list, change_wildcards)
    path, change = draw.choice(paths), draw.choice(changes)
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


def change_list(text: dict[str, Any], draw: Random) -> None:
    lists = text["lists"][draw.choice(("inputs", "outputs"))]
    if lists and draw.random() < 0.7:
        name = draw.choice(list(lists))
        lists[name] = draw.choice(
            ([], list(reversed(lists[name])), [*lists[name], *lists[name]], ["figures/fig3.pdf"], None)
        )
    else:
        lists[draw.choice(("claims", "more", "pdf"))] = draw.choice(([], ["figures/fig3.pdf"], "figures/fig3.pdf"))


def change_wildcards(text: dict[str, Any], draw: Random) -> None:
    text["wildcards"][draw.choice(("variant", "batch", "more"))] = draw.choice(("no_ones", "paper", "001"))


# What a forger does to files of every kind: microdata, releases, derived tables, figures, the crate, raw data


def written() -> list[str]:
    """Every file that some job of the variant wrote which is audited."""
    records = [json.loads(path.read_text()) for made in ("results", "figures") for path in Path(made).rglob("*record.json")]
    outputs = {path for text in records for files in text["outputs"].values() for path in files}
    return sorted(path for path in outputs if Path(path).is_file() and not re.search("no_ones|ablation", path))


def changed_bytes(content: bytes, draw: Random) -> bytes:
    """Other bytes: one altered, some cut off or added, none left; digits of a text multiplied, lines in another order."""
    at = draw.randrange(len(content)) if content else 0
    lines = content.splitlines(keepends=True)
    kinds = [
        content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :] if content else b"x", content[:at], content + b"\n", b"",
        content.replace(b"1", b"3"), b"".join(reversed(lines)), b"".join(lines[:-1]),
    ]  # fmt: skip
    return draw.choice(kinds)


def forge_some_file(draw: Random) -> str:
    path = draw.choice(written())
    swap = draw.random() < 0.2
    content = Path(draw.choice(written())).read_bytes() if swap else changed_bytes(Path(path).read_bytes(), draw)
    rewrite(path, content)
    slow = draw.random() < 0.3
    if slow:  # so that its job seems too dear to be run again
        for record in [record for made in ("results", "figures") for record in Path(made).rglob("*record.json")]:
            forge_record(str(record), lambda text: text.update(seconds=99.0))
    return f"{'swap' if swap else 'bytes'} of {path}{', said to be dear' if slow else ''}"


def link_some_file(draw: Random) -> str:
    """The file lies elsewhere, and a link to it, or to another file, stands in its stead."""
    path, other = draw.sample(written(), 2)
    target = Path("elsewhere")
    target.write_bytes(Path(other if draw.random() < 0.5 else path).read_bytes())
    rewrite(path, target.read_bytes())
    Path(path).unlink()
    Path(path).symlink_to(target.absolute())
    return f"link in place of {path}"


def forge_raw(draw: Random) -> str:
    """Raw data, the list of sources and every record changed alike."""
    content = draw.choice((b"", b"a: 3\n", b"a: 1\nb: 2\n"))
    old, sources = sha256(Path("data/raw.yaml").read_bytes()).hexdigest(), Path("data/sources.csv")
    rewrite("data/raw.yaml", content)
    sources.write_text(sources.read_text().replace(old, sha256(content).hexdigest()))
    return f"raw data {content!r}"


def forge_reference(draw: Random) -> str:
    """A file of the reference set, its page, or a number of its manifest, the digests in the manifest made to fit."""
    folder = Path("docs/reference")
    path = draw.choice([file for file in sorted(folder.iterdir()) if file.name != "manifest.json"])
    old = sha256(path.read_bytes()).hexdigest()
    path.write_bytes(changed_bytes(path.read_bytes(), draw))
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace(old, sha256(path.read_bytes()).hexdigest()))
    return f"bytes of {path}"


def forge_one_job(draw: Random) -> str:
    """One file that no proof is about, and that no job of the toy computes with, so that one job is false and no other."""
    path = draw.choice([path for path in written() if re.search("store/|figures/|tables/|generated/000.parquet", path)])
    content = Path(path).read_bytes()
    while (new := changed_bytes(content, draw)) == content:
        pass
    rewrite(path, new)
    return f"bytes of {path}"


FORGERS: Sequence[Callable[[Random], str]] = (
    forge_some_table, forge_some_table, forge_some_proofs, forge_some_record, forge_some_file, forge_some_file,
    forge_some_file, link_some_file, forge_raw, forge_reference,
)  # fmt: skip
