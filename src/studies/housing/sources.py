"""Where households and statistics come from: drawn, or files of users (HUD's Picture, Summary File 1, a survey)."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from genverify.model.domain import DomainFile
from genverify.model.errors import ConfigError, DataError
from genverify.model.files import FileLimits, read_json, read_yaml
from genverify.model.tablefiles import CsvFile, Expected, need_columns, open_csv, refuse_row
from genverify.model.work import derive_seed
from genverify.run.config import Config, section
from studies.country.settings import Microdata
from studies.country.sources import open_source
from studies.country.store import GEOGRAPHY
from studies.housing.households import (
    ANY,
    LARGEST,
    NEEDED,
    Conditionals,
    Distribution,
    PropertyModel,
    chosen_blocks,
    property_households,
    read_conditionals,
    read_properties,
    read_states,
    units_of_states,
)
from studies.housing.settings import Condition, Housing
from studies.housing.statistics import (
    BEDROOM_NAMES,
    CENSUS,
    HUD_COUNTS,
    RACE_NAMES,
    RACES,
    ROUNDING,
    SIZE_NAMES,
    SLACK,
    check,
    protect,
    require_blocks,
)

# Columns of a user's csv file, a piece at a time, under our names; errors name the file, the row and what to do.

ROWS_AT_ONCE = 100_000  # bounds memory, whatever the size of the file
LIMITS = FileLimits(50_000_000, 64 * 2**30, "keep the rows of the blocks of the study only")
Numbers = npt.NDArray[np.float64]


def read_columns(
    path: Path, columns: Mapping[str, Sequence[str]], setting: str, optional: Collection[str] = ()
) -> Iterator[pd.DataFrame]:
    """The rows as texts, by our names, each column under the first of its names that the file has; the index is the line."""
    file = open_csv(path, Expected("a CSV file", f"see {setting} in config/housing.yaml", LIMITS))
    wanted = {**columns, **{name: [name] for name in optional if name in file.names}}
    found = {_first(names, file): ours for ours, names in wanted.items()}
    for piece in file.pieces(found, ROWS_AT_ONCE):
        yield piece.rename(columns=found)


def _first(names: Sequence[str], file: CsvFile) -> str:
    known = [name for name in names if name in file.names]
    if not known:
        need_columns(file.path, file.names, [names[0]], names[1:])
    return known[0]


def numbers(rows: pd.DataFrame, name: str, path: Path, missing: Collection[str] = ()) -> Numbers:
    """The numbers of a column, 0 or more; NaN where one of the texts in `missing` stands instead."""
    texts = rows[name].str.strip()
    gone = texts.isin(list(missing))
    values = pd.to_numeric(texts.where(~gone), errors="coerce")
    wrong = (~gone & ~(values >= 0)) | np.isinf(values)
    refuse_row(path, rows[name], wrong, "is not a number of 0 or more. Correct the row.")
    return values.to_numpy(dtype=np.float64)


def whole_numbers(rows: pd.DataFrame, name: str, path: Path) -> npt.NDArray[np.int64]:
    """The numbers of a column, whole and 0 or more."""
    values = numbers(rows, name, path)
    refuse_row(path, rows[name], values != np.rint(values), "is not a whole number. Correct the row.")
    return values.astype(np.int64)


def check_blocks(rows: pd.DataFrame, path: Path) -> None:
    """Every block id is 15 digits."""
    width = GEOGRAPHY["block"]
    wrong = ~rows["block"].str.fullmatch(f"[0-9]{{{width}}}")
    problem = f"is not {width} digits. Give state, county, tract and block, with leading zeros."
    refuse_row(path, rows["block"], wrong, problem)


# Block counts of the census from a user's file of Summary File 1; which columns is stated in data/housing/sf1.yaml.

SF1_SETTING = "housing.sf1"
IN_HOUSEHOLDS = "IN_HOUSEHOLDS"
"""Persons who live in households; where there are fewer than P, the block has group quarters."""


def read_sf1(path: Path, columns: Mapping[str, Any], blocks: Collection[str]) -> pd.DataFrame:
    """The census counts of the blocks that are named, sorted, and the persons in households; the file is read in pieces."""
    wanted, parts = set(blocks), []
    for rows in read_columns(path, columns["columns"], SF1_SETTING):
        rows = rows.assign(block=rows["block"].str.strip())
        check_blocks(rows, path)
        own = rows[rows["block"].isin(wanted)]
        numbers = {name: whole_numbers(own, name, path) for name in [*CENSUS, IN_HOUSEHOLDS]}
        parts.append(pd.DataFrame({"block": own["block"], **numbers}, index=own.index))
    if not parts:
        raise DataError(f"{path}: the header is there but no rows follow; see {SF1_SETTING} in config/housing.yaml")
    found = pd.concat(parts)
    _check(found, path)
    return found.sort_values("block", ignore_index=True)


def _check(counts: pd.DataFrame, path: Path) -> None:
    """No block twice, and no part larger than its whole; households of unknown size are the attacker's to guess."""
    wholes = {
        "households by size": (counts[SIZE_NAMES].sum(axis=1), "N"),
        "households by race and origin": (counts[RACE_NAMES].sum(axis=1), "N"),
        "persons in households": (counts[IN_HOUSEHOLDS], "P"),
        "persons under 18": (counts["CHILDREN"], IN_HOUSEHOLDS),
    }
    for what, (part, whole) in wholes.items():
        wrong = part > counts[whole]
        if wrong.any():
            row = wrong.index[int(np.argmax(wrong))]
            raise DataError(
                f"{path}, row {row}: block {counts['block'][row]} has {part[row]} {what}, more than {whole} = "
                f"{counts[whole][row]}. Correct the row, or leave the block out."
            )
    twice = counts.index[counts["block"].duplicated()]
    if len(twice):
        raise DataError(f"{path}, row {twice[0]}: block {counts['block'][twice[0]]} is duplicated. Keep one row.")


# HUD's Picture of Subsidized Households, property level, from a user's file with block ids, linked to the census (appendix
# D).
#
# Which columns, codes and programs is stated in data/housing/picture.yaml. Properties are left out, and counted by reason:
# of another program, without a block id, with suppressed or missing figures (but bedrooms that are not reported count as
# none, as in appendix E). Properties of one block are added up: a percentage becomes that of all their households or units,
# rounded again, so that it may be 1 off. Then blocks are left out: with group quarters, or where HUD counts more
# households, or more persons, than the census.

SETTING = "housing.picture"
NO_BLOCK, OTHER = "property without a block id", "property of another program"
SUPPRESSED = "property with suppressed figures"
GROUP_QUARTERS, MORE_HOUSEHOLDS = "block with group quarters", "block with more households in HUD's file than in the census"
MORE_PERSONS = "block with more persons in HUD's file than in the census"


@dataclass
class ExclusionCounts:
    """How many properties and blocks were left out by reason, and what the programs were called that were left out."""

    reasons: Counter[str] = field(default_factory=Counter)
    programs: Counter[str] = field(default_factory=Counter)

    def listed(self) -> dict[str, int]:
        """How many by reason, in the order of appendix D; none is a number too."""
        order = (OTHER, NO_BLOCK, SUPPRESSED, GROUP_QUARTERS, MORE_HOUSEHOLDS, MORE_PERSONS)
        return {reason: self.reasons[reason] for reason in order}


def read_picture(
    path: Path, columns: Mapping[str, Any], published: Mapping[str, Any], excluded: ExclusionCounts
) -> pd.DataFrame:
    """The statistics of the properties of each block, sorted by block."""
    lines = published["percentages"]
    parts = [_properties(rows, path, columns, lines, excluded) for rows in read_columns(path, columns["columns"], SETTING)]
    found = pd.concat(parts) if parts else pd.DataFrame()
    if found.empty:
        raise DataError(
            f"{path}: no property is left ({dict(excluded.reasons) or 'the file has no rows'}). Check the programs in "
            f"data/housing/picture.yaml against those of the file: {', '.join(sorted(excluded.programs)) or 'none'}."
        )
    return _add_up(found, lines)


def _properties(
    rows: pd.DataFrame, path: Path, columns: Mapping[str, Any], lines: Mapping[str, Any], excluded: ExclusionCounts
) -> pd.DataFrame:
    """The properties that are kept, as numbers."""
    known = {name.casefold() for name in columns["programs"]}
    program, rows = rows["program"].str.strip(), rows.assign(block=rows["block"].str.strip())
    other, homeless = ~program.str.casefold().isin(known), rows["block"].isin(["", "NA"])
    excluded.programs.update(program[other])
    excluded.reasons.update({OTHER: int(other.sum()), NO_BLOCK: int((homeless & ~other).sum())})
    rows = rows[~other & ~homeless]
    check_blocks(rows, path)
    values = {name: numbers(rows, name, path, columns["missing"]) for name in (*HUD_COUNTS, *lines)}
    frame = pd.DataFrame(values, index=rows.index).assign(block=rows["block"])
    _check_bedrooms(frame, path)
    frame[BEDROOM_NAMES] = frame[BEDROOM_NAMES].fillna(0)
    whole = frame.notna().all(axis=1) & (frame["HUD_N"] > 0)
    excluded.reasons.update({SUPPRESSED: int((~whole).sum())})
    for name in lines:
        wrong = frame.index[whole & (frame[name] > 100)]
        if len(wrong):
            value = f"{name} = {frame[name][wrong[0]]:g}"
            raise DataError(f"{path}, row {wrong[0]}: {value} is not a percentage. Correct the row.")
    return frame[whole]


def _check_bedrooms(frame: pd.DataFrame, path: Path) -> None:
    """Where all three percentages are reported they add up to 100, but for rounding."""
    total = frame[BEDROOM_NAMES].sum(axis=1, skipna=False)
    wrong = frame.index[((total - 100).abs() > ROUNDING) & (total > 0)]
    if len(wrong):
        parts = " + ".join(f"{frame[name][wrong[0]]:g}" for name in BEDROOM_NAMES)
        raise DataError(
            f"{path}, row {wrong[0]}: units by bedrooms ({parts} percent) add up to {total[wrong[0]]:g}, not to 100. "
            "Correct the row, or write -1 for what is not known."
        )


def _add_up(properties: pd.DataFrame, lines: Mapping[str, Any]) -> pd.DataFrame:
    """One row per block: sums, and percentages of the sums."""
    weighted = {name: properties[name] * properties[line["of"]] for name, line in lines.items()}
    sums = properties.assign(**weighted).groupby("block").sum()
    rounded = {name: np.floor(sums[name] / sums[line["of"]].clip(lower=1) + 0.5) for name, line in lines.items()}
    # a mean of rounded percentages, rounded again, may be off by one
    several = (properties.groupby("block").size() > 1).astype(np.int64)
    found = sums.assign(**rounded, **{SLACK: several})[[*HUD_COUNTS, *lines, SLACK]]
    return found.round().astype(np.int64).reset_index()


def link(picture: pd.DataFrame, census: pd.DataFrame, excluded: ExclusionCounts, where: str) -> pd.DataFrame:
    """Both releases about every block that is kept, without the exclusions of appendix D."""
    require_blocks(census, picture, where)
    joined = census.merge(picture, on="block", how="inner").sort_values("block", ignore_index=True)
    wholes = {GROUP_QUARTERS: ("P", IN_HOUSEHOLDS), MORE_HOUSEHOLDS: ("HUD_N", "N"), MORE_PERSONS: ("HUD_P", "P")}
    for reason, (part, whole) in wholes.items():
        left_out = joined[part] > joined[whole]
        excluded.reasons[reason] += int(left_out.sum())
        joined = joined[~left_out]
    if joined.empty:
        raise DataError(f"{where}: no block is left after the exclusions of appendix D: {dict(excluded.reasons)}.")
    found = joined.drop(columns=IN_HOUSEHOLDS).reset_index(drop=True)
    check(found, where, whole_bedrooms=False)
    hud = [name for name in found if name not in ("block", *CENSUS)]
    return found[["block", *CENSUS, *hud]]


def read_releases(
    picture: Path, sf1: Path, columns: Mapping[str, Any], published: Mapping[str, Any]
) -> tuple[pd.DataFrame, ExclusionCounts]:
    """Both files of a user, linked; `columns` holds what data/housing/picture.yaml and sf1.yaml say."""
    excluded = ExclusionCounts()
    properties = read_picture(picture, columns["picture"], published, excluded)
    census = read_sf1(sf1, columns["sf1"], properties["block"])
    return link(properties, census, excluded, f"{picture.name} and {sf1.name}"), excluded


# Conditional distributions of sizes and children from a user's sample of households (the paper: 2010 PUMS).
#
# A csv file with a row per household and the columns
#   SIZE      persons of the household, 1 or more
#   CHILDREN  persons under 18 among them
#   RACE      race and origin of the householder, 1 to 14 as in data/housing/domain.yaml
#   WEIGHT    optional: how many households the row stands for (default 1)
# The 2010 PUMS file itself is one of fixed columns, with a row per person below that of its household: count the persons
# under 18 of each household first. Rows of vacant units (SIZE 0) are passed over, and so are households without an adult.

COLUMNS = {"SIZE": ["SIZE"], "CHILDREN": ["CHILDREN"], "RACE": ["RACE"]}
PUMS_SETTING = "housing.pums"


def read_pums(path: Path, another_child: float) -> Conditionals:
    """The empirical distributions, by race and origin of the householder, and over all of them."""
    counts: Counter[tuple[int, int, int]] = Counter()
    for rows in read_columns(path, COLUMNS, PUMS_SETTING, ["WEIGHT"]):
        counts.update(_count(rows, path))
    if not counts:
        raise DataError(f"{path}: holds no household; see {PUMS_SETTING} in config/housing.yaml")
    sizes: dict[tuple[int, int], Counter[int]] = {}
    children: dict[tuple[int, int], Counter[int]] = {}
    for (size, minors, race), weight in counts.items():
        for group in (race, ANY):
            if size >= LARGEST:
                sizes.setdefault((group, int(minors > 0)), Counter())[size] += weight
            if minors:
                children.setdefault((group, size), Counter())[minors] += weight
    of_sizes, of_children = ({key: Distribution.of(found) for key, found in table.items()} for table in (sizes, children))
    return Conditionals("RACE", {race: race for race in range(1, RACES + 1)}, of_sizes, of_children, another_child)


def _count(rows: pd.DataFrame, path: Path) -> Counter[tuple[int, int, int]]:
    """How many households there are of each size, number of children and race."""
    frame = pd.DataFrame({name: whole_numbers(rows, name, path) for name in rows.columns}, index=rows.index)
    if "WEIGHT" not in frame:
        frame["WEIGHT"] = 1
    frame = frame[frame["SIZE"] > 0]
    wrong = (frame["CHILDREN"] > frame["SIZE"]) | ~frame["RACE"].between(1, RACES)
    if wrong.any():
        row = wrong.index[int(wrong.argmax())]
        values = ", ".join(f"{name}={frame[name][row]}" for name in COLUMNS)
        raise DataError(
            f"{path}, row {row}: {values}: at most SIZE persons are under 18, and RACE is a number from 1 to {RACES}. "
            "Correct it."
        )
    kept = frame[(frame["CHILDREN"] < frame["SIZE"]) & (frame["WEIGHT"] > 0)]
    found = kept.groupby(["SIZE", "CHILDREN", "RACE"], as_index=False)["WEIGHT"].sum()
    return Counter({(size, minors, race): weight for size, minors, race, weight in found.to_numpy().tolist()})


# Draw the private households of the housing study: the source of the units, and what is assumed about the rest.


def read_assumptions(
    simulation: Path, occupancy: Mapping[int, int], alpha: float, smallest: int, pums: Path | None
) -> tuple[Conditionals, PropertyModel]:
    """What is assumed about households and about properties; a user's PUMS file takes the place of the first."""
    text, where = read_yaml(simulation), str(simulation)
    households = read_conditionals(text.get("households", {}), f"{where}: households")
    if pums:
        households = read_pums(pums, households.another_child)
    return households, read_properties(text.get("properties", {}), occupancy, alpha, smallest, f"{where}: properties")


def open_units(
    microdata: Microdata, households: int, store: Path, seed: int, domain_file: DomainFile
) -> tuple[str | None, Iterator[pa.Table]]:
    """The units of the country, a table per state: of the store, or of a synthetic country of a given size and label."""
    if microdata.source != "synthetic":
        return None, units_of_states(store, NEEDED)
    larger = microdata.but(synthetic=microdata.synthetic.but(households=households))
    return open_source(larger, derive_seed(seed, "housing"), domain_file, Counter())


# What is published about the blocks of properties under a condition: simulated statistics, or the files of a user.

FILES = "files of a user"


def check_settings(config: Config) -> None:
    """Two files of the user, or none."""
    housing = section(config, Housing)
    if bool(housing.picture) != bool(housing.sf1):
        raise ConfigError("config.yaml: housing.picture and housing.sf1 describe the same blocks: give both files, or none")


def publish_simulated(
    files: list[str], condition: Condition, smallest: int, published: Mapping[str, Any], budget: Path | None, seed: int
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The statistics of simulated households (file, manifest), and a manifest of them."""
    households, manifest = map(Path, files)
    statistics = protect(read_states(households), condition, smallest, published, budget, seed)
    properties = pd.concat([property_households(own)["block"] for own in read_states(households)])
    statistics = statistics[statistics["block"].isin(chosen_blocks(properties, condition.blocks))].reset_index(drop=True)
    text = read_json(manifest)
    return statistics, {"label": text["label"], "source": text["source"], "blocks": len(statistics)}


def publish_files(files: list[str], published: Mapping[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The statistics of a user's files (Picture, Summary File 1, and their columns), and what was left out of them."""
    picture, sf1, *columns = map(Path, files)
    named = dict(zip(("picture", "sf1"), map(read_yaml, columns), strict=True))
    statistics, excluded = read_releases(picture, sf1, named, published)
    label = f"{picture.name} and {sf1.name}"
    return statistics, {"label": label, "source": FILES, "blocks": len(statistics), "left_out": excluded.listed()}
