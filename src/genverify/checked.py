"""Stored proofs, checked before anything is repeated from them: the checked claims of blocks."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.certificate import CertificateError, check_block
from genverify.claims import ANY
from genverify.errors import DataError
from genverify.prooffile import read_proofs
from genverify.release import Release, Schema, read_releases

REMEDY = "Nothing is said of this block: remove the file of proofs and let Snakemake verify the batch again"


@dataclass(frozen=True)
class CheckedBlock:
    """The release of a block and its stored proofs, every one of which the checker accepted."""

    release: Release
    proofs: Mapping[str, Any]

    @cached_property
    def proof_of(self) -> dict[tuple[tuple[int, ...], int], int]:
        """The number of the proof of each claim, by its codes and m."""
        names = self.release.schema.domain.names
        claims = self.proofs["claims"]
        return {(tuple(said["where"].get(name, ANY) for name in names), said["m"]): said["proof"] for said in claims}

    def require(self, claims: pd.DataFrame, source: Path) -> None:
        """An error unless every row is a proved claim, by the proof that the row names if it names one."""
        codes = claims[list(self.release.schema.domain.names)].fillna(ANY).to_numpy(dtype=np.int64).tolist()
        numbers = claims["proof"].tolist() if "proof" in claims else [None] * len(claims)
        for row, m, number in zip(codes, claims["m"].tolist(), numbers, strict=True):
            proof = self.proof_of.get((tuple(row), m))
            if proof is None or number not in (None, proof):
                raise DataError(
                    f"{source}: block {self.release.block}: the claim {self._words(row)} m = {m} is not among the claims "
                    "with a checked proof. Remove the file and let Snakemake collect the claims again."
                )

    def _words(self, codes: Sequence[int]) -> str:
        named = zip(self.release.schema.domain.names, codes, strict=True)
        return " ".join(f"{name}={code}" for name, code in named if code != ANY)


def checked_blocks(
    counts: Path, proofs: Path, schema: Schema, only: Collection[str] | None = None
) -> Iterator[CheckedBlock]:
    """The blocks of a batch, or only some of them, in the order of its proofs; each is checked before it is handed out."""
    releases = {r.block: r for r in read_releases(counts, schema) if only is None or r.block in only}
    for found in read_proofs(proofs):
        block = found["block"]
        if block in releases:
            yield _checked(releases.pop(block), found, proofs)
        elif only is None or block in only:
            raise DataError(f"{proofs}: block {block} is not in {counts}, or is duplicated. {REMEDY}.")
    if releases:
        raise DataError(f"{proofs}: block {next(iter(releases))} of {counts} has no entry. {REMEDY}.")


def _checked(release: Release, proofs: Mapping[str, Any], path: Path) -> CheckedBlock:
    try:
        check_block(release, proofs)
    except CertificateError as error:
        raise CertificateError(f"{path}: a stored proof fails: {error}. {REMEDY}.") from None
    return CheckedBlock(release, proofs)


def require_proved(claims: pd.DataFrame, source: Path, batches: Iterable[tuple[Path, Path]], schema: Schema) -> None:
    """An error unless each of these rows of `source` has a checked proof; batches are files of counts and of proofs."""
    left = {str(block): rows for block, rows in claims.groupby("block")}
    for counts, proofs in batches:
        here = left.keys() & set(pd.read_parquet(counts, columns=["block"])["block"].unique())
        for block in checked_blocks(counts, proofs, schema, here) if here else ():
            block.require(left.pop(block.release.block), source)
    for missing in left:
        raise DataError(f"{source}: block {missing} is in no file of counts, so no proof of its claims can be checked")
