"""A detection checked again, in exact integers and without a solver, and the command that does it."""

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from genverify.attack.explain import Reasons, lay_out, layout_lines
from genverify.checker.certificate import CertificateError, read_proofs
from genverify.checker.record_proofs import check_part, part_of
from genverify.model.errors import DataError
from genverify.model.release import Release
from genverify.run.provenance.recheck import ProofTally, one_file
from genverify.run.provenance.records import Record
from studies.housing.detect import FLAGGED, UNPROVED, YES, Verdict, proved
from studies.housing.households import read_household_file
from studies.housing.joint_program import Percentage, Row, provable_parts, read_block, read_percentages, read_statistics
from studies.housing.study import DATA, READINGS, STATISTICS

# A detection checked again, in exact integers and without a solver: every row of its table is what the proofs show.
#
# A block with a certificate has the verdict and the least number of violations that the certificate shows. A block without
# one is `possible` or `undecided`, and has no violation that is proved.

Proved = tuple[Verdict, int]
Line = Mapping[str, Any]
COLUMNS = ["block", "n", "n_s", "verdict", "flagged", "least_violations"]
REMEDY = "Run detect_housing again."


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
    """How many blocks have each verdict; an error names the first block whose row is not what its proof shows."""
    percentages = read_percentages(found.published)
    rows = dict(read_statistics(found.statistics, percentages))
    listed = _listed(found.blocks)
    for block in sorted(rows.keys() ^ listed.keys()):
        present, absent = (found.statistics, found.blocks) if block in rows else (found.blocks, found.statistics)
        raise DataError(f"{absent}: block {block}, which is in {present}, is missing. {REMEDY}")
    shown = _shown(found, rows, percentages)
    for block, row in rows.items():
        _compare(found, row, listed[block], shown.get(block))
    return Counter(str(line["verdict"]) for line in listed.values())


def check_job(record: Record, writers: Mapping[str, Record]) -> ProofTally:
    """The detection of a job, for an audit."""
    counts = check_detection(_detection(record))
    return ProofTally(Counter(conditions=1, flagged=sum(counts[verdict] for verdict in FLAGGED)))


def open_job(record: Record) -> Iterator[tuple[Release, Mapping[str, Any]]]:
    """The certificates of a job, each with the part of the release that it is about."""
    found = _detection(record)
    percentages = read_percentages(found.published)
    for parts, text in _parts(found, dict(read_statistics(found.statistics, percentages)), percentages):
        yield part_of(parts, text), text


def explain_job(record: Record, block: str, claim: str) -> Iterator[str]:
    """What the certificate of a block shows, once it is checked, in the words of the published statistics."""
    for part, text in open_job(record):
        if part.block == block:
            verdict, least = proved(check_part([part], text), block)
            reasons, node = Reasons(part, text["lemmas"]), text["statements"][0]["proof"]
            yield f"Block {block}, {part.n} households: {verdict.value}, at least {least} violations (proof checked)."
            yield from layout_lines(reasons, lay_out(reasons, node, -1 if least else 0, [YES]))


def _detection(record: Record) -> Detection:
    names = ("statistics", "blocks", "proofs", "housing_domain", "published")
    statistics, blocks, proofs, domain, published = (one_file(record, name) for name in names)
    return Detection(statistics, blocks, proofs, domain, published, str(record.params["condition"]["reading"]))


def _listed(path: Path) -> dict[str, Line]:
    """The rows of a table of detected blocks, by block, as plain values: nothing is converted before it is compared."""
    try:
        lines = pq.read_table(path).select(COLUMNS).to_pylist()
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{path}: not a table of detected blocks ({error}). {REMEDY}") from None
    counts = Counter(line["block"] for line in lines)
    for block, times in counts.items():
        if times > 1 or not isinstance(block, str):
            raise DataError(f"{path}: block {block!r} is duplicated or not text. {REMEDY}")
    return {line["block"]: line for line in lines}


def _shown(found: Detection, rows: Mapping[str, Row], percentages: Sequence[Percentage]) -> dict[str, Proved]:
    """What the certificate of each block shows."""
    shown: dict[str, Proved] = {}
    for parts, text in _parts(found, rows, percentages):
        block = parts[0].block
        if block in shown:
            raise DataError(f"{found.proofs}: the certificate of block {block} is duplicated. {REMEDY}")
        shown[block] = proved(check_part(parts, text), block)
        least, most = shown[block][1], rows[block]["HUD_N"]
        if least > most:
            raise CertificateError(
                f"{found.proofs}: block {block}: {least} violations are shown of {most} subsidized households: no dataset "
                f"fits, so the verdict is contradiction. {REMEDY}"
            )
    return shown


def _parts(
    found: Detection, rows: Mapping[str, Row], percentages: Sequence[Percentage]
) -> Iterator[tuple[Sequence[Release], Mapping[str, Any]]]:
    """Every certificate with the parts of a release, of which it is about one."""
    file = read_household_file(found.domain)
    for text in read_proofs(found.proofs):
        block = text["about"]["name"]
        if block not in rows:
            raise DataError(f"{found.proofs}: block {block!r} is not in {found.statistics}. {REMEDY}")
        whole = read_block(rows[block], block, file, percentages, found.reading)
        yield provable_parts(whole, file, found.reading), text


def _compare(found: Detection, row: Row, line: Line, shown: Proved | None) -> None:
    """The row of a block against its statistics and what was shown, value by value, each of the same type."""
    where = f"{found.blocks}: block {line['block']}"
    if shown is None and line["verdict"] not in UNPROVED:
        why = f"has no certificate in {found.proofs}" if line["verdict"] in FLAGGED else "is not a verdict"
        raise DataError(f"{where}: the verdict {line['verdict']!r} {why}. {REMEDY}")
    for name, value in _expected(row, shown or (Verdict(line["verdict"]), 0)).items():
        if type(line[name]) is not type(value) or line[name] != value:
            source = found.statistics if name in ("n", "n_s") else found.proofs
            raise DataError(f"{where}: {name} is {line[name]!r}, but {value!r} by {source}. {REMEDY}")


def _expected(row: Row, shown: Proved) -> dict[str, Any]:
    """The row of a block with these statistics and this verdict, without the block itself."""
    verdict, least = shown[0].value, shown[1]
    return {"n": row["N"], "n_s": row["HUD_N"], "verdict": verdict, "flagged": verdict in FLAGGED, "least_violations": least}


# The command `check-housing`.


def add_parser(commands: Any) -> None:
    housing = commands.add_parser("check-housing")
    housing.add_argument("folder", type=Path, help="results of a condition, e.g. results/housing/none")
    housing.add_argument("--reading", choices=READINGS, default=READINGS[0], help="(%(default)s)")
    housing.add_argument("--data", type=Path, default=DATA, help="domain and published (%(default)s)")
    housing.set_defaults(run=_check_housing)


def _check_housing(options: argparse.Namespace) -> None:
    started = time.monotonic()
    statistics, blocks, proofs = (options.folder / name for name in (STATISTICS, "blocks.parquet", "proofs.jsonl.gz"))
    domain, published = (options.data / name for name in ("domain.yaml", "published.yaml"))
    total = check_detection(Detection(statistics, blocks, proofs, domain, published, options.reading))
    proved = f"{total['violation']} blocks with a violation, {total['contradiction']} with counts that contradict each other"
    print(f"{proved}: all proofs right ({time.monotonic() - started:.1f} s)")
    print(f"{total['possible']} blocks possible, {total['undecided']} undecided: without a proof, as they claim nothing")
