"""What tables say of claims and blocks, compared with what the checker concluded from the proofs."""

from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.checker.check import Checked
from genverify.checker.effective import effective_sizes
from genverify.core.arraytypes import Flags
from genverify.core.claims import ATTACKED, CONTRADICTORY, UNDECIDED
from genverify.core.release import Release
from genverify.run.provenance.records import AuditError

Matrix = npt.NDArray[np.int64]
NULL = -(2**40)  # what stands for no value: no code, no count and no number of a proof is this small
VERDICTS = ("verified", "refuted", "undecided", "uncertified")
STATUSES = (ATTACKED, CONTRADICTORY, UNDECIDED)
AGAIN = "Verify the batch again: snakemake --force"


def proven_rows(checked: Checked, names: Sequence[str]) -> Matrix:
    """The claims of a certificate as rows: k, m, effective k, number of the proof, a code per column (NULL: any)."""
    sizes = effective_sizes(checked.types, [one.where for one in checked.statements]) if checked.types else []
    at = {name: 4 + column for column, name in enumerate(names)}
    rows = np.full((len(sizes), 4 + len(names)), NULL, dtype=np.int64)
    for row, one, size in zip(rows, checked.statements, sizes, strict=True):
        row[:4] = len(one.where.clauses), one.m, size, NULL if one.proof is None else one.proof
        for name, codes in one.where.clauses:
            row[at[name]] = codes[0]
    return ordered(rows)


def claim_rows(path: Path, frame: pd.DataFrame, names: Sequence[str]) -> Matrix:
    """The claims of a table as rows; a column that is missing, or holds other than whole numbers, is an error."""
    columns = ["k", "m", "effective_k", "proof", *names]
    if not len(frame):
        return np.zeros((0, len(columns)), dtype=np.int64)
    return np.column_stack([whole_numbers(path, frame, column) for column in columns])


def whole_numbers(path: Path, frame: pd.DataFrame, column: str) -> Matrix:
    """A column of whole numbers, NULL where it has no value."""
    if column not in frame:
        raise AuditError(f"{path}: no column {column!r}, so it cannot be compared with the proofs. {AGAIN} {path}")
    values = frame[column]
    if not pd.api.types.is_integer_dtype(values.dtype) and values.notna().any():
        raise AuditError(f"{path}: the column {column!r} holds {values.dtype}, not whole numbers. {AGAIN} {path}")
    if not len(values) or values.isna().all():
        return np.full(len(values), NULL, dtype=np.int64)
    return values.to_numpy(dtype=np.int64, na_value=NULL)


def truth_values(path: Path, frame: pd.DataFrame, column: str) -> Flags:
    """A column of truth values."""
    if column not in frame or frame[column].dtype != bool:
        raise AuditError(f"{path}: no column {column!r} of truth values. {AGAIN} {path}")
    return frame[column].to_numpy(dtype=bool)


def ordered(rows: Matrix) -> Matrix:
    """The rows in an order that depends on nothing but themselves."""
    return rows[np.lexsort(rows.T[::-1])]


def digest_rows(rows: Matrix) -> str:
    """One digest for the claims of a block."""
    return sha256(np.ascontiguousarray(rows).tobytes()).hexdigest()


def by_block(frame: pd.DataFrame, rows: Matrix) -> dict[str, Matrix]:
    """The rows of each block, ordered."""
    if not len(frame):
        return {}
    places = frame.groupby(frame["block"].astype(str), sort=False).indices
    return {str(block): ordered(rows[own]) for block, own in places.items()}


def compare_claims(path: Path, listed: Mapping[str, Matrix], proven: Mapping[str, Matrix]) -> None:
    """The claims of a table are the proven ones: none altered, added, repeated or left out."""
    for block in sorted(listed.keys() | proven.keys()):
        empty = np.zeros((0, 0), dtype=np.int64)
        claimed, shown = listed.get(block, empty), proven.get(block, empty)
        if len(claimed) == len(shown) and (not len(claimed) or np.array_equal(claimed, shown)):
            continue
        raise AuditError(f"{path}: block {block}: {_difference(claimed, shown)}. {AGAIN} {path}")


def _difference(claimed: Matrix, shown: Matrix) -> str:
    listed, proven = [{tuple(row) for row in rows.tolist()} for rows in (claimed, shown)]
    if listed - proven:
        claim = min(listed - proven)
        return f"a claim with k = {claim[0]} and m = {claim[1]} is listed, but no proof shows it as listed"
    if proven - listed:
        claim = min(proven - listed)
        return f"a claim with k = {claim[0]} and m = {claim[1]} is proven, but it is not listed"
    return "a claim is duplicated"


def without_proof(path: Path, listed: Mapping[str, Matrix], proven: Mapping[str, Matrix]) -> dict[str, Matrix]:
    """The claims of the one-hot program, which gives no proofs: none of them names one, and there is none."""
    for block, rows in proven.items():
        if len(rows) or (listed.get(block, rows)[:, 3] != NULL).any():
            raise AuditError(f"{path}: block {block}: a proof, though the one-hot program gives none. {AGAIN} {path}")
    return {block: listed.get(block, rows) for block, rows in proven.items()}


def compare_verified(path: Path, proven: Mapping[str, Matrix], columns: int) -> pd.DataFrame:
    """The table of blocks of a verification: every block once, the claims counted, no candidate without a verdict."""
    frame = block_rows(path, proven)
    tally = {f"{name}_k{k}": whole_numbers(path, frame, f"{name}_k{k}")
             for name in ("candidates", *VERDICTS) for k in range(1, columns + 1)}  # fmt: skip
    by_program = whole_numbers(path, frame, "decided_lp") + whole_numbers(path, frame, "decided_ip")
    for at, block in enumerate(frame["block"]):
        counted = np.bincount(proven[block][:, 0], minlength=columns + 1)
        decided = 0
        for k in range(1, columns + 1):
            row = {name: int(tally[f"{name}_k{k}"][at]) for name in ("candidates", *VERDICTS)}
            if row["verified"] != counted[k]:
                problem = f"{row['verified']} verified claims of k = {k} are counted, {counted[k]} are proven"
                raise AuditError(f"{path}: block {block}: {problem}. {AGAIN} {path}")
            if row["candidates"] != sum(row[verdict] for verdict in VERDICTS) or min(row.values()) < 0:
                raise AuditError(f"{path}: block {block}: not every candidate of k = {k} has one verdict. {AGAIN} {path}")
            decided += row["candidates"] - row["undecided"]
        if by_program[at] != decided:
            raise AuditError(f"{path}: block {block}: {by_program[at]} decisions for {decided} claims. {AGAIN} {path}")
    return frame


def compare_statuses(
    path: Path, releases: Mapping[str, Release], proven: Mapping[str, Matrix], contradicted: Collection[str]
) -> None:
    """What became of blocks with protected counts: contradictory where that is proved, and claims nowhere else."""
    frame = block_rows(path, {**releases, **dict.fromkeys(contradicted)})
    sizes = whole_numbers(path, frame, "n_households")
    for block, status, n in zip(frame["block"], frame["status"], sizes, strict=True):
        wrong = (status == CONTRADICTORY) != (block in contradicted) or status not in STATUSES
        wrong |= status != ATTACKED and len(proven.get(block, ())) > 0
        if wrong or (block in releases and n != releases[block].n):
            raise AuditError(
                f"{path}: block {block}: status {status!r} and {n} households are not what is proved. {AGAIN} {path}"
            )


def block_rows(path: Path, blocks: Mapping[str, object]) -> pd.DataFrame:
    """A table with a row per block; it has each of the given blocks once, and no other."""
    frame = pd.read_parquet(path)
    if not blocks and not len(frame):
        return frame
    if "block" not in frame:
        raise AuditError(f"{path}: no column 'block'. {AGAIN} {path}")
    frame = frame.assign(block=frame["block"].astype(str))
    odd = sorted(set(frame["block"]) ^ set(blocks)) or sorted(frame.loc[frame["block"].duplicated(), "block"])
    if odd:
        raise AuditError(f"{path}: block {odd[0]} is missing, duplicated, or none of this batch. {AGAIN} {path}")
    return frame
