"""Index of a block's k-mers: those that occur more than once, in groups.

The index selects k-mers of a line whose hash is less than that of both neighbours. This is one in
three, and equal bases give the same ones, on either strand. So a k-mer of a contig needs no
look-up: it belongs to a piece in the contig, which knows its group.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, UInt32s, UInt64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.sequence.layout.sort import sort_by_hash

ALONE = np.uint32(0xFFFFFFFF)  # group of a k-mer that occurs once
NONE = np.uint64(0xFFFFFFFF)  # hash for a position without a k-mer: above all selected hashes
RANK = np.uint64(0xFFFFFFFF)  # mask of the rank in a key
RANK_BITS = 6
PLACE, GROUP = 0, 1  # columns of `kmers`
SIZE, CONTIG, COLUMN, MEMBERS = 0, 1, 2, 3  # items of a group


class KmerIndex(NamedTuple):
    """Selected k-mers of a block's text, in groups with the same or the complementary bases.

    Attributes
    ----------
    kmers : (n, 2) uint32. PLACE is twice the first base's position in the text, ascending, and 1
        more where the hash is that of the reverse complement. GROUP is the group, or ALONE
    ranks : (n_bytes / 64 + 2,) uint32, first k-mer from each 64th byte on
    groups : (m,) uint32, group after group: its SIZE; for the walk the last CONTIG and COLUMN that
        visited it; from MEMBERS on the positions of its k-mers, ascending. The start of a group
        identifies it
    k : bases of a k-mer
    """

    kmers: npt.NDArray[np.uint32]
    ranks: npt.NDArray[np.uint32]
    groups: npt.NDArray[np.uint32]
    k: int


def build_index(codes: npt.NDArray[np.uint8], k: int) -> KmerIndex:
    """Return the index of (n,) codes 0..3; a k-mer contains no code above 3."""
    most = codes.size // 2 + 1
    keys, kmers = np.empty(most, np.uint64), np.empty((most, 2), np.uint32)
    n = index_kmers(codes, k, keys, kmers)
    kmers = kmers[:n]
    keys = sort_by_hash(keys[:n])
    groups = np.empty(mark_groups(keys, kmers), np.uint32)
    open_groups(kmers, groups)
    fill_groups(keys, kmers, groups)
    ranks = np.empty((codes.size >> RANK_BITS) + 2, np.uint32)
    rank_kmers(kmers, ranks)
    return KmerIndex(kmers, ranks, groups, k)


@jit
def index_kmers(codes: Bytes, k: int, keys: UInt64s, kmers: UInt32s) -> int:
    """Select k-mers with a hash less than both neighbours; write them in order of position.

    A key is the hash, above 32 bits of the k-mer's index in `kmers`.

    Returns
    -------
    number of k-mers
    """
    low = np.uint64(0xFFFFFFFF) >> np.uint64(32 - 2 * k)
    high = np.uint64(2 * k - 2)
    forward, backward = np.uint64(0), np.uint64(0)
    before, last, last_reverse = NONE, NONE, 0
    good, n = 0, 0
    for i in range(codes.size + 1):
        code = np.uint64(codes[i]) if i < codes.size else np.uint64(4)
        forward = (forward << np.uint64(2) | code & np.uint64(3)) & low
        backward = backward >> np.uint64(2) | (~code & np.uint64(3)) << high
        good = good + 1 if code < 4 else 0
        reverse = 1 if backward < forward else 0
        kmer = hashed(min(forward, backward)) if good >= k else NONE
        keys[n] = last << np.uint64(32) | np.uint64(n)
        kmers[n, PLACE], kmers[n, GROUP] = 2 * (i - k) + last_reverse, ALONE
        n += 1 if last < before and last < kmer else 0
        before, last, last_reverse = last, kmer, reverse
    return n


@jit(inline=True)
def hashed(kmer: np.uint64) -> Any:
    """Return the hash of 32 bits, a bijection."""
    kmer = (kmer ^ kmer >> np.uint64(15)) * np.uint64(0x9E3779B1) & np.uint64(0xFFFFFFFF)
    return kmer ^ kmer >> np.uint64(16)


@jit
def mark_groups(keys: UInt64s, kmers: UInt32s) -> int:
    """Write the size of each group at its first k-mer; return the number of words of all groups."""
    words, begin = 0, 0
    for i in range(1, keys.size + 1):
        if i == keys.size or keys[i] >> np.uint64(32) != keys[begin] >> np.uint64(32):
            if i - begin > 1:
                kmers[np.int64(keys[begin] & RANK), GROUP] = i - begin
                words += MEMBERS + i - begin
            begin = i
    return words


@jit
def open_groups(kmers: UInt32s, groups: UInt32s) -> None:
    """Initialise the groups in text order, so that groups of a line are neighbours."""
    group: Any = 0
    for i in range(kmers.shape[0]):
        size = kmers[i, GROUP]
        if size != ALONE:
            groups[group + SIZE], groups[group + CONTIG], groups[group + COLUMN] = size, 0, 0
            kmers[i, GROUP] = group
            group += MEMBERS + np.int64(size)


@jit
def fill_groups(keys: UInt64s, kmers: UInt32s, groups: UInt32s) -> None:
    """Write the group of each k-mer that occurs more than once, and each group's positions.

    The keys mark the end of a group: a loop over the group's size would wait for memory.
    """
    begin = 0
    for i in range(1, keys.size + 1):
        if i == keys.size or keys[i] >> np.uint64(32) != keys[begin] >> np.uint64(32):
            if i - begin > 1:
                group = kmers[np.int64(keys[begin] & RANK), GROUP]
                first = np.int64(group) + MEMBERS - begin
                for j in range(begin, i):
                    at = np.int64(keys[j] & RANK)
                    groups[first + j] = kmers[at, PLACE]
                    kmers[at, GROUP] = group
            begin = i


@jit
def rank_kmers(kmers: UInt32s, ranks: UInt32s) -> None:
    """Fill `ranks`: index of the first k-mer from each 64th byte on."""
    stretch = 0
    for i in range(kmers.shape[0]):
        while stretch <= kmers[i, PLACE] >> np.uint32(RANK_BITS + 1):
            ranks[stretch] = i
            stretch += 1
    ranks[stretch:] = kmers.shape[0]


@jit(inline=True, part=True, norefs=True)
def first_kmer(index: KmerIndex, begin: int) -> Any:
    """Return the index of the first k-mer at or after a byte of the text."""
    i = np.int64(index.ranks[begin >> RANK_BITS])
    while i < index.kmers.shape[0] and np.int64(index.kmers[i, PLACE] >> np.uint32(1)) < begin:
        i += 1
    return i
