"""The audit of a release of records or their counts: verified claims of every area, ranges of all cells, with proofs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import pandas as pd

from genverify.attack.evaluate import check_against_microdata
from genverify.attack.verify import VerifiedBlock
from genverify.checker.certificate import write_proofs
from genverify.checker.record_proofs import check_block
from genverify.disclosure.audit_value import MOST_SHOWN, PRINTED, RECORD, Audit
from genverify.disclosure.record_attack import (
    UNDECIDED,
    Attack,
    all_claims,
    bounded_cells,
    cell_certificate,
    cells_in_proofs,
    count_people,
    singled_out,
)
from genverify.disclosure.release_data import SIZES, ReleaseDescription
from genverify.disclosure.suppression import left_without, search_cells
from genverify.model.errors import DataError
from genverify.model.release import TOTAL, Release, ranges_frame, write_schema
from genverify.model.tablefiles import neutral_frame, write_frame
from genverify.model.work import progress

# not *.jsonl.gz: `genverify check` and `export` on a folder of results take the proofs of claims, then those of cells
CLAIM_PROOFS, CELL_PROOFS = "proofs/000.jsonl.gz", "cells.proofs.gz"


@dataclass(frozen=True, kw_only=True, repr=False)
class RecordsAudit(Audit):
    """What a release of records gives away: `verified` has the claims of every area, `bounds` what is proved of cells."""

    unclear_words: ClassVar[str] = "counts that are not printed exactly"
    described: ReleaseDescription
    attack: Attack
    verified: tuple[VerifiedBlock, ...]
    bounded: tuple[Mapping[str, Any], ...]
    bounds: tuple[Mapping[str, Any], ...]

    @property
    def statements(self) -> Sequence[Mapping[str, Any]]:
        return self.bounds

    @cached_property
    def rows(self) -> list[Mapping[str, Any]]:
        numbers = defaultdict[tuple[str, str], list[str]](list)
        for number, one in enumerate(self.bounds):
            numbers[one["area"], one["cell"]].append(str(number))
        used, result = cells_in_proofs(self.described.releases, self.proofs), list[Mapping[str, Any]]()
        for row in self.bounded:
            key, printed = (row["area"], row["cell"]), "printed" if row["what"] == PRINTED else ""
            claims = "" if row["what"] == RECORD else used.get(key, 0)
            result.append({**row, "proof": " ".join(numbers[key]) or printed, "claims": claims})
        return result

    @property
    def proofs(self) -> tuple[dict[str, Any], ...]:
        """The certificate of each area."""
        return tuple(one.certificate for one in self.verified)

    @cached_property
    def claims(self) -> pd.DataFrame:
        """The verified claims; where records are given, each is counted in them."""
        result = all_claims(self.verified)
        if self.described.records is not None:
            check_against_microdata(result, self.described.records)
        return result

    @property
    def singles(self) -> pd.DataFrame:
        return self.claims[self.claims["m"] == 1]

    @cached_property
    def people(self) -> pd.DataFrame:
        return count_people(self.claims, self.described.records, self.described.schema.domain.names)

    @property
    def undecided_claims(self) -> int:
        return sum(sum(one.counts(verdict).values()) for one in self.verified for verdict in UNDECIDED)

    @property
    def riskiest(self) -> list[Mapping[str, Any]]:
        """Published cells with the number of proofs of singleton claims that use them, most used first."""
        cells = [row for row in self.rows if row["claims"] and row["table"] != SIZES]
        return sorted(cells, key=lambda row: (-row["claims"], row["area"], row["cell"]))

    @property
    def unsafe(self) -> int:
        return len(self.singles) if self.fail_on.singled_out else len(self.unsafe_cells)

    def _narrow(self, row: Mapping[str, Any]) -> bool:
        return not self.fail_on.singled_out and super()._narrow(row)  # claims single out, and no cells

    @property
    def partial(self) -> bool:
        return super().partial or (self.fail_on.singled_out and self.undecided_claims > 0)

    @property
    def numbers(self) -> dict[str, Any]:
        search = self.suppression
        about = {"searched": search.before, "left": search.left, "undecided": search.undecided} if search else {}
        known, names = self.described.records is not None, self.described.schema.domain.names
        return {
            "people": self.described.people, "areas": len(self.described.releases), "claims": len(self.claims),
            "undecided_claims": self.undecided_claims, "singleton_claims": {"all": len(self.singles), **about},
            "people_singled_out": singled_out(self.singles, self.described.records, names), "people_are_counted": known,
            "by_columns": [row for row in self.people.to_dict("records") if row["claims"]],
            **({"k": search.k} if search else {}),
        }  # fmt: skip

    def verdict(self) -> Iterator[str]:
        one, many = self.described.form.unit
        claims = f"{len(self.claims)} verified claims, {len(self.singles)} about exactly one {one}"
        yield f"{self.described.people} {many}, {claims}."
        if self.undecided_claims:
            yield f"{self.undecided_claims} candidate claims are undecided (a limit was reached) and not reported."

    def why(self, row: Mapping[str, Any]) -> list[str]:
        """The published cells that its proofs add up, the number of people among them."""
        named: dict[str, None] = {}
        open_ = [self.bounds[int(number)]["proof"] for number in str(row["proof"]).split() if number.isdecimal()]
        while open_:
            node = open_.pop(0)
            named |= dict.fromkeys(node.get("y", {}))
            open_ += [node[side] for side in ("below", "above") if side in node]
        area = row["area"]
        printed = {TOTAL: next(str(release.n) for release in self.described.releases if release.block == area)}
        printed |= {own["cell"]: own["published"] for own in self.bounded if own["area"] == area and own["cell"] in named}
        cells = [f"{self.name(area, cell)} = {printed.get(cell, '')}" for cell in named]
        return [*cells[:MOST_SHOWN], *([f"and {len(cells) - MOST_SHOWN} more"] if len(cells) > MOST_SHOWN else [])]

    def suppress(self, seconds: float | None = None) -> Self:
        how = self.described.form.search
        chosen = search_cells(self.verified, self.attack, how.k, how.cells, how.seconds if seconds is None else seconds)
        return replace(self, suppression=chosen)

    def protection(self) -> str:
        chosen, one = self.suppression, self.described.form.unit[0]
        if chosen is None:
            return ""
        of = f"of the {chosen.before} claims about exactly one {one} that name {chosen.k} or more columns"
        open_ = f", {chosen.undecided} are undecided" if chosen.undecided else ""
        return f"{chosen.left or 'none'} {of} can be verified{open_}"

    # proofs and what they are about

    def write_proofs(self, folder: Path) -> None:
        """Proofs of claims by area, the release that they are about, proofs of cells; claims, where they may be shown."""
        for part in ("release", "proofs"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        write_schema(self.described.schema, folder / "release" / "schema.json")
        write_frame(ranges_frame(self.described.releases), folder / "release", "000")
        write_proofs(self.proofs, folder / CLAIM_PROOFS)
        write_proofs((self._cell_proofs(one) for one in self.verified), folder / CELL_PROOFS)
        frame, by = self.claims.copy(), ["k", "effective_k", "about_one"]
        if self.described.form.show_claims:  # with the texts of the user's file in place of codes; empty: any value
            write_frame(frame, folder, "claims")
            for name, coding in self.described.codings.by_name.items():
                texts = dict(zip(coding.column.codes, coding.texts, strict=True))
                frame[name] = [texts[int(code)] if pd.notna(code) else "" for code in frame[name]]
            frame = frame.rename(columns={"block": "area"})
        elif len(frame):  # how many there are, and of which no one is listed
            frame = frame.assign(about_one=frame["m"] == 1).groupby(by).size().rename("claims").reset_index()
        else:
            frame = pd.DataFrame(columns=[*by, "claims"])
        neutral_frame(frame).to_csv(folder / "claims.csv", index=False)

    def _cell_proofs(self, one: VerifiedBlock) -> dict[str, Any]:
        release = one.program.release
        part = [bound for bound in self.bounds if bound["area"] == release.block]
        return cell_certificate(release, one.certificate["lemmas"], part)

    def check_proofs(self) -> None:
        check_area_proofs(self.described.releases, self.proofs, [self._cell_proofs(one) for one in self.verified])

    def proved(self) -> str:
        proofs, areas = sum(len(one["proofs"]) for one in self.proofs), len(self.described.releases)
        cells = len({(one["area"], one["cell"]) for one in self.bounds})
        return f"{areas} areas, {len(self.claims)} claims, {proofs} proofs, intervals of {cells} cells: all proofs right"

    def search_again(self, seconds: float) -> str:
        if (search := self.suppression) is None:
            return "searched again: all claims and intervals"
        left = left_without(self.verified, self.attack, search.k, search.steps)
        if left != (search.before, search.left, search.undecided):
            raise DataError("the proposed suppressions leave claims other than those of the results; make them again")
        stored = "not recomputed: how many claims each single step leaves, and that no smaller set would do"
        return f"searched again: all claims and intervals, and what the proposed suppressions leave; {stored}"


def check_area_proofs(
    releases: Sequence[Release], claims: Sequence[Mapping[str, Any]], cells: Sequence[Mapping[str, Any]]
) -> None:
    """Check the claims and the bounds of cells of every area without a solver."""
    for release, *certificates in zip(releases, claims, cells, strict=True):
        for certificate in certificates:
            check_block(release, certificate)


def attack_records(described: ReleaseDescription, attack: Attack, **given: Any) -> RecordsAudit:
    """Attack every area, each proof checked, and bound every cell."""
    verified = tuple(attack(release) for release in progress(described.releases, "areas"))
    bounded = [bounded_cells(one.program, attack.settings, described.form.published_as.suppress) for one in verified]
    rows, bounds = (tuple(one for pair in bounded for one in pair[side]) for side in (0, 1))
    undecided = tuple(row["cell"] for row in rows if not row["ends_attained"] and row["what"] != RECORD)
    given |= {"described": described, "attack": attack, "undecided": undecided}
    audit = RecordsAudit(verified=verified, bounded=rows, bounds=bounds, **given)
    assert audit.claims is not None  # counted in the records, before anything is said
    return audit
