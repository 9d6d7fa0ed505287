"""Priors of a release file: tables of weights in the user's own texts, and what becomes of them when codes are merged."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.attack.likely import WEIGHT, prior_of
from genverify.core.csvfile import need_columns
from genverify.core.domain import Domain
from genverify.core.errors import DataError
from genverify.disclosure.codes import Coding, Codings, Texts, encode, prepared, read_texts
from genverify.disclosure.form import ColumnForm, ReleaseForm, prior_files
from genverify.solve.counting.prior import Prior


def read_priors(path: Path, form: ReleaseForm, codings: Codings) -> tuple[Prior, ...]:
    """The priors that a release file names: each a table with the columns of the release and `weight`."""
    domain = Domain(tuple(found.column for found in codings.by_name.values()))
    if form.priors and WEIGHT in domain.names:
        raise DataError(f"column {WEIGHT!r} of the release would be taken for the weights of a prior; rename it")
    files = zip(form.priors.items(), prior_files(path), strict=True)
    return tuple(_read(name, one.floor, file, form, codings, domain) for (name, one), file in files)


def _read(name: str, floor: float, file: Path, form: ReleaseForm, codings: Codings, domain: Domain) -> Prior:
    texts = read_texts(file, form.limits)
    need_columns(file, texts.columns, [*domain.names, WEIGHT])
    table = pd.DataFrame({c: _codes(texts[c], codings[c], form.columns.get(c), file) for c in domain.names})
    table[WEIGHT] = pd.to_numeric(texts[WEIGHT], errors="coerce").to_numpy()
    wrong = texts[WEIGHT][~(np.isfinite(table[WEIGHT]) & (table[WEIGHT] >= 0)).to_numpy()]
    if len(wrong):
        raise DataError(f"{file}: line {wrong.index[0]}: weight {wrong.iloc[0]!r} is not a number from 0 on")
    return prior_of(table, domain, name, floor)


def _codes(
    values: Texts, coding: Coding, form: ColumnForm | None, file: Path
) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Codes of a column, which may hold the texts of the release or, where it bins numbers, the numbers."""
    known = values.isin(coding.texts).all()
    return encode(values if known else prepared(values, form or ColumnForm(), file), coding, file)


def merged(prior: Prior, domain: Domain, column: str, code: Mapping[int, int]) -> Prior:
    """
    The prior in the codes of a coarser column: weights that fall together add up, also those of records that the table does
    not list, where it lists others that fall together with them. The floor is that of each coarser record.
    """
    place = domain.names.index(column)
    records = prior.records.copy()
    records[:, place] = [code[one] for one in records[:, place].tolist()]
    rows, where = np.unique(records, axis=0, return_inverse=True)
    weights = np.bincount(where.ravel(), prior.weights, minlength=len(rows)).astype(np.float64)
    fine, listed = Counter(code.values()), np.bincount(where.ravel(), minlength=len(rows))
    weights += prior.floor * (np.array([fine[one] for one in rows[:, place].tolist()]) - listed)
    return replace(prior, domain=domain, records=rows, weights=weights)
