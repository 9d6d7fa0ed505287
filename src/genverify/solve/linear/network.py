"""
Sums that form a network, such as the rows and columns of a two-way table: which cells they leave no choice, in linear time.

Every row is a node and every cell an arc from one node to another, or to an outer node if it lies in one sum only. From
counts that fit, a cell can go up or down along a cycle of arcs that have slack; so it is known exactly where no such cycle
passes through it: between two strongly connected components, or over a bridge within one. The proof adds up the rows of one
component: their multipliers are 1 or -1.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, dijkstra

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.linear import LinearSystem

Pin = tuple[int, int, Ints]  # a cell that cannot go further up (1) or down (-1), and multipliers of rows that show it


@dataclass(frozen=True)
class Network:
    """
    Arcs from `tail` to `head`: the cells, then the slack of rows whose two ends differ. The last node is the outer one.
    `sign` of a row is -1 where its sum counts the other way round.
    """

    sums: LinearSystem
    tail: Ints
    head: Ints
    sign: Ints
    slack: Ints  # the rows that have one

    def pinned(self, x: Ints, lo: Ints, hi: Ints) -> Iterator[Pin]:
        """All ends at which counts that fit must stay, in an order in which each proof may use those before it."""
        total, size, back = self.sums.activity(x)[self.slack], len(self.sums.rows) + 1, self.sign[self.slack] < 0
        more, less = total < self.sums.most[self.slack], total > self.sums.least[self.slack]
        up, down = np.append(x < hi, np.where(back, less, more)), np.append(x > lo, np.where(back, more, less))
        arcs = np.append(self.tail[up], self.head[down]), np.append(self.head[up], self.tail[down])
        _, strong = connected_components(_graph(*arcs, size), connection="strong")
        open_ = (up | down) & (self.tail != self.head)
        across = open_ & (strong[self.tail] != strong[self.head])
        yield from self._peel(strong.astype(np.int64), across, up, down)
        inside = np.flatnonzero(open_ & ~across)
        bridge = np.zeros(len(open_), dtype=bool)
        bridge[inside[_bridges(self.tail[inside], self.head[inside], size)]] = True
        kept = inside[~bridge[inside]]
        _, block = connected_components(_graph(self.tail[kept], self.head[kept], size), directed=False)
        yield from self._peel(block.astype(np.int64), bridge, up, down)

    def matching(self, cells: Ints) -> list[int]:
        """Some of these cells, in their order, of which no two lie in one sum."""
        used, result = np.zeros(len(self.sums.rows) + 1, dtype=bool), []
        for cell, tail, head in zip(cells.tolist(), self.tail[cells].tolist(), self.head[cells].tolist(), strict=True):
            if not (used[tail] or used[head]):
                result.append(cell)
                used[[tail, head]] = True
                used[-1] = False  # the outer node is no sum
        return result

    def _peel(self, label: Ints, arcs: Flags, up: Flags, down: Flags) -> Iterator[Pin]:
        """
        Part by part of the network, those first that nothing can leave or enter, or that one arc alone ties to the others:
        its rows then show all arcs that tie it, as those of the parts before it no longer move.
        """
        size, tail, head, arcs = int(label.max()) + 1, label[self.tail], label[self.head], arcs.copy()
        while arcs.any():
            into = np.bincount(np.append(head[arcs & up], tail[arcs & down]), minlength=size)
            out_of = np.bincount(np.append(tail[arcs & up], head[arcs & down]), minlength=size)
            ties = np.bincount(np.append(head[arcs], tail[arcs]), minlength=size)
            ready = (ties > 0) & ((into == 0) | (out_of == 0) | (ties == 1))
            ready[label[-1]] = False  # the outer node has no row
            if not ready.any():
                return  # parts and arcs form a cycle, so one of them is no bridge: programs find what is left
            done = arcs & (ready[tail] | ready[head])
            for arc in np.flatnonzero(done[: len(self.sums.cells)]).tolist():
                part, enters = (head[arc], 1) if ready[head[arc]] else (tail[arc], -1)
                y = np.where(label[:-1] == part, enters * self.sign, 0)
                yield from ((arc, sign, sign * y) for sign, room in ((1, up), (-1, down)) if room[arc])
            arcs &= ~done


class Cycles:
    """The cheapest cycles through one of some arcs: moves of cells, all by as much, that leave every sum as it is."""

    def __init__(self, network: Network, arcs: Ints) -> None:
        self.ends, size = np.stack([network.tail[arcs], network.head[arcs]]), len(network.sums.rows) + 1
        self.size, self.start = len(arcs), self.ends.ravel()  # all arcs forwards, then all of them backwards
        self.order = np.argsort(self.start, kind="stable")
        self.end = self.ends[::-1].ravel()[self.order]
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


def network_of(sums: LinearSystem) -> Network | None:
    """The network of these sums, if they have one: every cell in at most two of them, by weights of 1 or -1."""
    n, size = len(sums.cells), len(sums.rows)
    if not (np.abs(sums.weights) == 1).all() or np.bincount(sums.columns, minlength=n).max(initial=0) > 2:
        return None
    order = np.argsort(sums.columns, kind="stable")
    cell, row, weight = sums.columns[order], sums.row_of[order], sums.weights[order]
    pair = np.flatnonzero(cell[:-1] == cell[1:])
    # a row and its opposite are two nodes; cells of equal weight in two rows tie each to the opposite of the other
    first, second, turned = row[pair], row[pair + 1], np.where(weight[pair] == weight[pair + 1], size, 0)
    ends = np.concatenate([first, first + size]), np.concatenate([second + turned, second + size - turned])
    _, label = connected_components(_graph(*ends, 2 * size), directed=False)
    if (label[:size] == label[size:]).any():
        return None
    sign = np.where(label[:size] < label[size:], 1, -1)
    tail, head, slack = np.full(n, size), np.full(n, size), np.flatnonzero(sums.least < sums.most)
    inward = sign[row] * weight > 0
    head[cell[inward]], tail[cell[~inward]] = row[inward], row[~inward]
    return Network(sums, np.append(tail, slack), np.append(head, np.full(len(slack), size)), sign, slack)


def _graph(tail: Ints, head: Ints, size: int) -> csr_array:
    return csr_array(coo_array((np.ones(len(tail), dtype=np.int32), (tail, head)), shape=(size, size)))


def _bridges(tail: Ints, head: Ints, size: int) -> Ints:
    """
    The edges without which two nodes lose all connection: those of a spanning forest that no cycle covers. Every other edge
    closes a cycle and has a random number; an edge of the forest where these cancel out is a bridge (whether it really is
    one shows when the proof is recounted).
    """
    _, label = connected_components(_graph(tail, head, size), directed=False)
    first = np.unique(label, return_index=True)[1]  # one node of every tree hangs on one more node
    joined = _graph(np.append(tail, np.full(len(first), size)), np.append(head, first), size + 1)
    order, parent = (part.astype(np.int64) for part in breadth_first_order(joined, size, directed=False))
    keys, edge = np.unique(np.minimum(tail, head) * size + np.maximum(tail, head), return_index=True)
    nodes = order[1:][parent[order[1:]] < size]
    above = parent[nodes]
    in_tree = edge[np.searchsorted(keys, np.minimum(nodes, above) * size + np.maximum(nodes, above))]
    covers = np.random.default_rng(0).integers(1, 2**62, len(tail))
    covers[in_tree] = 0
    total = np.zeros(size, dtype=np.int64)
    np.bitwise_xor.at(total, tail, covers)
    np.bitwise_xor.at(total, head, covers)
    for node, over in zip(nodes[::-1].tolist(), above[::-1].tolist(), strict=True):
        total[over] ^= total[node]
    return np.asarray(in_tree[total[nodes] == 0])
