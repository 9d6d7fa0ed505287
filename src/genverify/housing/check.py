"""The proofs of a detection, checked again: exact integers, no solver, and every flagged block has one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.certificate import CertificateError, check_block
from genverify.errors import DataError
from genverify.housing.reading import (
    Percentage,
    Row,
    only_races,
    read_block,
    read_percentages,
    read_statistics,
    without_races,
)
from genverify.housing.record import HouseholdFile, read_household_file
from genverify.prooffile import read_proofs
from genverify.release import Release


@dataclass(frozen=True)
class Detection:
    """The files of a detection, and how the statistics were read."""

    statistics: Path
    blocks: Path
    proofs: Path
    domain: Path
    published: Path
    reading: str


def check_detection(found: Detection) -> Counter[str]:
    """How many blocks are proved; an error names the first that is not what its proof shows."""
    file, percentages = read_household_file(found.domain), read_percentages(found.published)
    rows, verdicts = dict(read_statistics(found.statistics, percentages)), _verdicts(found.blocks)
    total: Counter[str] = Counter()
    for text in read_proofs(found.proofs):
        block = str(text["block"])
        if block not in rows or verdicts.pop(block, None) is None:
            raise DataError(f"{found.proofs}: block {block} is not flagged in {found.blocks}, or stands twice in the proofs")
        total[_check_one(rows[block], text, file, percentages, found.reading)] += 1
    if verdicts:
        raise DataError(f"{found.proofs}: block {next(iter(verdicts))} is flagged in {found.blocks} and has no proof")
    return total


def _verdicts(path: Path) -> dict[str, str]:
    """The flagged blocks with their verdict."""
    frame = pd.read_parquet(path)
    frame = frame[frame["flagged"]]
    return dict(zip(frame["block"].astype(str), frame["verdict"].astype(str), strict=True))


def _check_one(row: Row, text: dict[str, Any], file: HouseholdFile, percentages: Sequence[Percentage], reading: str) -> str:
    """What the proof of a block shows: that a violation must exist, or that no dataset fits (one of its two parts)."""
    whole = read_block(row, str(text["block"]), file, percentages, reading)
    if "contradiction" in text:
        return _contradiction([without_races(whole, file), only_races(whole)], text)
    checked = check_block(without_races(whole, file), text)
    if not any(said["m"] == 0 for said in text.get("impossible", [])) or not checked.impossible:
        raise CertificateError(f"block {whole.block}: the certificate does not show that no violation is impossible")
    return "violation"


def _contradiction(parts: Sequence[Release], text: dict[str, Any]) -> str:
    problem: CertificateError | None = None
    for part in parts:
        try:
            check_block(part, text)
            return "contradiction"
        except CertificateError as error:
            problem = problem or error
    assert problem is not None
    raise problem
