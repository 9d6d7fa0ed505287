"""The stored proofs about tracts: checked again from files, and in words."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.attack.explain import Reasons, conditions, explain_proof
from genverify.attack.verify import claim_where
from genverify.checker.certificate import CertificateError, read_proofs
from genverify.checker.record_proofs import PARTS, AreaChecker
from genverify.model.areas import AreaReleases, seen_from
from genverify.model.claims import ANY, Claim, parse_claim
from genverify.model.release import Release, read_releases, read_schema
from genverify.run.provenance.recheck import ProofTally, one_file
from genverify.run.provenance.records import AuditError, Record, reading_tables
from studies.gtv.settings import BLOCKS, BOTH, KIND_OF, TRACT, SyntheticTracts, TractTables
from studies.gtv.tracts import AREAS, batch_of_tracts, proof_sizes, tract_sizes

# The stored proofs about tracts, checked again from files: the counts, the proofs, and the claims that they carry.

Said = dict[tuple[int, ...], str]  # m and the codes of a claim, and the number of the statement that shows it
Line = Mapping[str, Any]


def check_tract(levels: AreaReleases, certificate: Line, claims: pd.DataFrame) -> dict[str, Any]:
    """Check every proof of a tract; the claims that are reported must be the ones that are proved."""
    names, tract = levels.schema.domain.names, levels.areas[0].release.block
    checker, proved, one_solution, known = AreaChecker(levels, certificate), 0, 0, 0
    lines = {line["block"]: line for line in certificate["statements"] if isinstance(line, Mapping) and "block" in line}
    reported = {str(area): own for area, own in claims[claims["tables"] == BOTH].groupby("area")}
    for number, checked in checker.statements(certificate["statements"]):
        block, said = levels.blocks[number], Said()
        for part, one in zip((part for part in PARTS if lines[block.block][part]), checked, strict=True):
            for index, statement in enumerate(one.statements):
                where = checker.own_where(number, statement.where)
                said.setdefault((statement.m, *(where.get(name, ANY) for name in names)), f"{part} {index}")
        own = reported.pop(block.block, claims[:0])
        rows = {tuple(row): proof for proof, *row in own[["proof", "m", *names]].itertuples(index=False, name=None)}
        if rows != said:
            wrong = len(rows.items() ^ said.items())
            raise CertificateError(f"block {block.block}: {wrong} claims are reported without proof, or not at all")
        full = sum(m for m, *codes in said if ANY not in codes)
        proved, known = proved + len(said), known + full
        one_solution += full == block.n
    if reported:
        raise CertificateError(f"{tract}: claims are reported about a block without proofs")
    return {"tract": tract, "blocks": len(certificate["statements"]), "claims": proved, "determined": known,
            "one_solution": one_solution}  # fmt: skip


# The answer to "explain this claim" about a block of a tract: its stored proof in words, once it is checked.


def explain_job(record: Record, block: str, text: str) -> Iterator[str]:
    """What the proofs of a job show of a claim about a block; nothing where they are not about the block."""
    for levels, certificate in open_job(record):
        line = next((said for said in certificate["statements"] if said["block"] == block), None)
        if line:
            yield from explain_in_tract(levels, certificate, line, text)


def explain_in_tract(levels: AreaReleases, certificate: Line, line: Line, text: str) -> Iterator[str]:
    """The claim in words and, if it is verified, the cells of the block, of other blocks and of the tract that force it."""
    block, claim = line["block"], parse_claim(text, levels.schema.domain)
    checker = AreaChecker(levels, certificate)
    numbers = [checker.number_of[block]]
    checker.check(numbers[0], line["alone"], line["together"])
    yield f"Block {block}, {levels.blocks[numbers[0]].n} records. Claim: exactly {claim.m} with"
    yield from conditions(levels.schema, claim)
    own = seen_from(levels, numbers[0])
    for release, part, said in (
        (own, line["alone"], claim),
        (checker.release, line["together"], Claim((numbers[0] + 1, *claim.codes), claim.m)),
    ):
        stored = _stored(release, part, said)
        if stored:
            yield "Verified: true of every dataset that fits the tables of all blocks and of the tract (proof checked)."
            yield from explain_proof(Reasons(release, part["lemmas"]), part, stored)
            yield from _nobody(certificate)
            return
    yield "Not among the verified claims: some dataset may contradict it, or it was not asked."


def _stored(release: Release, certificate: Mapping[str, Any] | None, claim: Claim) -> Mapping[str, Any] | None:
    where = claim_where(release.schema.domain.names, claim)
    claims = certificate["statements"] if certificate else []
    return next((stored for stored in claims if stored["where"] == where and stored["m"] == claim.m), None)


def _nobody(shared: Mapping[str, Any]) -> Iterator[str]:
    """What the proof rests on besides, where all blocks together rule records out."""
    for proof in shared["nobody"]:
        yield (
            f"Besides, some records are ruled out for all blocks at once: {len(proof['y'])} cells of blocks and tract add "
            "up to a sum that rules all of them out."
        )


# The proofs about a batch of tracts, for an audit: checked against the counts, and the tables that repeat them compared.

AGAIN = "Verify the batch again: snakemake --force"


def open_job(record: Record) -> Iterator[tuple[AreaReleases, Line]]:
    """The certificates of a batch, each with what is published of its tract."""
    proofs, batch = one_file(record, "proofs"), _batch(record)
    with reading_tables(proofs):
        stored = list(read_proofs(proofs))
        if [one["about"]["name"] for one in stored] != [levels.areas[0].release.block for levels in batch]:
            raise AuditError(f"{proofs}: not the proofs of the tracts of this batch, each once. {AGAIN} {proofs}")
    return zip(batch, stored, strict=True)


def check_job(record: Record, writers: Mapping[str, Record]) -> ProofTally:
    """Every proof of a batch, every claim that follows from both levels, and what areas and tracts add up to."""
    claims, areas, whole, proofs = (one_file(record, name) for name in ("claims", "areas", "whole", "proofs"))
    asked = TractTables(**record.params[KIND_OF[record.wildcards["source"]]])
    opened = list(open_job(record))
    with reading_tables(claims):
        frame = _claims(claims, [levels for levels, _ in opened])
    checked = Counter[str]()
    for levels, certificate in opened:
        tract = certificate["about"]["name"]
        with reading_tables(proofs):
            found = check_tract(levels, certificate, frame[frame["tract"] == tract])
        small = [block.block for block in levels.blocks if block.n <= asked.largest_block]
        if [line["block"] for line in certificate["statements"]] != small:
            raise AuditError(f"{proofs}: tract {tract}: not the blocks that are asked about. {AGAIN} {proofs}")
        checked.update(tracts=1, tract_blocks=found["blocks"], tract_claims=found["claims"])
    with reading_tables(areas):
        shown = [row for levels, one in opened for row in _areas(levels, one["statements"], frame, asked)]
        _compare(areas, pd.read_parquet(areas), shown)
    with reading_tables(whole):
        _compare(whole, pd.read_parquet(whole), [_whole(levels, one, shown) for levels, one in opened])
    return ProofTally(checked + Counter(of_one_level=int((frame["tables"] != BOTH).sum())))


def _batch(record: Record) -> list[AreaReleases]:
    """The tracts of the batch, from the counts that the job read."""
    levels = (("blocks", "block_counts"), ("tracts", "tract_counts"))
    named = [(one_file(record, counts), one_file(record, schema)) for schema, counts in levels]
    blocks, tracts = (list(read_releases(counts, read_schema(schema))) for counts, schema in named)
    source = record.wildcards["source"]
    batches = record.params["batches"] if source == "records" else SyntheticTracts(**record.params[source]).tracts
    return batch_of_tracts(blocks, tracts, int(record.wildcards["batch"]), batches)


def _claims(path: Path, batch: Sequence[AreaReleases]) -> pd.DataFrame:
    """The table of claims: about areas of this batch, none twice, and none with two numbers of records."""
    frame = pd.read_parquet(path)
    names = batch[0].schema.domain.names if batch else ()
    columns = ["tract", "tables", "area", "proof", "m", *names]
    if batch and (list(frame.columns) != columns or not all(map(pd.api.types.is_integer_dtype, frame.dtypes[4:]))):
        raise AuditError(f"{path}: not the columns of a table of claims, with whole numbers. {AGAIN} {path}")
    inside = {levels.areas[0].release.block: [block.block for block in levels.blocks] for levels in batch}
    known = {(tract, TRACT, tract) for tract in inside}
    known |= {(tract, tables, block) for tract in inside for block in inside[tract] for tables in (BLOCKS, BOTH)}
    other = sorted(set(frame[["tract", "tables", "area"]].itertuples(index=False, name=None)) - known)
    if other:
        raise AuditError(
            f"{path}: claims about {' '.join(map(str, other[0]))}, which is not an area of this batch. {AGAIN} {path}"
        )
    twice = frame[frame.duplicated(["tables", "area", *names])]
    # a claim from block tables alone must be one of those from both, or at least contradict none of them
    both, alone = (frame[frame["tables"] == tables] for tables in (BOTH, BLOCKS))
    joined = alone.merge(both, on=["area", *names], suffixes=("", "_both"))
    wrong = [*twice["area"], *joined.loc[joined["m"] != joined["m_both"], "area"]]
    if wrong:
        raise AuditError(f"{path}: area {wrong[0]}: a claim is duplicated, or contradicts another one. {AGAIN} {path}")
    return frame


def _areas(levels: AreaReleases, lines: Sequence[Line], frame: pd.DataFrame, asked: TractTables) -> Iterator[dict[str, Any]]:
    """What the table of areas has to say, from the counts, the claims and the proofs."""
    tract = levels.areas[0].release
    names = list(levels.schema.domain.names)
    full = frame[(frame[names] != ANY).all(axis=1)]
    determined = full.groupby(["tables", "area"])["m"].sum().to_dict()
    small = [block for block in levels.blocks if block.n <= asked.largest_block]
    rows: list[tuple[str, Release, Line | None]] = [(BLOCKS, block, None) for block in small]
    rows += [(TRACT, tract, None)] if tract.n <= asked.largest_block else []
    rows += [(BOTH, block, line) for block, line in zip(small, lines, strict=True)]
    for tables, area, line in rows:
        known = int(determined.get((tables, area.block), 0))
        row = dict(zip(AREAS[:5], (tract.block, tables, area.block, area.n, known), strict=True))
        parts = [line[part] for part in PARTS if line[part]] if line else []
        yield row | proof_sizes([proof for part in parts for proof in part["proofs"]]) if line else row


def _whole(levels: AreaReleases, certificate: Line, areas: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the table of tracts has to say, as far as counts and proofs show it."""
    tract = certificate["about"]["name"]
    known = sum(row["determined"] for row in areas if row["tract"] == tract and row["tables"] == BOTH)
    return tract_sizes(levels, certificate, known)


def _compare(path: Path, frame: pd.DataFrame, shown: Sequence[Mapping[str, Any]]) -> None:
    """A table, row by row and value by value, as far as something is shown."""
    listed = frame.to_dict("records")
    if len(listed) != len(shown):
        raise AuditError(f"{path}: {len(listed)} rows, but {len(shown)} areas. {AGAIN} {path}")
    for row, right in zip(listed, shown, strict=True):
        for name, value in right.items():
            if type(row[name]) is not type(value) or row[name] != value:
                raise AuditError(
                    f"{path}: {right.get('area', right['tract'])}: {name} is {row[name]!r}, but {value!r} by its counts and "
                    f"proofs. {AGAIN} {path}"
                )
