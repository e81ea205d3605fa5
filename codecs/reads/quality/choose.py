"""Choice of the tree of contexts: split where that saves more bits than it costs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.lines import Places
from gangsaw.codecs.reads.quality.contexts import Components
from gangsaw.codecs.reads.quality.costs import BIT, information, logarithm, logarithms
from gangsaw.codecs.reads.quality.count import Counts
from gangsaw.codecs.reads.quality.tree import MOST_NODES, MOST_TABLES, Tree

# bits that a node of its own has to save, and a table: in all and for each of its symbols
NODE, NODE_SYMBOL, TABLE, TABLE_SYMBOL = 12, 3, 8, 7
CHANCE = 2  # bits for each symbol that a part of any sample seems to save by chance


class Prices(NamedTuple):
    """What has to be saved, in units of 1 / BIT: in all, and for each symbol."""

    node: int
    node_symbol: int
    table: int
    table_symbol: int


def prices_of(weight: int) -> Prices:
    """Return the prices where what is counted stands for `weight` times as much."""
    chance = CHANCE * weight
    prices = NODE, NODE_SYMBOL + chance, TABLE, TABLE_SYMBOL + chance
    return Prices(*(BIT * price for price in prices))


def chosen_tree(counts: Counts, components: Components) -> Tree:
    """Return the tree for what was counted."""
    n, prices, levels = counts.values.size, prices_of(counts.weight), []
    order, starts = np.arange(n), np.array([0, n])
    for level, size in enumerate(components.sizes):
        children, order, starts = _split(counts, prices, level, size, order, starts)
        levels.append(children)
    leaves = np.zeros((starts.size - 1, components.befores), np.int64)
    sum_nodes(counts, order, starts, leaves)
    tables = share_tables(leaves, prices, logarithms())
    befores, places, pairs, changes = levels
    return Tree((befores, places, pairs, changes), tables)


def _split(
    counts: Counts, prices: Prices, level: int, size: int, order: Places, starts: Places
) -> tuple[npt.NDArray[np.int32], Places, Places]:
    """Split the nodes of a level, at prices that are doubled until there are not too many."""
    while True:
        children = np.zeros((starts.size - 1, size), np.int32)
        most = max(len(children), MOST_NODES >> len(counts.contexts.T) - 1 - level)
        after, ends = split_nodes(
            counts, prices, level, order, starts, most, children, logarithms()
        )
        if ends.size:
            return children, after, ends
        prices = Prices(2 * prices.node, 2 * prices.node_symbol, *prices[2:])


@jit
def split_nodes(
    counts: Any,
    prices: Any,
    level: int,
    order: Any,
    starts: Any,
    most: int,
    children: Any,
    logs: Any,
) -> Any:
    """Split all nodes of a level.

    Parameters
    ----------
    order : (n,) int64, entries of `counts` by node
    starts : (n_nodes + 1,) int64, where those of each node begin
    children : zeroed (n_nodes, size) int32, filled: the node of the next level of each value
    most : nodes of the next level
    logs : `logarithms`

    Returns
    -------
    the order and the starts of the next level; no starts where it would have too many nodes
    """
    n_nodes, size = children.shape
    n_values = np.int64(counts.values.max()) + 1 if counts.values.size else 1
    after, ends = np.empty_like(order), np.empty(most + 2, np.int64)
    ends[0] = 0
    first = 0
    for node in range(n_nodes):
        entries = order[starts[node] : starts[node + 1]]
        sums = np.zeros((size, n_values), np.int64)
        for e in entries:
            sums[counts.contexts[e, level], counts.values[e]] += counts.counts[e]
        own = choose_own(sums, prices, children[node], logs)
        if first + own + n_nodes - node > most:
            return after, ends[:0].copy()
        after_of = ends[first : first + own + 2]
        order_by_child(counts.contexts[:, level], entries, children[node], after_of, after)
        children[node] += first
        first += own + 1
    return after, ends[: first + 1].copy()


@jit
def order_by_child(components: Any, entries: Any, row: Any, ends: Any, out: Any) -> None:
    """Write entries to `out` by child from ends[0] on; fill in where those of each end."""
    ends[1:] = 0
    for e in entries:
        ends[row[components[e]] + 1] += 1
    for child in range(ends.size - 1):
        ends[child + 1] += ends[child]
    places = ends[:-1].copy()
    for e in entries:
        child = row[components[e]]
        out[places[child]] = e
        places[child] += 1


@jit
def choose_own(sums: Any, prices: Any, row: Any, logs: Any) -> int:
    """Number the values that get nodes of their own from 1 on, ascending; return how many.

    Greedy, the frequent ones first: a node is worth it where rest and own cost less apart.
    """
    size = len(sums)
    totals, rest = sums.sum(1), sums.sum(0)
    total, own = rest.sum(), 0
    for value in np.argsort(-totals, kind="mergesort"):
        if totals[value] == 0 or totals[value] == total:
            break
        saved, symbols = gain_of_parting(rest, total, sums[value], totals[value], logs)
        if saved > prices.node + prices.node_symbol * symbols:
            row[value], own = 1, own + 1
            rest -= sums[value]
            total -= totals[value]
    own = 0
    for value in range(size):
        if row[value]:
            own += 1
            row[value] = own
    return own


@jit
def gain_of_parting(rest: Any, total: int, part: Any, part_total: int, logs: Any) -> Any:
    """Return what is saved where `part` leaves `rest`, which holds it, and its symbols."""
    # the cost of counts h is information(sum of h) - sum of information(h)
    saved = information(total, logs) - information(total - part_total, logs)
    saved -= information(part_total, logs)
    symbols = 0
    for s in range(part.size):
        if part[s]:
            saved += information(rest[s] - part[s], logs) + information(part[s], logs)
            saved -= information(rest[s], logs)
            symbols += 1
    return saved, symbols


@jit
def sum_nodes(counts: Any, order: Any, starts: Any, sums: Any) -> None:
    """Count values by node."""
    for node in range(len(sums)):
        for e in order[starts[node] : starts[node + 1]]:
            sums[node, counts.values[e]] += counts.counts[e]


@jit
def share_tables(leaves: Any, prices: Any, logs: Any) -> Any:
    """Return the table of each leaf, numbered as they come.

    Greedy, the frequent leaves first: a leaf joins the table that codes it best, unless a table of
    its own costs less.
    """
    n, n_values = leaves.shape
    totals = leaves.sum(1)
    tables, sums = np.empty(n, np.int32), np.zeros((MOST_TABLES, n_values), np.int64)
    sizes, known = np.empty((MOST_TABLES, n_values), np.int64), 0
    for leaf in np.argsort(-totals, kind="mergesort"):
        own = leaves[leaf]
        table = best_table(own, sizes[:known])
        if known < MOST_TABLES and (
            table < 0 or is_worth_a_table(own, totals[leaf], sums[table], prices, logs)
        ):
            table, known = known, known + 1
        tables[leaf] = table
        sums[table] += own
        fill_sizes(sums[table], sizes[table], logs)
    return renumbered(tables)


@jit
def best_table(own: Any, sizes: Any) -> int:
    """Return the table that codes counts in the fewest bits; -1 of none."""
    best, least = -1, np.int64(0)
    for table in range(len(sizes)):
        bits = np.int64(0)
        for s in range(own.size):
            bits += own[s] * sizes[table, s]
        if best < 0 or bits < least:
            best, least = table, bits
    return best


@jit
def is_worth_a_table(own: Any, total: int, others: Any, prices: Any, logs: Any) -> Any:
    """Whether counts have to be coded apart from those of a table."""
    joined = own + others
    saved, symbols = gain_of_parting(joined, joined.sum(), own, total, logs)
    return saved > prices.table + prices.table_symbol * symbols


@jit
def fill_sizes(sums: Any, out: Any, logs: Any) -> None:
    """Fill in the bits that each symbol takes; one that does not occur is as one that does once."""
    total = logarithm(sums.sum(), logs)
    for s in range(sums.size):
        out[s] = total - logarithm(max(sums[s], 1), logs)


@jit
def renumbered(tables: Any) -> Any:
    """Number tables in the order in which leaves name them."""
    names, known = np.full(MOST_TABLES, -1), 0
    for leaf in range(tables.size):
        if names[tables[leaf]] < 0:
            names[tables[leaf]], known = known, known + 1
        tables[leaf] = names[tables[leaf]]
    return tables
