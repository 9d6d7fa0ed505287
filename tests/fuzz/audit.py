"""
Random forgeries of a small study, digests kept right: does the audit name every change that makes a statement false?

    make fuzz                                       # 1,500 cases, some minutes
    python tests/fuzz/audit.py --cases 200 --seed 7

A case changes tables, records or proofs at random; a forger may also carry the change on, so that the tables follow from
each other. An escape is a case that the audit accepts although a table or record says something else than the study that was
run. What the audit refuses though nothing reported is false (another digest, a dataset, a proof) is counted apart.
"""

import argparse
import copy
import gzip
import json
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pytest
import yaml

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
sys.path.insert(0, str(TESTS / "helpers"))

from chain import enter, make_repository, make_study, run_study  # noqa: E402
from forger import forge_proofs, forge_record, forge_table  # noqa: E402
from genverify.core.domain import read_domain  # noqa: E402
from genverify.core.errors import GenverifyError  # noqa: E402
from genverify.core.release import build_schema  # noqa: E402
from genverify.core.settings import ReleaseSettings  # noqa: E402
from genverify.run.provenance.audit import audit  # noqa: E402
from genverify.run.provenance.command import read_config, repository  # noqa: E402
from genverify.solve.settings import ProgramSettings  # noqa: E402

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
# not statements about the blocks that anything else in the study could contradict: how the work was done
HOW = {"types", "classes", "solver", "decided_lp", "decided_ip", "limits", "complete"}
# of a record: what is said of the job's time, and of the commit, which is part of the published digest
TIMES = {"started", "seconds", "git"}
Random = random.Random
ESCAPED = "accepted, false"


def make_original(home: Path, seed: int) -> Path:
    """The study that is forged: six blocks of the toy, two variants, from a raw file to figures."""
    schema = build_schema(read_domain(TESTS / "workflow" / "toy" / "domain.yaml"), *_toy())
    settings = ProgramSettings(**yaml.safe_load((ROOT / "config.yaml").read_text())["program"])
    draw = Random(seed)
    codes = [column.codes for column in schema.domain.columns]
    blocks = {f"01001020100100{i}": [tuple(map(draw.choice, codes)) for _ in range(2 + i % 4)] for i in range(6)}
    study, chain = home / "study", home / "chain"
    study.mkdir()
    chain.mkdir()
    make_study(study, schema, settings, blocks)
    make_repository(chain, ROOT)
    return chain


def _toy() -> tuple[dict[str, Any], ReleaseSettings]:
    tables = TESTS / "workflow" / "toy" / "tables.yaml"
    settings = ReleaseSettings(
        tables_file=str(tables), universe="owners", tables="all", groups={}, structural_zeros=False, withhold=[]
    )
    return yaml.safe_load(tables.read_text()), settings


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
    return draw.choice([block for block in blocks if block["claims"]])


def change_claim(blocks: list[dict[str, Any]], draw: Random) -> None:
    claim = draw.choice(_claimed(blocks, draw)["claims"])
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
    claims = _claimed(blocks, draw)["claims"]
    claims.remove(draw.choice(claims))


def repeat_claim(blocks: list[dict[str, Any]], draw: Random) -> None:
    claims = _claimed(blocks, draw)["claims"]
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
    one["block"], other["block"] = other["block"], one["block"]


def list_claims() -> None:
    """The table of claims, and the counts of the blocks, as the forged proofs have them."""
    blocks = [json.loads(line) for line in gzip.decompress(Path(PROOFS).read_bytes()).splitlines()]
    known = {tuple(row[name] for name in ("block", *NAMES)): row["effective_k"] for row in rows_of(pd.read_parquet(CLAIMS))}
    rows = []
    for block in blocks:
        for claim in block["claims"]:
            codes = {name: claim["where"].get(name) for name in NAMES}
            effective = known.get((block["block"], *codes.values()), len(claim["where"]))
            row = {"block": block["block"], "k": len(claim["where"]), "m": claim["m"], **codes}
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


# What is false


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as plain values, None where there is none."""
    return [{str(k): None if pd.isna(v) else v for k, v in row.items()} for row in frame.to_dict("records")]


def statements(path: str, leave_out: set[str]) -> Counter[str]:
    """What a table says, row by row, whatever their order."""
    rows = [{k: v for k, v in row.items() if k not in leave_out} for row in rows_of(pd.read_parquet(path))]
    return Counter(json.dumps(row, sort_keys=True, default=str) for row in rows)


def told() -> dict[str, Any]:
    """
    All that the study reports. Claims without the number of their proof, which may change with the file of proofs. Datasets
    are what the attack found, and others that fit are as good.
    """
    reported = {CLAIMS: {"proof"}, ALL_CLAIMS: {"proof"}, VERIFIED: HOW, GENERATED: HOW, ALL_BLOCKS: HOW}
    records = [path for made in ("results", "figures") for path in sorted(Path(made).rglob("*record.json"))]
    jobs = {str(path): json.loads(path.read_text()) for path in records}
    return {
        "tables": {path: statements(path, leave_out) for path, leave_out in reported.items()},
        "jobs": {path: {k: _named(k, v) for k, v in text.items() if k not in TIMES} for path, text in jobs.items()},
    }


def _named(key: str, value: Any) -> Any:
    """Of inputs and outputs the names and paths: their digests follow the files, which are compared themselves."""
    return {name: sorted(files) for name, files in value.items()} if key in ("inputs", "outputs") else value


FORGERS: Sequence[Callable[[Random], str]] = (forge_some_table, forge_some_table, forge_some_proofs, forge_some_record)


def run(cases: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Try so many forgeries; the outcomes counted, and the escapes in words."""
    outcomes: Counter[str] = Counter()
    escapes: list[str] = []
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        original = make_original(Path(folder), seed)
        enter(original, patch, Path(folder) / "study")
        run_study()
        accepted()
        truth = told()
        for case in range(cases):
            home = Path(folder) / "forged"
            shutil.copytree(original, home)
            enter(home, patch, Path(folder) / "study")
            outcome, words = one_case(Random(f"{seed} {case}"), truth)
            outcomes[outcome] += 1
            escapes += [f"case {case}: {words}"] if outcome == ESCAPED else []
            patch.chdir(original)
            shutil.rmtree(home)
    return outcomes, escapes


def one_case(draw: Random, truth: dict[str, Any]) -> tuple[str, str]:
    """Forge, then audit: what came of it, and what was done."""
    words = draw.choice(FORGERS)(draw)
    refused = not accepted(expect=False)
    false = told() != truth
    outcomes = {(True, True): "refused, false", (True, False): "refused, nothing reported is false",
                (False, True): ESCAPED, (False, False): "accepted, nothing reported is false"}  # fmt: skip
    return outcomes[refused, false], words


def accepted(expect: bool = True) -> bool:
    """Whether the audit accepts the figure of the study where we are."""
    try:
        list(audit(repository(), read_config([]), ["figures/fig3.pdf"]))
    except GenverifyError:
        if expect:
            raise
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description="Forge a small study at random and audit it.")
    parser.add_argument("--cases", type=int, default=1500, help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(%(default)s)")
    options = parser.parse_args()
    outcomes, escapes = run(options.cases, options.seed)
    for words in escapes:
        print(f"ESCAPED {words}")
    counted = ", ".join(f"{outcome}: {times}" for outcome, times in sorted(outcomes.items()))
    print(f"{options.cases} cases, seed {options.seed}: {counted}; escapes: {len(escapes)}")
    return bool(escapes)


if __name__ == "__main__":
    sys.exit(main())
