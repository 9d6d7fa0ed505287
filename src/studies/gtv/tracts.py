"""Whole tracts: what is published, the attack from block and tract tables, whom it singles out, which cells are missing."""

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from genverify.attack.evaluate import evaluate_codes
from genverify.attack.explain import Reasons, conditions, explain_proof
from genverify.attack.verify import AreaAttack, Verdict, attack_release, claim_where
from genverify.checker.certificate import CertificateError, read_proofs
from genverify.checker.record_proofs import PARTS, AreaChecker
from genverify.model.areas import Area, AreaReleases, make_levels, seen_from
from genverify.model.arrays import Flags
from genverify.model.claims import ANY, Claim, matches, parse_claim
from genverify.model.domain import EVERY, DomainFile
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from genverify.model.query import Query, groups_of
from genverify.model.release import Recoding, Release, Schema, build_schema, read_releases, read_schema, recode
from genverify.model.settings import ReleaseSettings, merge
from genverify.model.tablefiles import stack
from genverify.model.tabulate import releases_of
from genverify.model.work import derive_seed, progress
from genverify.report.pages import document, markdown_table
from genverify.run.provenance.recheck import ProofTally, one_file
from genverify.run.provenance.records import AuditError, Record, reading_tables
from genverify.solve.datasets import Variability, draw_dataset, solution_variability
from genverify.solve.joint import CHECKS
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.settings import BLOCKS, BOTH, KIND_OF, TRACT, SyntheticTracts, TractTables

log = logging.getLogger(__name__)
AREAS = ["tract", "tables", "area", "records", "determined", "undecided", "proofs", "cells"]
WHOLE = ["tract", "persons", "blocks", "blocks_not_asked", "one_solution", "solvar", "solvar_exact", "classes", "rows",
         "datasets", "linear_programs", "searches", "cells_of_nobody", "together", "proof_bytes"]  # fmt: skip
DATASETS = 20  # of a block from its own tables
Certificate = Mapping[str, Any]
LARGEST_SEARCHED = 20_000_000  # coefficients of a tract's program up to which its solution variability is asked for


@dataclass(frozen=True)
class AreaFindings:
    """What some tables prove of one area (a block, or the whole tract): its claims, and a row of the table of areas."""

    claims: Sequence[Claim]
    row: Mapping[str, Any]

    @classmethod
    def of(
        cls, tables: str, release: Release, claims: Sequence[Claim], undecided: int, certificates: Sequence[Certificate]
    ) -> "AreaFindings":
        """The row: records, how many of them claims about all columns account for, candidates left undecided, proofs."""
        columns = len(release.schema.domain.names)
        determined = sum(claim.m for claim in claims if claim.k == columns)
        row = {"tables": tables, "area": release.block, "records": release.n, "determined": determined}
        proofs = [proof for certificate in certificates for proof in certificate["proofs"]]
        return cls(claims, row | {"undecided": undecided} | proof_sizes(proofs))


def proof_sizes(proofs: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many proofs there are, and how many cells they name."""
    cells = sum(len(half["y"]) for proof in proofs for half in proof.values() if "y" in half)
    return {"proofs": len(proofs), "cells": cells}


def tract_sizes(levels: AreaReleases, certificate: Certificate, determined: int) -> dict[str, Any]:
    """How many persons and blocks a tract has, whether all of them are determined, and how large its proofs are."""
    persons, lines = int(levels.sizes.sum()), certificate["statements"]
    sizes = {"tract": certificate["about"]["name"], "persons": persons, "blocks": len(levels.blocks)}
    sizes |= {"blocks_not_asked": len(levels.blocks) - len(lines), "one_solution": determined == persons}
    sizes["cells_of_nobody"] = sum(len(proof["y"]) for proof in certificate["nobody"] if "y" in proof)
    sizes["together"] = sum(len(line["together"]["statements"]) for line in lines if line["together"])
    return sizes | {"proof_bytes": len(json.dumps(certificate, separators=(",", ":")))}


def attack_tracts(
    tracts: Sequence[AreaReleases], names: Sequence[str], settings: ProgramSettings, asked: TractTables, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, list[Certificate]]:
    """Tract after tract: tables of claims, areas and whole tracts, and the proofs; `names` are the columns of a record."""
    claims, rows, wholes, proofs = [_claims_frame("", [], names)], [], [], list[Certificate]()
    for levels in progress(tracts, "tracts attacked"):
        findings, certificate, whole = _attack_tract(levels, settings, asked, seed)
        log.info("tract %s", ", ".join(f"{name}: {value}" for name, value in whole.items()))
        claims.append(_claims_frame(whole["tract"], findings, names, certificate["statements"]))
        rows += [{"tract": whole["tract"], **one.row} for one in findings]
        wholes.append(whole)
        proofs.append(certificate)
    return stack(claims), pd.DataFrame(rows, columns=AREAS), pd.DataFrame(wholes), proofs


def _attack_tract(
    levels: AreaReleases, settings: ProgramSettings, asked: TractTables, seed: int
) -> tuple[list[AreaFindings], dict[str, Any], dict[str, Any]]:
    """Every block from its own tables and from all; the tract as a whole from its own. Every proof is checked."""
    [area] = levels.areas
    result = []
    for block in [block for block in levels.blocks if block.n <= asked.largest_block]:
        own = attack_release(block, settings, DATASETS, asked.min_k, derive_seed(seed, "generate", block.block))
        undecided = own.counts(Verdict.UNDECIDED) + own.counts(Verdict.UNCERTIFIED)
        result.append(AreaFindings.of(BLOCKS, block, own.claims, undecided.total(), [own.certificate]))
    seed_here = derive_seed(seed, "tracts", area.release.block)
    if area.release.n <= asked.largest_block:
        [one] = AreaAttack(make_levels([area.release], []), settings, asked.datasets, seed_here).blocks(asked.min_k)
        result.append(AreaFindings.of(TRACT, area.release, one.claims, len(one.undecided), one.certificates))
    numbers = np.flatnonzero(levels.sizes <= asked.largest_block).tolist()
    attack = AreaAttack(levels, settings, asked.datasets, seed_here, numbers)
    statements: list[Mapping[str, Any]] = []
    release_of = {block.block: block for block in levels.blocks}
    for one in attack.blocks(asked.min_k):
        result.append(AreaFindings.of(BOTH, release_of[one.block], one.claims, len(one.undecided), one.certificates))
        statements.append({"block": one.block, "alone": one.alone, "together": one.together})
    certificate = attack.shared | {"statements": statements}
    return result, certificate, _whole(attack, result, certificate, settings, seed_here)


def _whole(
    attack: AreaAttack, areas: Sequence[AreaFindings], certificate: Certificate, settings: ProgramSettings, seed: int
) -> dict[str, Any]:
    sizes = tract_sizes(attack.levels, certificate, sum(one.row["determined"] for one in areas if one.row["tables"] == BOTH))
    variability = Variability(0, 0.0, exact=True) if sizes["one_solution"] else _variability(attack, settings, seed)
    sizes |= {"solvar": variability.solvar if variability else -1, "solvar_exact": bool(variability and variability.exact)}
    sizes |= {"classes": attack.joint.A.shape[1], "rows": attack.joint.A.shape[0], "datasets": len(attack.datasets)}
    sizes |= {"linear_programs": attack.bounder.linear_programs, "searches": attack.bounder.searches}
    return {name: sizes[name] for name in WHOLE}


def _variability(attack: AreaAttack, settings: ProgramSettings, seed: int) -> Variability | None:
    """How far another dataset of the whole tract can be from the first one; None where the tract is too large to ask."""
    rows, classes = attack.joint.A.shape
    if rows * classes > LARGEST_SEARCHED or not attack.joint.alike:
        return None
    program = attack.joint.program()
    records = draw_dataset(program, attack.datasets[0], np.random.default_rng(seed))
    return solution_variability(program, records, settings.make_solver(CHECKS))


def _claims_frame(
    tract: str, findings: Sequence[AreaFindings], names: Sequence[str], statements: Sequence[Mapping[str, Any]] = ()
) -> pd.DataFrame:
    """Verified claims as rows, with the number of the statement that shows each (empty: not stored); codes, -1 for any."""
    stored = dict[tuple[Any, ...], str]()
    for said in statements:
        for part in (part for part in ("alone", "together") if said[part]):
            for number, one in enumerate(said[part]["statements"]):
                codes = tuple(one["where"].get(name, ANY) for name in names)
                stored.setdefault((BOTH, said["block"], one["m"], *codes), f"{part} {number}")
    claims = [(one.row["tables"], one.row["area"], claim.m, *claim.codes) for one in findings for claim in one.claims]
    rows = [(tract, *claim[:2], stored.get(claim, ""), *claim[2:]) for claim in claims]
    frame = pd.DataFrame(rows, columns=["tract", "tables", "area", "proof", "m", *names])
    return frame.astype({"m": "int64", **dict.fromkeys(names, "int16")})


# Claims about tracts beside the records: whether they are true, whom they single out, what they determine.

COUNTED = ["claims", "false_claims", "singled_out"]


def judge(claims: pd.DataFrame, areas: pd.DataFrame, records: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """By tables and k (0: any k): claims, false ones, persons singled out; per tables what is determined and undecided."""
    of_area = {str(block): group[names].to_numpy() for block, group in records.groupby("block")}
    of_area |= {str(t): group[names].to_numpy() for t, group in records.groupby(records["block"].str[:TRACT_DIGITS])}
    rows = []
    for tables, group in areas.groupby("tables", sort=False):
        total = np.zeros((len(names) + 1, len(COUNTED)), dtype=np.int64)
        for area, of_claims in claims[claims["tables"] == tables].groupby("area"):
            codes = of_claims[names].to_numpy()
            evaluation = evaluate_codes(str(area), codes, of_claims["m"].to_numpy(), of_area[str(area)])
            total += evaluation.by_k((codes != ANY).sum(axis=1), len(names))[COUNTED].to_numpy()
        sums = group[["records", "determined", "undecided", "cells", "proofs"]].sum()
        whole = {"tracts": group["tract"].nunique(), "areas": len(group), "persons": int(sums["records"])}
        unique = int((group["determined"] == group["records"]).sum())
        whole |= {"determined": int(sums["determined"]), "unique_areas": unique, "undecided": int(sums["undecided"])}
        whole["cells_per_proof"] = round(sums["cells"] / max(1, sums["proofs"]), 1)
        for k in range(len(names) + 1):
            rows.append({"tables": tables, "k": k, **dict(zip(COUNTED, total[k].tolist(), strict=True)), **whole})
    return pd.DataFrame(rows)


# Which cells are missing for the records that no tables determine: what is known of them, and in which columns it ends.

COLUMNS = ["known", "missing", "told_apart", "records", "areas", "cells"]
Known = tuple[int, ...]


def distinguished_codes(schema: Schema) -> dict[str, set[int]]:
    """Per column, the codes that the cells of a schema tell apart from every other code."""
    result = {}
    for column in schema.domain.columns:
        named = [set(q.predicate.where[column.name]) for q in schema.queries if column.name in q.predicate.columns]
        inside = {code: tuple(code in codes for codes in named) for code in column.codes}
        times = Counter(inside.values())
        result[column.name] = {code for code, cells in inside.items() if times[cells] == 1}
    return result


def missing_cells(
    claims: pd.DataFrame, records: pd.DataFrame, names: Sequence[str], apart: Mapping[str, set[int]]
) -> pd.DataFrame:
    """
    The records that block and tract tables together do not determine, by what they tell of them: the largest sets of columns
    that are known together (from which the columns that are missing follow), whether block tables tell their codes of the
    missing columns apart, how many records, in how many blocks, and how many cells of all columns would have to be known.
    """
    claimed = {str(area): group for area, group in claims[claims["tables"] == BOTH].groupby("area")}
    rows = [row for area, group in records.groupby("block") for row in _rows(str(area), group, claimed, names, apart)]
    frame = pd.DataFrame(rows, columns=["known", "missing", "told_apart", "area", "cell"])
    groups = frame.groupby(["known", "missing", "told_apart"], sort=True)
    counted = groups.agg(records=("cell", "size"), areas=("area", "nunique"), cells=("cell", "nunique"))
    return counted.sort_values("records", ascending=False, kind="stable").reset_index()[COLUMNS]


def _rows(
    area: str, records: pd.DataFrame, claimed: Mapping[str, pd.DataFrame], names: Sequence[str],
    apart: Mapping[str, set[int]],
) -> Iterator[tuple[str, str, str, str, tuple[str, ...]]]:  # fmt: skip
    codes = records[list(names)].to_numpy()
    for record, flags in zip(codes.tolist(), _known(claimed.get(area), codes, names), strict=True):
        if flags[-1]:
            continue
        sets = _largest([_columns(mask) for mask in np.flatnonzero(flags).tolist()])
        left = [index for index in range(len(names)) if index not in sets[0]]
        is_determined = all(record[index] in apart[names[index]] for index in left)
        known = "; ".join(", ".join(names[index] for index in indices) for indices in sets)
        missing = ", ".join(names[index] for index in left)
        yield known, missing, "yes" if is_determined else "no", area, (area, *map(str, record))


def _known(claims: pd.DataFrame | None, records: np.ndarray, names: Sequence[str]) -> Flags:
    """Per record and set of columns (the bits of the place): whether a claim describes the record in these columns."""
    known: Flags = np.zeros((len(records), 2 ** len(names)), dtype=bool)
    if claims is not None:
        codes = claims[list(names)].to_numpy()
        masks = (codes != ANY) @ (1 << np.arange(len(names)))
        claim, record = np.nonzero(matches(codes, records))
        known[record, masks[claim]] = True
    return known


def _columns(mask: int) -> Known:
    return tuple(index for index in range(mask.bit_length()) if mask >> index & 1)


def _largest(sets: Sequence[Known]) -> list[Known]:
    """The sets that lie in no other, the largest first; the empty one where there is none."""
    ends = [part for part in sets if not any(set(part) < set(other) for other in sets)]
    return sorted(ends, key=lambda part: (-len(part), part)) or [()]


# Whole tracts as tables and a page.

SYNTHETIC = ("synthetic_persons", "synthetic_households")
SOURCES = {**{name: name.replace("_", " ") for name in SYNTHETIC}, "records": "persons of a file"}
READINGS = {"years": "age in years", "bins": "age in bins", "codes": ""}
NOTE = (
    "A claim is verified if it holds in every dataset that fits the tables; from tract tables alone it is about the tract "
    "as a whole, otherwise about a block. Singled out: records that some verified claim with m = 1 describes. Determined: "
    "records known in every column, so that an area all of whose records are determined has one solution (Abowd et al.). "
    "Undecided: candidates that are neither proved nor refuted. Every proof was checked in exact integers when it was made; "
    "those from both levels are stored and were checked again from the files. Age in bins: single years below 22, then the "
    "bands of P12."
)
WHOLE_NOTE = (
    "One solution: no other dataset of the tract fits, by the stored proofs. Records that can differ: solution variability "
    "(subsidized housing, equation 3), the most records in which another dataset of all blocks can differ from the first "
    "that was found, in the tracts where the integer program ended (`exact`). Classes: kinds of records by block that the "
    "tables leave open and tell apart, the columns of the one program of a tract."
)
MISSING_NOTE = (
    "Records that block and tract tables together do not determine, by what the verified claims tell of them: the largest "
    "sets of columns known together, the columns that are then missing, and whether some cell of a block tells the record's "
    "codes in these columns apart from all others (where none does, only the tract's cells have them, and they can lie in "
    "any of its blocks). Cells: the counts of one block by all columns that would have to be published for these records. "
    "Persons only; the largest groups."
)
LISTED = 8  # groups of records on the page; the table file has all
NO_RECORDS = (
    "Real tracts are not part of this run: no file of person records is named (`tracts.records` in config/tracts.yaml)."
)


def in_words(source: str, reading: str) -> str:
    words = READINGS.get(reading, reading)
    return f"{SOURCES[source]}, {words}" if words else SOURCES[source]


def _stacked(frames: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """The frames of every source of records and reading, one below the other."""
    return pd.concat(frames, names=["source", "reading"]).reset_index(["source", "reading"]).reset_index(drop=True)


def tracts_table(judged: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """The judged claims of every source of records and reading, one below the other, with shares of records and areas."""
    table = _stacked(judged)
    persons, areas = table["persons"], table["areas"]
    shares = {"singled_out": table["singled_out"] / persons, "determined": table["determined"] / persons}
    shares["unique"] = table["unique_areas"] / areas
    return table.assign(**{f"share_{name}": share for name, share in shares.items()})


def whole_table(whole: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Sums over the tracts of every source and reading: what they took, and how far from one solution they are."""
    rows = []
    for (source, reading), frame in whole.items():
        exact, sums = frame[frame["solvar_exact"]], frame.sum(numeric_only=True)
        row: dict[str, Any] = {"source": source, "reading": reading, "tracts": len(frame)}
        row |= {name: int(sums[name]) for name in ("persons", "blocks", "blocks_not_asked", "one_solution")}
        row |= {"exact": len(exact), "solvar": int(exact["solvar"].sum())}
        row["share_solvar"] = exact["solvar"].sum() / max(1, 2 * exact["persons"].sum())
        row |= {name: int(sums[name]) for name in SUMMED}
        rows.append(row | {"largest_classes": int(frame["classes"].max())})
    return pd.DataFrame(rows)


def missing_table(missing: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """The records that are not determined, of every source and reading whose claims have any number of columns."""
    return _stacked(missing)[["source", "reading", *COLUMNS]]


SUMMED = ("classes", "linear_programs", "searches", "together", "cells_of_nobody", "proof_bytes")


def cells_by_table(queries: Sequence[Query], printed: Mapping[str, int]) -> pd.DataFrame:
    """How many cells of each table are used here, beside those that the Bureau prints; iterations together."""
    longest = sorted(printed, key=len, reverse=True)
    base = [next((name for name in longest if query.table.startswith(name)), query.table) for query in queries]
    frame = pd.DataFrame({"table": base, "name": [query.table for query in queries]})
    counts = frame.groupby("table", sort=False).agg(tables=("name", "nunique"), ours=("name", "size")).reset_index()
    return counts.assign(printed=counts["table"].map(lambda name: printed.get(name, 0)) * counts["tables"])


def tracts_text(table: pd.DataFrame, whole: pd.DataFrame, missing: pd.DataFrame, cells: pd.DataFrame, label: str) -> str:
    """The page: what is known of records by which tables, what the tracts took, and how many cells were used."""
    rows: list[list[Any]] = []
    for row in table[table["k"] == 0].to_dict("records"):
        shares = [f"{100 * row[f'share_{name}']:.1f} %" for name in ("singled_out", "determined")]
        unique = f"{row['unique_areas']:,} of {row['areas']:,}"
        source = in_words(str(row["source"]), str(row["reading"]))
        unit = "the tract" if row["tables"] == TRACT else "a block"
        known = [source, row["tables"], unit, row["persons"], *shares, unique]
        rows.append([*known, *(row[name] for name in ("claims", "false_claims", "undecided", "cells_per_proof"))])
    header = ["records", "tables", "claims about", "number", "singled out", "determined", "areas with one solution"]
    main = markdown_table([*header, "claims", "false", "undecided", "cells per proof"], rows, left=3)
    used = markdown_table(["table", "tables", "cells used", "cells printed"], cells.to_numpy().tolist())
    real = [] if (table["source"] == "records").any() else [NO_RECORDS]
    parts = [main, NOTE, *real, "## Tracts as a whole", _whole_text(whole), WHOLE_NOTE]
    parts += ["## Cells that are missing", _missing_text(missing), MISSING_NOTE, "## Cells of persons", used]
    return document("Whole tracts: block and tract tables in one attack", label, parts)


def _whole_text(whole: pd.DataFrame) -> str:
    rows = []
    for row in whole.to_dict("records"):
        varies = f"{100 * row['share_solvar']:.1f} % ({row['exact']} exact)" if row["exact"] else "not asked (too large)"
        solved = [row[name] for name in ("classes", "linear_programs", "searches", "together")]
        source = in_words(str(row["source"]), str(row["reading"]))
        one = f"{row['one_solution']} of {row['tracts']}"
        rows.append([source, one, varies, *solved, f"{row['proof_bytes'] / 1e6:.1f} MB"])
    header = ["records", "tracts with one solution", "records that can differ", "classes", "linear programs"]
    return markdown_table([*header, "integer searches", "claims that need all blocks", "proofs"], rows, left=1)


def _missing_text(missing: pd.DataFrame) -> str:
    rows = []
    for (source, reading), group in missing.groupby(["source", "reading"], sort=False):
        if KIND_OF[str(source)] == "persons":
            named = in_words(str(source), str(reading))
            rows += [[named, *(row[name] for name in COLUMNS)] for row in group.head(LISTED).to_dict("records")]
    if not rows:
        return "No cell is missing: every record is determined."
    header = ["records", "known together", "missing", "told apart by a block cell", "number", "blocks", "cells"]
    return markdown_table(header, rows, left=4)


# What is published about the blocks of some tracts and about the tracts, with a column read as it is or in bins.

TRACT_DIGITS = 11  # of a GEOID: state 2, county 3, tract 6


def read_tables(paths: Sequence[Path]) -> dict[str, Any]:
    """The table files, each laid over those before it."""
    text: dict[str, Any] = {}
    for path in paths:
        text = merge(text, read_yaml(path))
    return text


def schema_of(domain: DomainFile, text: Mapping[str, Any], tables: Sequence[str], universe: str = "everything") -> Schema:
    about: dict[str, Any] = {"tables_file": "", "groups": {}, "structural_zeros": False, "withhold": []}
    return build_schema(domain, text, ReleaseSettings(universe=universe, tables=list(tables), **about))


def _recodings(text: Mapping[str, Any], schemas: Sequence[Schema], name: str | None) -> list[Recoding] | None:
    """How claims read the records of each schema: with the codes of one column merged, or as they are."""
    if name is None:
        return None
    groups = groups_of(text, schemas[0].domain, name)
    columns = {column for group in groups for column in group.predicate.columns}
    if len(columns) != 1:
        raise DataError(f"tracts.readings: the list {name} is about {len(columns)} columns; give one about a single column")
    [column] = columns
    merged = {group.label: group.predicate.where[column] for group in groups if len(group.predicate.where[column]) > 1}
    return [recode(schema, column, merged) for schema in schemas]


def _recoded(records: pd.DataFrame, recoding: Recoding) -> pd.DataFrame:
    code = np.arange(max(recoding.code) + 1)
    code[list(recoding.code)] = list(recoding.code.values())
    return records.assign(**{recoding.column: code[records[recoding.column].to_numpy()].astype(np.int16)})


@dataclass(frozen=True)
class Publication:
    """What is published about some tracts, and the records behind it, as claims read them."""

    levels: Sequence[AreaReleases]
    records: pd.DataFrame

    @property
    def blocks(self) -> list[Release]:
        return [block for one in self.levels for block in one.blocks]

    @property
    def tracts(self) -> list[Release]:
        return [one.areas[0].release for one in self.levels]


def publish_tracts(
    records: pd.DataFrame, domain: DomainFile, text: Mapping[str, Any], published: TractTables, name: str
) -> Publication:
    """The counts of the blocks and tracts of some records, under the reading of this name."""
    levels = (published.block_tables, published.tract_tables)
    schemas = [schema_of(domain, text, tables, published.universe) for tables in levels]
    recodings = _recodings(text, schemas, published.readings[name])
    read = _recoded(records, recodings[0]) if recodings else records
    return Publication(list(_tract_levels(records, schemas, recodings)), read)


def _tract_levels(
    records: pd.DataFrame, schemas: Sequence[Schema], recodings: Sequence[Recoding] | None
) -> Iterator[AreaReleases]:
    for tract, group in records.groupby(records["block"].str[:TRACT_DIGITS], sort=True):
        tables = [pa.Table.from_pandas(part, preserve_index=False) for part in (group, group.assign(block=str(tract)))]
        counted = [list(releases_of(table, EVERY, schema)) for table, schema in zip(tables, schemas, strict=True)]
        if recodings:
            counted = [[how.release(one) for one in part] for how, part in zip(recodings, counted, strict=True)]
        blocks, [whole] = counted
        yield make_levels(blocks, [Area("tract", whole, tuple(range(len(blocks))))])


def sample_tracts(
    records: pd.DataFrame, domain: DomainFile, published: TractTables, chosen: SyntheticTracts, seed: int
) -> pd.DataFrame:
    """The records of some tracts that are in the universe of the tables, without those of their largest blocks."""
    for name, codes in domain.universe(published.universe).keeps.clauses:
        records = records[records[name].isin(list(codes))]
    records = records.assign(block=records["block"].astype(str))
    part = _choose_tracts(records, chosen.tracts, chosen.records, derive_seed(seed, "tracts", "sample"))
    rest: pd.DataFrame = part[part.groupby("block")["block"].transform("size") <= published.largest_block]
    return rest.reset_index(drop=True)


def _choose_tracts(records: pd.DataFrame, number: int, least: int, seed: int) -> pd.DataFrame:
    """The records of some tracts, drawn from those with at least a number of records."""
    tract = records["block"].str[:TRACT_DIGITS]
    sizes = tract.value_counts().sort_index()
    large = sizes.index[sizes >= least].to_numpy()
    if len(large) < number:
        raise DataError(
            f"only {len(large)} tracts have {least} records or more, of {number} wanted: lower tracts.synthetic_persons or "
            "tracts.synthetic_households"
        )
    chosen = np.random.default_rng(seed).choice(large, number, replace=False)
    rest: pd.DataFrame = records[tract.isin(chosen)].reset_index(drop=True)
    return rest


def batch_of_tracts(blocks: Sequence[Release], tracts: Sequence[Release], batch: int, batches: int) -> list[AreaReleases]:
    """Every n-th tract with its blocks."""
    inside: dict[str, list[Release]] = {}
    for block in blocks:
        inside.setdefault(block.block[:TRACT_DIGITS], []).append(block)
    part = [(tract, inside.get(tract.block, [])) for tract in tracts[batch::batches]]
    for tract, here in part:
        if not here:
            raise DataError(f"tract {tract.block} has no blocks among the counts; give them, or leave the tract out")
    return [make_levels(here, [Area("tract", tract, tuple(range(len(here))))]) for tract, here in part]


# The stored proofs about tracts: checked again from files, and in words.


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
        _compare(whole, pd.read_parquet(whole), [_whole_tract(levels, one, shown) for levels, one in opened])
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


def _whole_tract(levels: AreaReleases, certificate: Line, areas: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
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
