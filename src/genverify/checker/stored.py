"""Stored proofs, checked before anything is repeated from them: the checked claims of blocks."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.checker.certificate import CertificateError, read_proofs
from genverify.checker.record_proofs import CheckSummary, check_block
from genverify.model.claims import ANY
from genverify.model.errors import DataError
from genverify.model.release import Release, Schema, empty_ranges, read_releases
from genverify.model.tablefiles import read_frame

REMEDY = "Nothing is said of this block: remove the file of proofs and let Snakemake verify the batch again"


@dataclass(frozen=True)
class CheckedBlock:
    """The release of a block and its stored proofs, every one of which the checker accepted."""

    release: Release
    proofs: Mapping[str, Any]
    checked: CheckSummary

    @cached_property
    def proof_of(self) -> dict[tuple[tuple[int, ...], int], int | None]:
        """The number of the proof of each claim, by its codes and m, as the checker read them."""
        names, result = self.release.schema.domain.names, {}
        for statement in self.checked.statements:
            where = statement.where.where
            result[tuple(where[name][0] if name in where else ANY for name in names), statement.m] = statement.proof
        return result

    def require(self, claims: pd.DataFrame, source: Path) -> None:
        """An error unless every row is a proved claim, by the proof that the row names if it names one."""
        codes = claims[list(self.release.schema.domain.names)].fillna(ANY).to_numpy(dtype=np.int64).tolist()
        numbers = claims["proof"].tolist() if "proof" in claims else [None] * len(claims)
        for row, m, number in zip(codes, claims["m"].tolist(), numbers, strict=True):
            proof = self.proof_of.get((tuple(row), m))
            if proof is None or number not in (None, proof):
                named = zip(self.release.schema.domain.names, row, strict=True)
                words = " ".join(f"{name}={code}" for name, code in named if code != ANY)
                raise DataError(
                    f"{source}: block {self.release.block}: the claim {words} m = {m} is not among the claims "
                    "with a checked proof. Remove the file and let Snakemake collect the claims again."
                )


def checked_blocks(
    counts: Path, proofs: Path, schema: Schema, only: Collection[str] | None = None
) -> Iterator[CheckedBlock]:
    """The blocks of a batch, or only some of them, in the order of its proofs; each is checked before it is handed out."""
    for release, result in stored_blocks(counts, proofs, schema, only):
        try:
            yield CheckedBlock(release, result, check_block(release, result))
        except CertificateError as error:
            raise CertificateError(f"{proofs}: a stored proof fails: {error}. {REMEDY}.") from None


def stored_blocks(
    counts: Path, proofs: Path, schema: Schema, only: Collection[str] | None = None
) -> Iterator[tuple[Release, dict[str, Any]]]:
    """The release and the proofs of every block of a batch, or of some; a block on one side only is an error."""
    read = read_releases(counts, schema, empty_ranges(counts))
    releases = {release.block: release for release in read if only is None or release.block in only}
    for result in read_proofs(proofs):
        block = result["about"]["name"]
        if block in releases:
            yield releases.pop(block), result
        elif only is None or block in only:
            raise DataError(f"{proofs}: block {block} is not in {counts}, or is duplicated. {REMEDY}.")
    if releases:
        raise DataError(f"{proofs}: block {next(iter(releases))} of {counts} has no entry. {REMEDY}.")


def require_proved(claims: pd.DataFrame, source: Path, batches: Iterable[tuple[Path, Path]], schema: Schema) -> None:
    """An error unless each of these rows of `source` has a checked proof; batches are files of counts and of proofs."""
    left = {str(block): rows for block, rows in claims.groupby("block")}
    for counts, proofs in batches:
        here = left.keys() & set(read_frame(counts, ["block"])["block"].unique())
        for block in checked_blocks(counts, proofs, schema, here) if here else ():
            block.require(left.pop(block.release.block), source)
    for missing in left:
        raise DataError(f"{source}: block {missing} is in no file of counts, so no proof of its claims can be checked")
