"""Synthetic persons of a survey: a network of small tables of counts, estimated from its files, and rows drawn from it."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from scipy.stats import entropy

from genverify.model.arrays import Ints
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from genverify.model.tablefiles import open_csv
from genverify.model.work import derive_seed
from studies.country.surveys import SURVEY
from studies.raprank.study import TASKS

BASE = 5  # counts are randomly rounded to multiples of it: a 5 stands for one to nine persons, a 0 for none to four
LEAST = 50  # persons: the table of a combination of parents that fewer have is not made, the one of the first parent serves
BLANK = -1  # the code of an empty field, which means "not applicable"
FIT_DRAWS, FIT_TRIPLES = 20_000, 300  # persons drawn and triples of columns looked at, to measure the fit
COUNTS, SHAPE, FIT = "counts.csv", "model.yaml", "fit.csv"
KEY = ["column", "first", "second"]


@dataclass(frozen=True)
class SurveyModel:
    """Columns in the order in which they are drawn with up to two parents each, bands of numbers, and counts by parents."""

    parents: Mapping[str, tuple[str, ...]]
    bands: Mapping[str, Sequence[int]]
    counts: pd.DataFrame  # KEY (the codes of the parents, BLANK - 1 for none), code, persons
    sample: int


def read_persons(paths: Sequence[Path], tasks: Mapping[str, Any]) -> pd.DataFrame:
    """The columns of all tasks as codes: whole numbers as they stand, numerical columns as the first value of their band."""
    names = list(dict.fromkeys(name for task in tasks["tasks"].values() for name in task["columns"]))
    without = [name for name in tasks["numerical"] if name not in tasks["bands"]]
    if without:
        raise DataError(f"the tasks file has no bands of {without[0]}: list the first value of each band under `bands`")
    frame = pd.concat({path: open_csv(path, SURVEY).frame(names, texts=[]).reset_index(drop=True) for path in paths})
    for name in names:
        numbers = pd.to_numeric(frame[name], errors="coerce")
        wrong = frame.index[numbers.isna() & frame[name].notna()]
        if len(wrong):
            path, row = wrong[0]
            raise DataError(f"{path}: {name} of person {row + 1} is {frame[name][path, row]!r}, not a number")
        if name in tasks["bands"]:
            starts = np.asarray(tasks["bands"][name][:-1])
            at = np.clip(np.searchsorted(starts, numbers, side="right") - 1, 0, None)
            numbers = pd.Series(starts[at], numbers.index).where(numbers.notna())
        frame[name] = numbers.fillna(BLANK).astype(np.int64)
    if len(frame) < LEAST:
        raise DataError(f"{paths[0]}: {len(frame)} persons; a model is estimated from {LEAST} or more")
    return frame.reset_index(drop=True)


def estimate_model(persons: pd.DataFrame, bands: Mapping[str, Sequence[int]], seed: int) -> SurveyModel:
    """Parents chosen one column after the other by what they tell (mutual information less the BIC of their table)."""
    codes = {str(name): np.unique(persons[name], return_inverse=True)[1].ravel() for name in persons}
    parents: dict[str, tuple[str, ...]] = {next(iter(codes)): ()}
    while len(parents) < len(codes):
        left = [name for name in codes if name not in parents]
        sets = [*((p,) for p in parents), *combinations(parents, 2)]
        told = {(name, given): _told(codes[name], [codes[p] for p in given]) for name in left for given in sets}
        name, given = max(told, key=lambda pair: told[pair])
        # the first parent serves alone where the two have too few persons: the one that tells more
        parents[name] = tuple(sorted(given, key=lambda p: -told[name, (p,)]))
    rng = np.random.default_rng(derive_seed(seed, "survey model"))
    tables = [_table(persons, name, given[:ways], rng) for name, given in parents.items() for ways in range(len(given) + 1)]
    return SurveyModel(parents, bands, pd.concat(tables, ignore_index=True), len(persons))


def _told(code: Ints, given: Sequence[Ints]) -> float:
    """The mutual information of a column and its parents in nats a person, less half log n for every free cell in use."""
    config = np.unique(np.stack(given, axis=1), axis=0, return_inverse=True)[1].ravel()
    parts = [np.unique(part, return_counts=True)[1] for part in (code, config, config * (code.max() + 1) + code)]
    own, of_parents, both = (float(entropy(part)) for part in parts)
    penalty = (len(parts[2]) - len(parts[1])) * float(np.log(len(code))) / 2 / len(code)
    return own + of_parents - both - penalty


def _table(persons: pd.DataFrame, name: str, given: tuple[str, ...], rng: np.random.Generator) -> pd.DataFrame:
    """The counts of a column for every combination of its parents that enough persons have, randomly rounded."""
    keys = {word: persons[given[i]] if i < len(given) else BLANK - 1 for i, word in enumerate(KEY[1:])}
    frame = pd.DataFrame({"column": name, **keys, "code": persons[name]}, index=persons.index)
    counts = frame.value_counts(sort=False).rename("persons").reset_index().sort_values([*KEY, "code"], ignore_index=True)
    enough = counts.groupby(KEY)["persons"].transform("sum") >= LEAST
    counts = counts[enough | (len(given) == 0)]
    rest = counts["persons"] % BASE
    up = rng.random(len(counts)) * BASE < rest
    # no code may vanish, or the domain would be another one: the cell that has most of its persons is rounded up
    most = counts.groupby("code")["persons"].idxmax()
    up[counts.index.isin(most) & (counts["persons"] < BASE)] = True
    return counts.assign(persons=counts["persons"] - rest + BASE * up).query("persons > 0")


def draw_codes(model: SurveyModel, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Persons as codes and bands: each column from the finest table that the parents of a person have."""
    tables = {key: (part["code"].to_numpy(), part["persons"].to_numpy()) for key, part in model.counts.groupby(KEY)}
    none = BLANK - 1
    drawn = pd.DataFrame(index=range(n))
    for name, given in model.parents.items():
        keys = [drawn[p].to_numpy() for p in given] + [np.full(n, none)] * (2 - len(given))
        codes = np.empty(n, np.int64)
        groups: dict[Any, Any] = pd.DataFrame(dict(zip(KEY[1:], keys, strict=True))).groupby(KEY[1:]).indices
        for (first, second), rows in groups.items():
            choices = [(name, first, second), (name, first, none), (name, none, none)]
            known, times = next(tables[key] for key in choices if key in tables)
            codes[rows] = rng.choice(known, len(rows), p=times / times.sum())
        drawn[name] = codes
    return drawn


def draw_persons(model: SurveyModel, states: Mapping[str, int], seed: int) -> Iterator[pd.DataFrame]:
    """Synthetic persons of each state as a survey file has them: numbers even within their band, empty fields empty."""
    for state, n in sorted(states.items(), key=lambda one: (-one[1], one[0])):  # job records keep no order of settings
        rng = np.random.default_rng(derive_seed(seed, "survey", state))
        drawn = draw_codes(model, n, rng)
        for name, edges in model.bands.items():
            ends = dict(pairwise(edges))
            high = drawn[name].map(ends).to_numpy(dtype=float)
            inside = drawn[name] + (rng.random(n) * (high - drawn[name])).astype(float)
            drawn[name] = np.floor(inside).where(drawn[name] != BLANK, BLANK)
        yield drawn.astype("Int64").replace(BLANK, pd.NA).assign(ST=int(state))


def fit_of(model: SurveyModel, persons: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Total variation between drawn persons and the sample over margins of two and three columns, two halves beside it."""
    rng = np.random.default_rng(derive_seed(seed, "survey fit"))
    drawn = draw_codes(model, FIT_DRAWS, rng)
    mixed = persons.iloc[rng.permutation(len(persons))]
    halves = mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]
    rows = []
    for ways in (2, 3):
        every = list(combinations(persons.columns, ways))
        sets = [every[i] for i in np.sort(rng.permutation(len(every))[:FIT_TRIPLES])]
        far = {"model": [_apart(drawn, persons, s) for s in sets], "half of the sample": [_apart(*halves, s) for s in sets]}
        for word, values in far.items():
            row = {"ways": ways, "against the sample": word, "margins": len(sets), "persons": len(persons)}
            rows.append(row | {"mean": np.mean(values), "median": np.median(values), "largest": np.max(values)})
    return pd.DataFrame(rows).round(4)


def _apart(ours: pd.DataFrame, theirs: pd.DataFrame, columns: Sequence[str]) -> float:
    shares = [part.value_counts(normalize=True, subset=list(columns)) for part in (ours, theirs)]
    return float(shares[0].sub(shares[1], fill_value=0).abs().sum() / 2)


def write_model(model: SurveyModel, folder: Path, source: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shape = {"source": source, "persons": model.sample, "rounded_to": BASE, "least": LEAST}
    shape |= {"parents": {name: list(given) for name, given in model.parents.items()}}
    shape |= {"bands": {name: list(edges) for name, edges in model.bands.items()}}
    (folder / SHAPE).write_text(yaml.safe_dump(shape, sort_keys=False, default_flow_style=None, width=125))
    model.counts.to_csv(folder / COUNTS, index=False)


def read_model(folder: Path) -> SurveyModel:
    shape, counts = read_yaml(folder / SHAPE), pd.read_csv(folder / COUNTS)
    parents = {name: tuple(given) for name, given in shape["parents"].items()}
    missing = sorted(set(parents) - set(counts["column"]))
    if missing or (counts["persons"] <= 0).any():
        raise DataError(
            f"{folder / COUNTS}: no counts above 0 of {missing[0] if missing else 'some row'}; estimate it again"
        )
    return SurveyModel(parents, shape["bands"], counts, shape["persons"])


def add_parser(commands: Any) -> None:
    command = commands.add_parser("estimate-persons")
    command.add_argument("files", type=Path, nargs="+", help="person files (csv, as ACS PUMS)")
    command.add_argument("--tasks", type=Path, default=TASKS, help="columns and bands (%(default)s)")
    command.add_argument("--source", default="", help="what the files are, in a few words (their names)")
    command.add_argument("--seed", type=int, default=1, help="of the random rounding (%(default)s)")
    command.add_argument("--out", type=Path, required=True, help="folder of the model; raprank.survey.model names it")
    command.set_defaults(run=_estimate)


def _estimate(options: argparse.Namespace) -> None:
    tasks = read_yaml(options.tasks)
    persons = read_persons(options.files, tasks)
    model = estimate_model(persons, tasks["bands"], options.seed)
    write_model(model, options.out, options.source or ", ".join(path.name for path in options.files))
    fit = fit_of(model, persons, options.seed)
    fit.to_csv(options.out / FIT, index=False)
    print(f"{options.out}: {len(model.counts):,} counts from {model.sample:,} persons; total variation of margins:")
    print(fit.to_string(index=False))
