"""Choice of the tree of contexts: nodes are split if that saves more bits than it costs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int32s, Int64, Int64s, UInt32s
from gangsaw.codecs.core.numba.items import order_falling, put_items
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.quality.choice.costs import BIT, information, logarithm, logarithms
from gangsaw.codecs.reads.quality.choice.count import ContextCounts
from gangsaw.codecs.reads.quality.contexts import Components, U
from gangsaw.codecs.reads.quality.tree import MOST_NODES, MOST_TABLES, Nodes, Tree

# bits that a separate node must save, and a table: in all and for each of its symbols
NODE, NODE_SYMBOL, TABLE, TABLE_SYMBOL = 12, 3, 8, 7
CHANCE = 2  # bits per symbol that a part of any sample seems to save by chance


class Prices(NamedTuple):
    """Bits that a separate tree node or table must save to be worthwhile, in units of 1 / BIT.

    `node` and `table` count once, `node_symbol` and `table_symbol` for each value that occurs in
    it.
    """

    node: int
    node_symbol: int
    table: int
    table_symbol: int


def prices_of(weight: int) -> Prices:
    """Return the prices if each counted value represents `weight` values."""
    chance = CHANCE * weight
    prices = NODE, NODE_SYMBOL + chance, TABLE, TABLE_SYMBOL + chance
    return Prices(*(BIT * price for price in prices))


def chosen_tree(counts: ContextCounts, components: Components, most: int = MOST_TABLES) -> Tree:
    """Choose the context tree for the counted quality values, with at most `most` tables."""
    n, prices, levels = len(counts.contexts), prices_of(counts.weight), []
    split = Prices(*(price // counts.weight for price in prices))  # for the unscaled counts
    order, starts = np.arange(n), np.array([0, n])
    for level, size in enumerate(components.sizes):
        children, order, starts = _split(counts, split, level, size, order, starts)
        levels.append(children)
    leaves = np.zeros((starts.size - 1, counts.counts.shape[1]), np.int64)
    sum_nodes(counts.counts, order, starts, leaves)
    tables = share_tables(leaves * counts.weight, most, prices)
    befores, parts, pairs, changes = levels
    return Tree((befores, parts, pairs, changes), tables)


def _split(
    counts: ContextCounts, prices: Prices, level: int, size: int, order: Int64s, starts: Int64s
) -> tuple[npt.NDArray[np.int32], Int64s, Int64s]:
    """Split the nodes of a tree level, doubling the prices until the number of nodes is legal.

    Return the children of each node, and order and starts of the next level, see `split_nodes`.
    """
    column = counts.contexts[:, level].copy()
    while True:
        children = np.zeros((starts.size - 1, size), np.int32)
        most = max(len(children), MOST_NODES >> len(counts.contexts.T) - 1 - level)
        rows = NodeRows(column, counts.counts, order, starts)
        after, ends = split_nodes(rows, prices, most, children, logarithms())
        if ends.size:
            return children, after, ends
        prices = Prices(2 * prices.node, 2 * prices.node_symbol, *prices[2:])


class NodeRows(NamedTuple):
    """Counts of quality values per context (a row each), grouped by the nodes of a tree level.

    Attributes
    ----------
    components : (n,) uint8, value of the level's context component for each row
    counts : (n, n_values) uint32
    order : (n,) int64, row numbers, grouped by node
    starts : (n_nodes + 1,) int64, start of each node's rows in `order`
    """

    components: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.uint32]
    order: Int64s
    starts: Int64s


@jit
def split_nodes(rows: NodeRows, prices: Prices, most: int, children: Int32s, logs: Int64s) -> Any:
    """Split the nodes of a tree level into those of the next one, where that saves bits.

    Parameters
    ----------
    most : largest number of nodes of the next level
    children : zeroed (n_nodes, size) int32, filled: node of the next level for each component value
    logs : `logarithms`

    Returns
    -------
    `order` and `starts` of the next level, see `NodeRows`; no starts if it would have too many
    nodes
    """
    n_nodes, size = children.shape
    after, ends = np.empty_like(rows.order), np.empty(most + 2, np.int64)
    sums = np.zeros((size, rows.counts.shape[1]), np.int64)
    ends[0] = 0
    first = 0
    for node in range(n_nodes):
        own_rows = rows.order[rows.starts[node] : rows.starts[node + 1]]
        sums[:] = 0
        add_rows(rows.components, rows.counts, own_rows, sums)
        own = choose_own(sums, prices, children[node], logs)
        if first + own + n_nodes - node > most:
            return after, ends[:0].copy()
        after_of = ends[first : first + own + 2]
        order_by_child(rows.components, own_rows, children[node], after_of, after)
        for value in range(size):  # as a whole row it took a second to compile
            children[node, value] += first
        first += own + 1
    return after, ends[: first + 1].copy()


@jit
def add_rows(components: Bytes | Int32s, counts: UInt32s, own_rows: Int64s, sums: Int64s) -> None:
    """Add the counts of each row to sums[component of the row]."""
    for row in own_rows:
        component = components[row]
        for s in range(counts.shape[1]):
            sums[component, s] += counts[row, s]


@jit(part=True)
def order_by_child(components: Bytes, rows: Int64s, row: Int32s, ends: Int64s, out: Int64s) -> None:
    """Group rows by child node in `out`, from ends[0] on; set the end of each child's rows.

    row : child of each component value
    """
    for child in range(1, ends.size):
        ends[child] = 0
    for e in rows:
        ends[row[components[e]] + 1] += 1
    for child in range(ends.size - 1):
        ends[child + 1] += ends[child]
    parts = np.empty(ends.size, np.int64)
    put_items(parts, 0, ends, 0, ends.size)
    for e in rows:
        child = row[components[e]]
        out[parts[child]] = e
        parts[child] += 1


@jit(part=True)
def choose_own(sums: Int64s, prices: Prices, row: Int32s, logs: Int64s) -> int:
    """Choose the values of a context component that get a child node of their own in the tree.

    Returns their number. In `row` they are numbered from 1 on, ascending; the others share child 0.
    The choice is greedy, frequent values first: a value gets a node if the bits of both nodes and
    the price of a node are less than the bits of the shared one.
    """
    totals, rest = np.zeros(len(sums), np.int64), np.zeros(sums.shape[1], np.int64)
    for value in range(len(sums)):
        totals[value] = add_times(sums[value], 1, rest)
    order = np.empty(totals.size, np.int64)
    order_falling(totals, order)
    mark_own(sums, totals, rest, order, prices, row, logs)
    own = 0
    for value in range(row.size):
        if row[value]:
            own += 1
            row[value] = own
    return own


@jit(part=True, norefs=True)
def mark_own(
    sums: Int64s,
    totals: Int64s,
    rest: Int64s,
    order: Int64s,
    prices: Prices,
    row: Int32s,
    logs: Int64s,
) -> None:
    """Mark the component values with separate child nodes by 1 in `row`.

    Parameters
    ----------
    totals, rest : totals of `sums` by component value and by quality value; `rest` finally lacks
        the counts of separate nodes
    order : component values, the frequent ones first
    """
    total = totals.sum()
    for value in order:
        if totals[value] == 0 or totals[value] == total:
            break
        own = sums[value]
        add_times(own, -1, rest)
        saved, symbols = gain_of_parting(rest, total - totals[value], own, totals[value], logs)
        if saved > prices.node + prices.node_symbol * symbols:
            row[value] = 1
            total -= totals[value]
        else:
            add_times(own, 1, rest)


@jit(inline=True, part=True, norefs=True)
def add_times(counts: Int64s, n: int, out: Int64s) -> Any:
    """Add n times the counts to `out`; return the sum of the counts."""
    total = np.int64(0)
    for s in range(counts.size):
        out[s] += n * np.int64(counts[s])
        total += np.int64(counts[s])
    return total


@jit(inline=True, part=True, norefs=True)
def gain_of_parting(rest: Int64s, rest_total: int, own: Int64s, total: int, logs: Int64s) -> Any:
    """Return the bits saved by coding counts `own` apart from `rest`, and the symbols of `own`."""
    # the cost of counts h is information(sum of h) - sum of information(h)
    saved = information(rest_total + total, logs) - information(rest_total, logs)
    saved -= information(total, logs)
    symbols = 0
    for s in range(U(own.size)):
        if own[s]:
            saved += information(rest[s], logs) + information(own[s], logs)
            saved -= information(rest[s] + own[s], logs)
            symbols += 1
    return saved, symbols


@jit
def sum_nodes(counts: UInt32s, order: Int64s, starts: Int64s, sums: Int64s) -> None:
    """Sum the counts of quality values over the rows of each node."""
    for node in range(len(sums)):
        for row in order[starts[node] : starts[node + 1]]:
            for s in range(counts.shape[1]):
                sums[node, s] += counts[row, s]


def counts_of_tables(counts: ContextCounts, tree: Tree) -> npt.NDArray[np.int64]:
    """Return the counts of each table's values, (n_tables, n), for values that occur."""
    nodes = np.zeros(len(counts.contexts), np.int64)
    for level, components in zip(tree.levels, counts.contexts.T, strict=True):
        nodes = level[nodes, components]
    out = np.zeros((tree.n_tables, counts.counts.shape[1]), np.int64)
    add_rows(tree.tables[nodes], counts.counts, np.arange(nodes.size), out)
    return out


class SharedTables(NamedTuple):
    """Tables of value counts while leaves of the context tree are assigned to them.

    Attributes
    ----------
    counts : (most, n_values) int64, count of each quality value in each table
    totals : (most,) int64, sums of these counts
    logarithms : (n_values, most) uint32 of the counts, 0 for no count: a symbol that does not occur
        costs as much as one that occurs once
    log_totals : (most,) uint32, logarithms of `totals`
    bits : (most,) int64, scratch memory
    """

    counts: npt.NDArray[np.int64]
    totals: npt.NDArray[np.int64]
    logarithms: npt.NDArray[np.uint32]
    log_totals: npt.NDArray[np.uint32]
    bits: npt.NDArray[np.int64]


def share_tables(leaves: npt.NDArray[np.int64], most: int, prices: Prices) -> Nodes:
    """Return the table of each leaf, in order of appearance; leaves with similar counts share one.

    leaves : (n_leaves, n_values) counts
    """
    n, n_values = leaves.shape
    shared = SharedTables(
        np.zeros((most, n_values), np.int64),
        np.zeros(most, np.int64),
        np.zeros((n_values, most), np.uint32),
        np.zeros(most, np.uint32),
        np.zeros(most, np.int64),
    )
    totals, tables = leaves.sum(1), np.empty(n, np.int32)
    order = np.argsort(-totals, kind="stable")
    join_tables(leaves, totals, order, shared, prices, logarithms(), tables)
    renumber(tables)
    return tables


@jit(norefs=True)
def join_tables(
    leaves: Int64s,
    totals: Int64s,
    order: Int64s,
    shared: SharedTables,
    prices: Prices,
    logs: Int64s,
    tables: Int32s,
) -> None:
    """Write the table of each leaf of the context tree to `tables`.

    The choice is greedy, frequent leaves first: a leaf joins the table that codes it best, unless a
    separate table costs less.
    """
    known = 0
    for leaf in order:
        own, total = leaves[leaf], totals[leaf]
        table = best_table(own, total, known, shared)
        if known < shared.totals.size and (
            table < 0 or is_worth_a_table(own, total, table, shared, prices, logs)
        ):
            table, known = known, known + 1
        tables[leaf] = table
        add_to_table(own, total, table, shared, logs)


@jit(inline=True, part=True, norefs=True)
def best_table(own: Int64s, total: int, known: int, shared: SharedTables) -> int:
    """Return the table that codes the counts `own` in the fewest bits; -1 if there is none."""
    for table in range(known):
        shared.bits[table] = total * np.int64(shared.log_totals[table])
    for s in range(own.size):
        n = np.int64(np.uint32(own[s]))  # 32 bits times 32 bits are one instruction
        if n:
            take_bits(n, shared.logarithms[s], known, shared.bits)
    best = -1
    for table in range(known):
        if best < 0 or shared.bits[table] < shared.bits[best]:
            best = table
    return best


@jit(inline=True, part=True, norefs=True)
def take_bits(n: Int64, logarithms_of: UInt32s, known: int, bits: Int64s) -> None:
    """Subtract n times the logarithm of a symbol from the bits in each table."""
    for table in range(known):
        bits[table] -= n * np.int64(logarithms_of[table])


@jit(inline=True, part=True, norefs=True)
def is_worth_a_table(
    own: Int64s, total: int, table: int, shared: SharedTables, prices: Prices, logs: Int64s
) -> Any:
    """Return True if a separate table for the counts saves more than its price."""
    saved, symbols = gain_of_parting(shared.counts[table], shared.totals[table], own, total, logs)
    return saved > prices.table + prices.table_symbol * symbols


@jit(inline=True, part=True, norefs=True)
def add_to_table(own: Int64s, total: int, table: int, shared: SharedTables, logs: Int64s) -> None:
    """Add the counts of a leaf to a table, and update its logarithms."""
    shared.totals[table] += total
    shared.log_totals[table] = logarithm(max(shared.totals[table], 1), logs)
    for s in range(U(own.size)):
        if own[s]:
            n = shared.counts[table, s] + own[s]
            shared.counts[table, s] = n
            shared.logarithms[s, table] = logarithm(n, logs)


@jit
def renumber(tables: Int32s) -> None:
    """Number tables in the order in which leaves refer to them, in place."""
    names, known = np.full(MOST_TABLES, -1), 0
    for leaf in range(tables.size):
        if names[tables[leaf]] < 0:
            names[tables[leaf]], known = known, known + 1
        tables[leaf] = names[tables[leaf]]
