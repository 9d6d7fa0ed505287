"""Table 1, the person tables by their number of columns, and match rates with the paper's orders."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import multinomial

from genverify.attack.probability import count_release
from genverify.model.arrays import Floats
from genverify.model.domain import Domain, Predicate
from genverify.model.query import Query
from genverify.model.release import Release, Schema, make_release, make_schema
from genverify.model.work import derive_seed
from genverify.report.pages import document, markdown_table
from genverify.solve.counting.prior import Prior, uniform
from genverify.solve.program import build_program
from studies.raprank.areas import count_holders, make_target
from studies.raprank.rank import mean_interval, rank_target, wide
from studies.raprank.settings import Intuition, RapSettings

# The person tables by their number of columns: published lines, distinct ones, and the cells that the paper counts.


def person_queries(lines: Mapping[str, Sequence[Query]], paper: Mapping[str, Any]) -> pd.DataFrame:
    """One row per k and a total: lines, the paper's cells, lines and distinct queries of each level, and why they differ."""
    every = _by_k(query.predicate for queries in lines.values() for query in queries)
    rows = []
    for k in sorted(every.keys() | paper["cells"].keys()):
        row: dict[str, Any] = {"k": str(k), "lines": every[k], "paper": paper["cells"].get(k, 0)}
        row["difference"] = row["lines"] - row["paper"]
        for level, queries in lines.items():
            row[f"{level}_lines"] = _by_k(query.predicate for query in queries)[k]
            row[f"{level}_distinct"] = _by_k({query.predicate for query in queries})[k]
        rows.append({**row, "not_in_paper": _reason(paper["left_out"].get(k), row["difference"])})
    table = pd.DataFrame(rows)
    total = {name: table[name].sum() for name in table.columns if name not in ("k", "not_in_paper")}
    return pd.concat([table, pd.DataFrame([{"k": "total", **total, "not_in_paper": ""}])], ignore_index=True)


def _by_k(predicates: Iterable[Predicate]) -> Counter[int]:
    return Counter(len(predicate.columns) for predicate in predicates)


def _reason(known: Mapping[str, Any] | None, difference: int) -> str:
    if known is not None and known["cells"] == difference:
        return str(known["what"])
    return "" if difference == 0 else "other tables are chosen than the paper's"


def person_queries_text(table: pd.DataFrame) -> str:
    title = "Cells of the person tables by the number of columns k that they speak of"
    return f"# {title}\n\n{markdown_table(list(table), table.to_numpy().tolist())}\n"


# Match rates of every experiment as numbers, and whether the orders that the paper reports are seen.

READ_AT = (0.1, 0.5, 1.0)
PLACES = 4  # after the point, of rates between 0 and 1


def match_rate_table(curves: Mapping[str, pd.DataFrame], drawn: Mapping[str, int], label: str, seed: int) -> pd.DataFrame:
    """The mean match rate of every experiment and source, over the curve (95 % interval) and at some k/u; `drawn`: areas."""
    rows = []
    for experiment, frame in curves.items():
        for source in frame["source"].unique():
            values = wide(frame, source)
            places = np.searchsorted(values.columns.to_numpy(dtype=float), np.array(READ_AT) - 1e-9)
            read = values.mean().iloc[np.minimum(places, values.shape[1] - 1)]
            row: dict[str, Any] = {"experiment": experiment, "source": source, "areas": len(values)}
            row |= {"left_out": drawn[experiment] - len(values)} | overall(values.mean(axis=1), seed, "mean")
            rows.append(row | {f"at {x:g}": float(rate) for x, rate in zip(READ_AT, read, strict=True)})
    return pd.DataFrame(rows).round(PLACES).assign(data=label)


def overall(rates: "pd.Series[float]", seed: int, word: str) -> dict[str, Any]:
    """The mean over areas, named `word`, its 95 % interval, and the number of areas."""
    mean, low, high = (float(part[0]) for part in mean_interval(np.array(rates, np.float64)[:, None], seed))
    return {word: mean, "low": low, "high": high, "areas": len(rates)}


def order_table(
    curves: Mapping[str, pd.DataFrame], orders: Sequence[Mapping[str, str]], label: str, seed: int
) -> pd.DataFrame:
    """Every order of the paper with the mean difference of our curves, its 95 % interval, and whether it is seen."""
    rows = [dict(order) | _compare(curves, order["better"], order["worse"], seed) for order in orders]
    return pd.DataFrame(rows).round(PLACES).assign(data=label)


def _compare(curves: Mapping[str, pd.DataFrame], better: str, worse: str, seed: int) -> dict[str, Any]:
    sides = []
    for experiment, _, source in (better.partition("/"), worse.partition("/")):
        if experiment not in curves or source not in set(curves[experiment]["source"]):
            return {"difference": np.nan, "low": np.nan, "high": np.nan, "areas": 0, "seen": "not run"}
        sides.append(wide(curves[experiment], source).mean(axis=1))
    found = overall((sides[0] - sides[1]).dropna(), seed, "difference")
    decided = "yes" if found["low"] > 0 else "no" if found["high"] < 0 else "undecided"
    return found | {"seen": decided if found["areas"] > 1 else "one area"}


def raprank_text(rates: pd.DataFrame, orders: pd.DataFrame, label: str) -> str:
    lead = (
        "mean: the match rate averaged over the whole curve (k/u from 0 to 1) and over areas, with its 95 % interval (areas "
        "drawn again); at x: the match rate of the k = x u best rows. left_out: areas of one record, which have no halves."
    )
    intro = (
        "Orders that the paper reports. difference: mean over areas of what lies between the two curves; seen: yes or no "
        "where the 95 % interval excludes 0 (of one area there is none)."
    )
    tables = [markdown_table(list(frame.columns[:-1]), frame.iloc[:, :-1].to_numpy(), left=2) for frame in (rates, orders)]
    return document("RAP-RANK: match rates", label, [lead, tables[0], intro, tables[1]])


# RAP-RANK's Table 1: attributes, codes and marginal queries of the tasks of a survey, ours beside the paper's.


def _count_marginals(domain: Domain, ways: int) -> int:
    """How many k-way marginal queries a domain has, without listing them."""
    # a column is left out, or fixed to one of its codes: the coefficients of the product of 1 + codes x
    return int(reduce(np.convolve, [np.array([1, len(column.codes)]) for column in domain.columns])[ways])


def survey_task_table(domains: Mapping[str, Domain], paper: Mapping[str, Mapping[Any, Any]]) -> pd.DataFrame:
    """One row per task and number: ours, the paper's where it has the task, and what is known of the reason they differ."""
    rows = []
    for task, domain in domains.items():
        ours = {"attributes": len(domain.names), "dimension": sum(len(column.codes) for column in domain.columns)}
        ours |= {f"{ways}-way marginals": _count_marginals(domain, ways) for ways in (2, 3)}
        theirs = dict(zip(ours, paper[task].values(), strict=False)) if task in paper else {}
        codes = ", ".join(f"{column.name} {len(column.codes)}" for column in domain.columns)
        for name, value in ours.items():
            fitting = paper.get(task, {}).get("codes") if name == "dimension" else None
            reason = f"ours: {codes}; the paper's three numbers come out with {fitting}" if fitting else ""
            rows.append({"task": task, "number": name, "ours": value, "paper": theirs.get(name), "codes": reason})
    return pd.DataFrame(rows).astype({"paper": "Int64"})


# Section C, "some theoretical intuition": equations 3 and 4 on tiny domains, where every dataset can be listed.


Codes = npt.NDArray[np.int16]
EQUATIONS, FREQUENCY = "equations 3 and 4", "frequency"
MAX_TYPES = 10_000  # bounds memory: the releases here have few


def _tiny_schema(sizes: Sequence[int], tables: Sequence[Sequence[int]]) -> Schema:
    """Columns A, B, ... of the given numbers of codes, and tables that cross some of them."""
    columns = {chr(65 + index): [str(code) for code in range(size)] for index, size in enumerate(sizes)}
    names = list(columns)
    return make_schema(columns, {"x".join(names[c] for c in crossed): [names[c] for c in crossed] for crossed in tables})


def _every_row(schema: Schema) -> Codes:
    return np.array(list(product(*(column.codes for column in schema.domain.columns))), dtype=np.int16)


def equations(schema: Schema, n: int, prior: Prior) -> pd.DataFrame:
    """For every row, the chance of equation 3 (D from the prior, D' from the exact posterior) and that of equation 4."""
    records = _every_row(schema)
    chance = _chances(prior, records)
    answers: Mapping[bytes, list[tuple[float, tuple[int, ...]]]] = defaultdict(list)
    for held in combinations_with_replacement(range(len(records)), n):
        weight = float(multinomial.pmf(np.bincount(held, minlength=len(records)), n, chance))
        answers[_release(schema, records[list(held)]).lo.tobytes()].append((weight, held))
    both, twice = np.zeros(len(records)), np.zeros(len(records))
    for datasets in answers.values():
        release = _release(schema, records[list(datasets[0][1])])
        there = count_release(build_program(release, MAX_TYPES)).posterior(prior).present(records)
        twice += sum(weight for weight, _ in datasets) * there**2
        for weight, held in datasets:
            for row in set(held):
                both[row] += weight * there[row]
    return pd.DataFrame({"part": EQUATIONS, "x": twice, "y": both})


def _chances(prior: Prior, records: Codes) -> Floats:
    table = {tuple(row): weight for row, weight in zip(prior.records.tolist(), prior.weights.tolist(), strict=True)}
    weights = np.array([prior.floor + table.get(tuple(row), 0.0) for row in records.tolist()])
    return np.asarray(weights / weights.sum())


def _release(schema: Schema, records: Codes) -> Release:
    named = dict(zip(schema.domain.names, records.T, strict=True))
    counts = {query.id: int(query.predicate.matches(named).sum()) for query in schema.queries}
    return make_release(schema, "tiny", {"N": len(records), **counts})


def skewed(schema: Schema, seed: int) -> Prior:
    """A prior under which some records are far likelier than others."""
    records = _every_row(schema)
    weights = np.random.default_rng(seed).exponential(size=len(records)) + 0.05
    return Prior("skewed", schema.domain, records, weights, 0.0)


def frequencies(schema: Schema, n: int, number: int, runs: int, seed: int, settings: RapSettings) -> pd.DataFrame:
    """For datasets of the uniform prior: the posterior probability of every row, and the share of RAP's runs with it."""
    records = _every_row(schema)
    rng, frames = np.random.default_rng(derive_seed(seed, "tiny")), []
    for index in range(number):
        release = _release(schema, records[rng.integers(0, len(records), n)])
        result = count_release(build_program(release, MAX_TYPES)).posterior(uniform(schema.domain))
        _, done = rank_target(make_target([release]), ("tiny", str(index)), runs, seed, settings)
        share = count_holders(records.astype(np.int64), done.datasets) / runs
        frames.append(pd.DataFrame({"part": FREQUENCY, "x": result.present(records), "y": share}))
    return pd.concat(frames, ignore_index=True)


def intuition(settings: Intuition, rap: RapSettings, seed: int) -> pd.DataFrame:
    small, large = (_tiny_schema(domain.sizes, domain.tables) for domain in (settings.equations, settings.frequency))
    same = equations(small, settings.equations.records, skewed(small, derive_seed(seed, "skewed")))
    often = frequencies(large, settings.frequency.records, settings.datasets, settings.runs, seed, rap)
    return pd.concat([same, often], ignore_index=True)
