"""The tables of a variant, compared with the batches that they were put together from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.core.frames import read_pieces
from genverify.run.provenance.claimed import Matrix, claim_rows, digest_rows, ordered
from genverify.run.provenance.records import AuditError, Record

AGAIN = "Put it together again: snakemake --force"
Key = tuple[str, str]  # design and block


@dataclass(frozen=True)
class Collection:
    """The claims and the blocks of a variant, the sample that they are about, and the batches that they come from."""

    claims: Path
    blocks: Path
    sample: Path
    verified: tuple[Path, ...]
    generated: tuple[Path, ...]


def collection_of(record: Record) -> Collection | None:
    """What a job put together, if it read batches of claims and wrote all of them."""
    named = [record.named("outputs", name) for name in ("claims", "blocks")] + [record.named("inputs", "sample")]
    parts = [tuple(map(Path, record.named("inputs", name))) for name in ("verified", "generated")]
    if record.named("inputs", "claims") and all(len(paths) == 1 for paths in named):
        claims, blocks, sample = (Path(paths[0]) for paths in named)
        return Collection(claims, blocks, sample, *parts)
    return None


def check_collection(collection: Collection, proven: Mapping[str, str], names: Sequence[str]) -> None:
    """
    Every claim of every sampled block stands in the table once for each design that the block was drawn for, as it was
    proven, and no other; the same for the rows of blocks. `proven`: for each block the digest of its claims.
    """
    sample = pd.read_parquet(collection.sample, columns=["block", "design"]).astype(str)
    nothing = digest_rows(np.zeros((0, 4 + len(names)), dtype=np.int64))
    wanted = {(design, block): proven[block] for block, design in _pairs(sample, proven, collection)}
    wanted = {key: digest for key, digest in wanted.items() if digest != nothing}
    for (design, block), rows in listed_claims(collection.claims, names):
        if wanted.pop((design, block), None) != digest_rows(rows):
            raise _wrong(collection.claims, design, block, "the claims are not those that were proven, or are listed twice")
    for design, block in wanted:
        raise _wrong(collection.claims, design, block, "its claims were proven and are not listed")
    _compare_blocks(collection, sample)


def _pairs(sample: pd.DataFrame, proven: Mapping[str, str], collection: Collection) -> Iterable[Key]:
    odd = sorted(set(sample["block"]) ^ set(proven))
    if odd:
        raise AuditError(
            f"{collection.claims}: block {odd[0]} is in the sample or among the proofs, not in both. {AGAIN} "
            f"{collection.claims}"
        )
    return zip(sample["block"], sample["design"], strict=True)


def listed_claims(path: Path, names: Sequence[str]) -> Iterator[tuple[Key, Matrix]]:
    """The claims of a table by design and block; the rows of a block stand together, so one is held at a time."""
    key: Key | None = None
    parts: list[Matrix] = []
    for frame in read_pieces(path):
        rows = claim_rows(path, frame, names)
        for own, places in _runs(path, frame):
            if own != key and key is not None:
                yield key, ordered(np.concatenate(parts))
                parts = []
            key, parts = own, [*parts, rows[places]]
    if key is not None:
        yield key, ordered(np.concatenate(parts))


def _runs(path: Path, frame: pd.DataFrame) -> Iterator[tuple[Key, slice]]:
    """Rows that follow each other and are about one design and block."""
    if not len(frame):
        return
    missing = {"design", "block"} - set(frame.columns)
    if missing:
        raise AuditError(f"{path}: no column {sorted(missing)[0]!r}. {AGAIN} {path}")
    design, block = (frame[name].astype(str).to_numpy(dtype=object) for name in ("design", "block"))
    starts = np.flatnonzero(np.append(True, (design[1:] != design[:-1]) | (block[1:] != block[:-1])))
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(frame)], strict=True):
        yield (str(design[start]), str(block[start])), slice(start, end)


def _compare_blocks(collection: Collection, sample: pd.DataFrame) -> None:
    """The rows of blocks, column by column, against those of the batches."""
    parts = [_stacked(paths) for paths in (collection.generated, collection.verified)]
    wanted = sample.merge(parts[0].merge(parts[1], on="block"), on="block")
    found = pd.read_parquet(collection.blocks)
    wanted, found = (_sorted(frame) for frame in (wanted, found))
    if list(wanted.columns) != list(found.columns) or len(wanted) != len(found):
        raise AuditError(
            f"{collection.blocks}: not the rows and columns of its batches ({len(found)} rows, not {len(wanted)}). "
            f"{AGAIN} {collection.blocks}"
        )
    for column in wanted.columns:
        differs = (wanted[column] != found[column]) & (wanted[column].notna() | found[column].notna())
        if differs.any() or wanted[column].dtype != found[column].dtype:
            row = found[differs].iloc[0] if differs.any() else found.iloc[0]
            raise _wrong(collection.blocks, row["design"], row["block"], f"{column} is not what its batch says")


def _stacked(paths: Sequence[Path]) -> pd.DataFrame:
    frames = [frame for frame in map(pd.read_parquet, paths) if len(frame)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame({"block": pd.Series([], dtype="str")})


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values(["design", "block"]).reset_index(drop=True) if len(frame) else frame


def _wrong(path: Path, design: str, block: str, problem: str) -> AuditError:
    return AuditError(f"{path}: block {block} (design {design}): {problem}. {AGAIN} {path}")
