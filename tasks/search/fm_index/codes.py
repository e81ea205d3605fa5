"""Canonical Huffman code of bytes, and its tree."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.search.kernels.tree import BEGIN, NODE, ONE, ZERO

Counts = npt.NDArray[np.int64]
LONGEST = 48  # bits; a longer code would need a text of 2^32 bytes


def lengths_for(counts: Counts) -> npt.NDArray[np.uint8]:
    """Return the Huffman code length of each byte value, (256,); 0 if absent or the only one."""
    heap: list[tuple[int, int, tuple[int, ...]]] = [
        (int(n), byte, (byte,)) for byte, n in enumerate(counts) if n
    ]
    lengths = np.zeros(256, np.uint8)
    heapq.heapify(heap)
    while len(heap) > 1:
        (n, first, some), (m, _, others) = heapq.heappop(heap), heapq.heappop(heap)
        lengths[[*some, *others]] += 1
        heapq.heappush(heap, (n + m, first, (*some, *others)))
    return lengths


def codes_of(lengths: npt.NDArray[np.uint8], counts: Counts) -> npt.NDArray[np.uint64]:
    """Return canonical Huffman codes, (256,); raise CorruptChunk if the lengths are incomplete."""
    there = np.flatnonzero(counts)
    codes = np.zeros(256, np.uint64)
    if (lengths[counts == 0] != 0).any() or (there.size < 2 and lengths.any()):
        raise CorruptChunk("code lengths of bytes that are not there")
    if there.size < 2:
        return codes
    code = length = 0
    for byte in there[np.lexsort((there, lengths[there]))]:
        wanted = int(lengths[byte])
        code <<= wanted - length
        length = wanted
        if not 1 <= length <= LONGEST or code >> length:
            raise CorruptChunk("code lengths define no code")
        codes[byte] = code
        code += 1
    if code != 1 << length:
        raise CorruptChunk("code lengths define no complete code")
    return codes


def nodes_of(
    codes: npt.NDArray[np.uint64], lengths: npt.NDArray[np.uint8], counts: Counts
) -> tuple[npt.NDArray[np.int64], Counts, int]:
    """Build the wavelet tree of a Huffman code.

    Returns its nodes (m, NODE) int64, the number of ones in each node, (m,) int64, and the number
    of all bits.
    """
    nodes: list[list[int]] = []
    sizes: list[list[int]] = []  # bits of each node, and ones among them
    numbers: dict[tuple[int, int], int] = {}

    def number_of(length: int, prefix: int) -> int:
        if (length, prefix) not in numbers:
            numbers[length, prefix] = len(nodes)
            nodes.append([0] * NODE)
            sizes.append([0, 0])
        return numbers[length, prefix]

    for byte in np.flatnonzero(lengths):
        code, n_bits, n = int(codes[byte]), int(lengths[byte]), int(counts[byte])
        for length in range(n_bits):
            node = number_of(length, code >> n_bits - length)
            bit = code >> n_bits - length - 1 & 1
            is_last = length + 1 == n_bits
            child = ~int(byte) if is_last else number_of(length + 1, code >> n_bits - length - 1)
            nodes[node][ONE if bit else ZERO] = child
            sizes[node][0] += n
            sizes[node][1] += n * bit
    table = np.array(nodes, np.int64).reshape(len(nodes), NODE)
    bits, ones = np.array(sizes, np.int64).reshape(len(nodes), 2).T
    table[:, BEGIN] = np.cumsum(bits) - bits
    return table, ones.copy(), int(bits.sum())
