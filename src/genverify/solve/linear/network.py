"""
Sums that form a network, such as the rows and columns of a two-way table: moves of their cells along cycles.

Every row is a node and every cell an arc from one node to another, or to an outer node if it lies in one sum only. From
counts that fit, cells can go up or down along a cycle of arcs that have slack: all sums stay as they are.
"""

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from genverify.model.arrays import Floats, Ints
from genverify.model.linear import LinearSystem


class Cycles:
    """The cheapest cycles through one of some arcs: moves of cells, all by as much, that leave every sum as it is."""

    def __init__(self, network: Ints, arcs: Ints) -> None:
        ends, size = network[:, arcs], int(network.max(initial=0)) + 1
        self.size, self.start = len(arcs), ends.ravel()  # all arcs forwards, then all of them backwards
        self.order = np.argsort(self.start, kind="stable")
        self.end = ends[::-1].ravel()[self.order]
        self.first = np.searchsorted(self.start[self.order], np.arange(size + 1))

    def through(self, arc: int, price: Floats) -> Ints | None:
        """For each arc 1 or -1 if the cheapest cycle through an arc has it, by the prices of arcs forwards and backwards."""
        here, there, size = arc % self.size, (arc + self.size) % (2 * self.size), len(self.first) - 1
        source, target, price = int(self.start[there]), int(self.start[arc]), price[self.order]
        closed = not np.isfinite(price[self.order == arc]).all()
        price[(self.order == arc) | (self.order == there)] = np.inf
        graph: csr_array = csr_array((price, self.end, self.first), shape=(size, size))
        (far,), (before,) = dijkstra(graph, indices=[source], return_predecessors=True)
        if closed or not np.isfinite(far[target]):
            return None
        signs = np.zeros(self.size, dtype=np.int64)
        signs[here] = 1 if arc < self.size else -1
        while target != source:
            last = int(before[target])
            out = np.arange(self.first[last], self.first[last + 1])
            out = out[self.end[out] == target]
            taken = int(self.order[out[np.argmin(price[out])]])
            signs[taken % self.size] = 1 if taken < self.size else -1
            target = last
        return signs


def network_of(sums: LinearSystem) -> Ints | None:
    """From where to where the arc of each cell goes, if sums form a network: a cell in at most two, by weights 1 or -1."""
    n, size = len(sums.cells), len(sums.rows)
    if not (np.abs(sums.weights) == 1).all() or np.bincount(sums.columns, minlength=n).max(initial=0) > 2:
        return None
    order = np.argsort(sums.columns, kind="stable")
    cell, row, weight = sums.columns[order], sums.row_of[order], sums.weights[order]
    pair = np.flatnonzero(cell[:-1] == cell[1:])
    # a row and its opposite are two nodes; cells of equal weight in two rows tie each to the opposite of the other
    first, second, turned = row[pair], row[pair + 1], np.where(weight[pair] == weight[pair + 1], size, 0)
    ends = np.concatenate([first, first + size]), np.concatenate([second + turned, second + size - turned])
    ties = coo_array((np.ones(len(ends[0]), dtype=np.int32), ends), shape=(2 * size, 2 * size))
    _, label = connected_components(ties, directed=False)
    if (label[:size] == label[size:]).any() or (sums.least < sums.most).any():
        return None
    inward = np.where(label[:size] < label[size:], 1, -1)[row] * weight > 0
    arcs: Ints = np.full((2, n), size)
    arcs[1, cell[inward]], arcs[0, cell[~inward]] = row[inward], row[~inward]
    return arcs
