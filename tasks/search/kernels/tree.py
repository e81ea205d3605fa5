"""Transform of bytes as a wavelet tree in the shape of a Huffman code.

A node has one bit for each byte of the transform whose code passes through it: the next bit of that
code. All nodes are concatenated in one bit vector, so a byte takes as many bits as its code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.search.kernels.bits import is_set, prefetch_bit, rank, set_bit

ZERO, ONE, BEGIN, BEFORE = range(4)  # fields of a node: its children, first bit, ones before that
NODE = 4


class ByteRows(NamedTuple):
    """Burrows-Wheeler transform of bytes as a wavelet tree, for ranks.

    Attributes
    ----------
    bits : (8 l,) uint64, cache lines of counts and bits of all nodes
    nodes : (m, NODE) int64: children for bits 0 and 1 (a node, or ~byte), first bit, ones before it
    codes, lengths : (256,) uint64 and int64: code of each byte, its first bit highest; 0 bits if
        the text has no other byte
    firsts : (257,) int64, first row of the suffixes that begin with each byte, and number of rows
    root : 0, or ~byte for a text of a single byte value
    primary : row of the whole text, which has no byte before it and is omitted from the transform
    """

    bits: npt.NDArray[np.uint64]
    nodes: npt.NDArray[np.int64]
    codes: npt.NDArray[np.uint64]
    lengths: npt.NDArray[np.int64]
    firsts: npt.NDArray[np.int64]
    root: int
    primary: int


@jit(inline=True, part=True, norefs=True)
def fetch_node(of: Any, node: Any, at: Any) -> None:
    """Prefetch the cache line of bit `at` of a tree node."""
    prefetch_bit(of.bits, of.nodes[node, BEGIN] + at)


@jit(inline=True, part=True, norefs=True)
def ones_before(of: Any, node: Any, at: Any) -> Any:
    """Return the number of ones before bit `at` of a tree node."""
    return rank(of.bits, of.nodes[node, BEGIN] + at) - of.nodes[node, BEFORE]


@jit(inline=True, part=True, norefs=True)
def down(of: Any, node: Any, at: Any) -> Any:
    """Return the child that bit `at` of a tree node leads to, and the index of its bit there."""
    ones = ones_before(of, node, at)
    is_one = is_set(of.bits, of.nodes[node, BEGIN] + at)
    return (of.nodes[node, ONE], ones) if is_one else (of.nodes[node, ZERO], at - ones)


@jit(inline=True, part=True, norefs=True)
def step_byte(of: Any, byte: Any, row: Any) -> Any:
    """Return the first row whose suffix is at least a byte followed by the suffix of `row`.

    It is one step of a backward search (LF mapping).
    """
    at, node = row - (row > of.primary), of.root
    code, length = of.codes[byte], of.lengths[byte]
    for shift in range(length - 1, -1, -1):
        ones = ones_before(of, node, at)
        is_one = (code >> np.uint64(shift)) & np.uint64(1) != np.uint64(0)
        at = ones if is_one else at - ones
        node = of.nodes[node, ONE] if is_one else of.nodes[node, ZERO]
    return of.firsts[byte] + at


@jit(inline=True, part=True, norefs=True)
def back(of: Any, row: Any) -> Any:
    """Return the byte before the suffix of a row, and the row of the suffix with that byte.

    The row must not be the primary one, of the whole text.
    """
    at, node = row - (row > of.primary), of.root
    while node >= 0:
        node, at = down(of, node, at)
    return ~node, of.firsts[~node] + at


@jit(norefs=True)
def gather_bytes_before(text: Any, suffixes: Any, out: Any) -> int:
    """Write the Burrows-Wheeler transform: the byte before each suffix, in sorted order.

    The whole text has none; the result is its row.
    """
    out[0] = text[text.size - 1]
    used, primary = 1, 0
    for i in range(suffixes.size):
        place = suffixes[i]
        if place == 0:
            primary = i + 1
        else:
            out[used] = text[place - 1]
            used += 1
    return primary


@jit(norefs=True)
def fill_bits(transformed: Any, codes: Any, lengths: Any, nodes: Any, ends: Any, bits: Any) -> None:
    """Write the bits of all nodes of the wavelet tree of a Burrows-Wheeler transform.

    `ends` (m,) int64 initially has the first bit of each node, and is changed.
    """
    for i in range(transformed.size):
        code, node = codes[transformed[i]], 0
        for shift in range(lengths[transformed[i]] - 1, -1, -1):
            is_one = (code >> np.uint64(shift)) & np.uint64(1) != np.uint64(0)
            if is_one:
                set_bit(bits, ends[node])
            ends[node] += 1
            node = nodes[node, ONE] if is_one else nodes[node, ZERO]


@jit(norefs=True)
def are_nodes_whole(bits: Any, nodes: Any, ones: Any, n_bits: int) -> bool:
    """Return True if each tree node has the expected ones (m,) int64; write the ones before it."""
    for i in range(len(nodes)):
        end = nodes[i + 1, BEGIN] if i + 1 < len(nodes) else n_bits
        nodes[i, BEFORE] = rank(bits, nodes[i, BEGIN])
        if rank(bits, end) - nodes[i, BEFORE] != ones[i]:
            return False
    return True
