"""Tree of contexts, which decides the ones that share a table (SPEC.md, Qualities).

Each of the four components is a level. A node of a level maps each value of its component to a node
of the next level: a separate node, or the one for the rest. Below the last level are leaves. Each
refers to a table, which it may share with others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int32s
from gangsaw.codecs.core.entropy.gamma import (
    SPARE,
    bit_length,
    get_bits,
    get_gamma,
    put_bits,
    put_gamma,
)
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.quality.contexts import Components

LEVELS = 4
MOST_TABLES = 512
MOST_NODES = 4096  # in a level
Nodes = npt.NDArray[np.int32]


class Tree(NamedTuple):
    """Tree that maps the four components of a context to a leaf, and each leaf to a table.

    Attributes
    ----------
    levels : for each component (n_nodes, size) int32: the node of the next level, or the leaf, for
        each value of the component
    tables : (n_leaves,) int32, table of each leaf
    """

    levels: tuple[Nodes, Nodes, Nodes, Nodes]
    tables: Nodes

    @property
    def n_tables(self) -> int:
        """Number of tables that leaves refer to."""
        return int(self.tables.max()) + 1


def table_map(tree: Tree, components: Components) -> npt.NDArray[np.uint16]:
    """Return the table of every context, in the order of `number_context`."""
    befores, parts, pairs, changes = tree.levels
    nodes = parts[befores[0]].T  # the part of a line is the first axis
    tables: npt.NDArray[np.uint16] = tree.tables.astype(np.uint16)[changes[pairs[nodes]]].ravel()
    return tables


def stored_tree(tree: Tree) -> Text:
    """Return the stored form of a context tree."""
    n_nodes = sum(len(level) for level in tree.levels) + tree.tables.size
    out = np.zeros(8 * n_nodes + 2 * SPARE, np.uint8)  # no node takes more than 64 bits
    at = 0
    for level in tree.levels:
        at = write_level(level, out, at)
    return out[: (write_labels(tree.tables, out, at) + 7) // 8].copy()


@jit
def write_level(level: Int32s, out: Bytes, at: int) -> int:
    """Write for each node of a level its values with separate nodes; return the bit after them."""
    first = 0
    for row in level:
        own = 0
        for node in row:
            own = max(own, node - first)
        at = put_gamma(out, at, own + 1)
        before = -1
        for value in range(row.size):
            if row[value] != first:
                at = put_gamma(out, at, value - before)
                before = value
        first += own + 1
    return at


@jit
def write_labels(tables: Int32s, out: Bytes, at: int) -> int:
    """Write the table number of each leaf, numbered by first use; return the bit after them."""
    known = 0
    for table in tables:
        at = put_bits(out, at, table, bit_length(known))
        known = max(known, table + 1)
    return at


def read_tree(data: Text, components: Components) -> tuple[Tree, Text]:
    """Return the context tree at the start of data, and the bytes after it; raise CorruptChunk."""
    padded, stop = np.concatenate((data, np.zeros(SPARE, np.uint8))), 8 * data.size
    levels, n, at = [], 1, 0
    for size in components.sizes:
        level = np.empty((n, size), np.int32)
        n, at = read_level(padded, at, stop, level)
        if n > MOST_NODES:
            raise CorruptChunk("its tree of contexts is wrong")
        levels.append(level)
    tables = np.empty(n, np.int32)
    at = int(read_labels(padded, at, stop, tables))
    if at > stop:
        raise CorruptChunk("its tree of contexts is wrong")
    befores, parts, pairs, changes = levels
    return Tree((befores, parts, pairs, changes), tables), data[(at + 7) // 8 :]


@jit
def read_level(data: Bytes, at: int, stop: int, level: Int32s) -> tuple[int, int]:
    """Read one level of a tree; return the nodes of the next level, and the bit after it.

    On errors the number of nodes is above MOST_NODES.
    """
    first = 0
    for row in level:
        own, at = get_gamma(data, at, stop)
        if at > stop or own > row.size or first + own > MOST_NODES:
            return MOST_NODES + 1, at
        row[:] = first
        value = -1
        for k in range(1, own):
            gap, at = get_gamma(data, at, stop)
            value += gap
            if at > stop or value >= row.size:
                return MOST_NODES + 1, at
            row[value] = first + k
        first += own
    return first, at


@jit
def read_labels(data: Bytes, at: int, stop: int, tables: Int32s) -> int:
    """Read the table number of each leaf; return the bit after them, beyond `stop` on errors."""
    known = 0
    for i in range(tables.size):
        n = bit_length(known)
        if at + n > stop:
            return stop + 1
        table = get_bits(data, at, n)
        if table > known or table >= MOST_TABLES:
            return stop + 1
        tables[i], at, known = table, at + n, max(known, table + 1)
    return at
