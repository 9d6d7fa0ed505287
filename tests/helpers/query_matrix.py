"""The matrix of queries by records written out, record by record: what sums over columns are compared with."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from genverify.model.domain import Domain, Predicate


def query_matrix(domain: Domain, queries: Sequence[Predicate]) -> npt.NDArray[np.int64]:
    """A row per query and a column per record of a small domain: 1 where the record lies in the query."""
    records = np.array(list(product(*(column.codes for column in domain.columns)))).reshape(domain.size, -1)
    columns = dict(zip(domain.names, records.T, strict=True))
    rows = [np.broadcast_to(query.matches(columns), domain.size) for query in queries]
    return np.array(rows, dtype=np.int64).reshape(len(queries), domain.size)
