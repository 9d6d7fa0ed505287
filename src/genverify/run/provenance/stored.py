"""Stored proofs checked without records of jobs: what the files show, and what they leave unseen."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from genverify.checker.stored import checked_blocks
from genverify.core.errors import DataError
from genverify.core.release import read_schema
from genverify.core.tablefile import read_frame, table_file, table_names
from genverify.run.provenance.claimed import Matrix, claim_rows, compare_claims, ordered, proven_rows

CLAIMS = "claims"
ENDING = ".jsonl.gz"


def check_stored(proofs: Path, release: Path, claims: Path | None = None) -> Iterator[str]:
    """
    Check the proofs of a folder, or of one file, against the release; then the table of claims against the proofs.

    A batch of the release without proofs is an error. Of one file, or without a table of claims, the last line says what
    was not seen.
    """
    files = _files(proofs, release)
    total: Counter[str] = Counter()
    proven: dict[str, Matrix] = {}
    schema = read_schema(release / "schema.json")
    for file in files:
        for block in checked_blocks(table_file(release, file.name.removesuffix(ENDING)), file, schema):
            total.update(blocks=1, claims=block.checked.claims, proofs=block.checked.proofs)
            proven[block.release.block] = proven_rows(block.checked, schema.domain.names)
    yield f"{total['blocks']} blocks, {total['claims']} claims, {total['proofs']} proofs: all right"
    if not proofs.is_dir():
        yield f"not seen: other batches of {release} than {proofs.name}"
    table = claims or (table_file(proofs.parent, CLAIMS) if proofs.is_dir() else None)
    if table is None or (claims is None and not table.exists()):
        yield "not compared with a table of claims (--claims FILE)"
        return
    compare_claims(table, _listed(table, schema.domain.names), proven)
    yield f"{table}: the claims that are proven, and no other"


def _files(proofs: Path, release: Path) -> list[Path]:
    if not proofs.is_dir():
        return [proofs]
    files = sorted(proofs.glob(f"*{ENDING}"))
    if not files:
        raise DataError(f"{proofs}: no files of proofs (*{ENDING})")
    batches = set(table_names(release))
    missing = sorted(batches - {path.name.removesuffix(ENDING) for path in files})
    if missing:
        raise DataError(
            f"{proofs}: no proofs of batch {missing[0]} ({len(missing)} of {len(batches)} batches of {release} have none). "
            "Verify them, or check single files."
        )
    return files


def _listed(table: Path, names: tuple[str, ...]) -> dict[str, Matrix]:
    """The claims of a table by block; of a block that was drawn for several designs, the same for each of them."""
    frame = read_frame(table)
    rows = claim_rows(table, frame, names)
    found: dict[str, Matrix] = {}
    keys = [name for name in ("design", "block") if name in frame]
    for key, places in frame.groupby(keys, sort=False).indices.items() if len(frame) else ():
        block = str(key[-1] if isinstance(key, tuple) else key)
        own = ordered(rows[places])
        if block in found and (len(own) != len(found[block]) or (own != found[block]).any()):
            raise DataError(f"{table}: block {block}: other claims for one design than for another")
        found[block] = own
    return found
