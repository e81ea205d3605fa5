"""Assembly of contigs by a walk: each k-mer of a piece leads to other pieces, which may join."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64, Int64s
from gangsaw.codecs.core.numba.bits import prefetch
from gangsaw.codecs.core.numba.items import put_items
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.sequence.layout.contig import (
    GONE,
    LEFT,
    MOST_BASES,
    PAD,
    RIGHT,
    Contig,
    Gains,
    add_votes,
    count_present_bases,
    score,
)
from gangsaw.codecs.reads.sequence.layout.index import (
    ALONE,
    COLUMN,
    CONTIG,
    GROUP,
    MEMBERS,
    PLACE,
    SIZE,
    KmerIndex,
    first_kmer,
)

FAILURE = np.uint32(1 << 29)  # count of a member's failures: in the bits above its position
MOST_FAILURES = np.uint32(4 << 29)
VISIT = 1 << 24  # count of a group's visits without a join: in the bits above its column
# visits of a group, and of its members, in vain before it is dropped
MOST_VISITS, MOST_LOOKS = 16, 4096
AHEAD = 8  # members whose bases are prefetched
STRETCH_BITS = 4  # log2 of the bases per item of `failed`


class Mapped(NamedTuple):
    """Pieces of lines that are placed in contigs, in order of placement.

    Attributes
    ----------
    begins, ends : (m,) int64, range of each piece in the text
    positions : (m,) int64, first column of each piece
    strands : (m,) uint8
    """

    begins: Int64s
    ends: Int64s
    positions: Int64s
    strands: npt.NDArray[np.uint8]


class Walk(NamedTuple):
    """State of the walk that assembles contigs from lines with common k-mers.

    Attributes
    ----------
    gains : gains and losses that decide where a piece is cut
    free_codes : (n + 2 PAD,) uint8, the text's codes, GONE outside lines and for placed ones; a
        piece is a run of others
    kmer_index : index of the text's k-mers
    contig : current contig
    mapped : pieces that are placed
    failed : (n / 16 + 1,) uint32, last round in which 16 bases were compared in vain
    """

    gains: Gains
    free_codes: npt.NDArray[np.uint8]
    kmer_index: KmerIndex
    contig: Contig
    mapped: Mapped
    failed: npt.NDArray[np.uint32]


def empty_mapped(n: int) -> Mapped:
    """Return uninitialised arrays for n pieces."""
    begins, ends, positions = (np.empty(n, np.int64) for _ in range(3))
    return Mapped(begins, ends, positions, np.empty(n, np.uint8))


def select_mapped(mapped: Mapped, which: slice | Int64s) -> Mapped:
    """Return some of the pieces, by slice or by their numbers."""
    begins, ends, positions, strands = mapped
    return Mapped(begins[which], ends[which], positions[which], strands[which])


@jit
def walk_contigs(state: Walk, out: Bytes) -> Any:
    """Place pieces in contigs; fill the consensus; return the numbers of pieces and of columns.

    A contig begins with the first piece in the text that has a k-mer in a group. It has two rounds:
    whole pieces join in the first, with an even number, and parts of pieces in the second.
    """
    index, n, columns, number = state.kmer_index, 0, 0, 0
    for kmer in range(index.kmers.shape[0]):
        if index.kmers[kmer, GROUP] != ALONE:
            place = np.int64(index.kmers[kmer, PLACE] >> np.uint32(1))
            if is_unplaced(state, place):
                number += 2
                first, n = n, grow(state, place, n, number)
                if n > first + 1:
                    columns = close(state, first, n, columns, out)
                else:
                    n = first
                clear_contig(state.contig)
    return n, columns


@jit(part=True, norefs=True)
def grow(state: Walk, place: Int64, n: int, number: int) -> Any:
    """Start a contig with the piece around a k-mer, and add pieces that overlap.

    Return the number of pieces placed in all contigs.

    place : position of the k-mer in the text
    n : pieces placed so far
    number : number of the current round
    """
    head, edges = n, state.contig.edges
    n = seed(state, place, n)
    right = left = edges[LEFT]
    number += not state.gains.whole_first
    while True:
        if right < edges[RIGHT]:
            n = ask_column(state, right, n, number)
            right += 1
        elif left > edges[LEFT]:
            left -= 1
            n = ask_column(state, left, n, number)
        elif number & 1 == 0:
            number += 1
            right = left = edges[LEFT]
        elif head < n:
            n = meet_groups(state, head, n, number)
            head += 1
        else:
            return n


@jit(inline=True, part=True, norefs=True)
def seed(state: Walk, place: Int64, n: int) -> Any:
    """Place the piece around a k-mer of the text in the middle of the contig's columns."""
    edges, at = state.contig.edges, PAD + place
    left = count_present_bases(state.free_codes, at - 1, -1, MOST_BASES // 2)
    length = left + count_present_bases(state.free_codes, at, 1, MOST_BASES // 2)
    begin = (state.contig.votes.size - length) // 2
    edges[LEFT], edges[RIGHT] = begin, begin
    return put_piece(state, place - left, 1, begin, begin + length, n)


@jit(inline=True, part=True, norefs=True)
def ask_column(state: Walk, column: Int64, n: int, number: int) -> Any:
    """Try to place pieces that share the k-mer of a column; return the number of pieces."""
    group = np.int64(state.contig.groups[column]) - 1
    return n if group < 0 else ask_group(state, group >> 1, column, group & 1, n, number)


@jit(inline=True, part=True, norefs=True)
def ask_group(state: Walk, group: Int64, column: Int64, reverse: Int64, n: int, number: int) -> Any:
    """Try to place pieces of a k-mer group, unless it is empty or was just tried.

    column, reverse : column of the k-mer, and 1 if its hash is of the reverse complement

    Return the number of pieces placed so far.
    """
    groups = state.kmer_index.groups
    has_been = groups[group + COLUMN] % VISIT == 2 * column + reverse
    if groups[group + SIZE] == 0 or (has_been and groups[group + CONTIG] == number):
        return n
    return join_group(state, group, column, reverse, n, number)


@jit(part=True, norefs=True)
def meet_groups(state: Walk, piece: int, n: int, number: int) -> Any:
    """Try to place pieces that share k-mers with a placed piece; return the number of pieces."""
    kmers, end = state.kmer_index.kmers, state.mapped.ends[piece] - state.kmer_index.k
    kmer = first_kmer(state.kmer_index, state.mapped.begins[piece])
    while kmer < kmers.shape[0] and np.int64(kmers[kmer, PLACE] >> np.uint32(1)) <= end:
        group = kmers[kmer, GROUP]
        if group != ALONE:
            column, reverse = column_of(state, piece, kmer)
            n = ask_group(state, np.int64(group), column, reverse, n, number)
        kmer += 1
    return n


@jit(part=True, norefs=True)
def show_groups(state: Walk, piece: int) -> None:
    """Write the groups of a placed piece's k-mers to the contig's columns."""
    kmers, end = state.kmer_index.kmers, state.mapped.ends[piece] - state.kmer_index.k
    kmer = first_kmer(state.kmer_index, state.mapped.begins[piece])
    while kmer < kmers.shape[0] and np.int64(kmers[kmer, PLACE] >> np.uint32(1)) <= end:
        group = kmers[kmer, GROUP]
        if group != ALONE:
            column, reverse = column_of(state, piece, kmer)
            if state.contig.groups[column] == 0:
                state.contig.groups[column] = 2 * np.int64(group) + reverse + 1
        kmer += 1


@jit(inline=True, part=True, norefs=True)
def column_of(state: Walk, piece: int, kmer: int) -> tuple[Any, Any]:
    """Return the column of a placed piece's k-mer, and 1 if its hash is of the other strand."""
    mapped, word = state.mapped, np.int64(state.kmer_index.kmers[kmer, PLACE])
    if mapped.strands[piece]:
        column = mapped.ends[piece] - (word >> 1) - state.kmer_index.k
        return mapped.positions[piece] + column, 1 - (word & 1)
    return mapped.positions[piece] + (word >> 1) - mapped.begins[piece], word & 1


@jit(part=True, norefs=True)
def join_group(
    state: Walk, group: Int64, column: Int64, reverse: Int64, n: int, number: int
) -> Any:
    """Place the pieces of a k-mer group that fit at a column; return the number of pieces."""
    groups, before = state.kmer_index.groups, n
    first = group + MEMBERS
    size: Any = np.int64(groups[group + SIZE])
    stay = first
    for i in range(first, first + size):
        prefetch(
            state.free_codes,
            PAD + (get_member_position(groups[min(i + AHEAD, first + size - 1)]) >> 1),
        )
        member = groups[i]
        place = get_member_position(member) >> 1
        if is_unplaced(state, place):
            n, member = try_member(state, member, column, reverse, n, number)
            if member < MOST_FAILURES and is_unplaced(state, place):
                groups[stay] = member
                stay += 1
    visits = np.int64(groups[group + COLUMN]) // VISIT + (8 * (n - before) < size)
    is_dead = visits > MOST_VISITS and visits * size > MOST_LOOKS
    groups[group + SIZE] = 0 if is_dead else stay - first
    groups[group + CONTIG] = number
    groups[group + COLUMN] = 2 * column + reverse + (visits if visits < 255 else 255) * VISIT
    return n


@jit(inline=True, part=True, norefs=True)
def try_member(
    state: Walk, member: np.uint32, column: Int64, reverse: Int64, n: int, number: int
) -> tuple[Any, Any]:
    """Place the piece of a group member if it fits; return the number of pieces and the member.

    It is tried at most once per round, and once in all rounds of whole pieces.
    """
    place = get_member_position(member)
    has_failed = state.failed[place >> STRETCH_BITS + 1] == number
    if has_failed or (number & 1 == 0 and member >= FAILURE):
        return n, member
    return fit_piece(state, place >> 1, place & 1 ^ reverse, column, n, number), member + FAILURE


@jit(inline=True, part=True, norefs=True)
def get_member_position(member: np.uint32) -> Any:
    """Return twice the position of a member, and 1 more for the hash of its complement."""
    return np.int64(member & (FAILURE - np.uint32(1)))


@jit(inline=True, part=True, norefs=True)
def is_unplaced(state: Walk, place: Int64) -> Any:
    """Return True if a k-mer is in one unplaced piece: placed ones are as long as a k-mer."""
    free_codes, first = state.free_codes, PAD + place
    return free_codes[first] != GONE and free_codes[first + state.kmer_index.k - 1] != GONE


@jit(inline=True, part=True, norefs=True)
def fit_piece(state: Walk, place: Int64, strand: Int64, column: Int64, n: int, number: int) -> Any:
    """Place the piece around a k-mer, or its part that saves bits; return the number of pieces.

    place : position of the k-mer in the text, which meets `column`
    """
    gains, contig, free_codes = state.gains, state.contig, state.free_codes
    step = 1 - 2 * strand
    at = PAD + place + (state.kmer_index.k - 1) * strand
    most = contig.edges[RIGHT] - column
    right, stop, has_right = score(gains, contig, free_codes, at, step, column, 1, most)
    most = column - contig.edges[LEFT]
    left, start, has_left = score(gains, contig, free_codes, at - step, step, column - 1, -1, most)
    clips = 2 - has_left - has_right
    if left + right - gains.clip * clips < gains.accept or (clips and number & 1 == 0):
        return record_failure(state, at - PAD, step, start, stop, n, number)
    stop += has_right * count_present_bases(free_codes, at + step * stop, step, MOST_BASES // 2)
    start += has_left * count_present_bases(
        free_codes, at - step * (start + 1), -step, MOST_BASES // 2
    )
    first, last = column - start, column + stop
    if first < 0 or last > contig.votes.size:
        return n
    return put_piece(state, at - step * start - PAD, step, first, last, n)


@jit(inline=True, part=True, norefs=True)
def record_failure(
    state: Walk, at: Int64, step: Int64, start: Int64, stop: Int64, n: int, number: int
) -> Any:
    """Record for this round that the bases around a position were compared in vain."""
    first, last = at - step * start, at + step * (max(1, stop) - 1)
    for stretch in range(min(first, last) >> STRETCH_BITS, (max(first, last) >> STRETCH_BITS) + 1):
        state.failed[stretch] = number
    return n


@jit(inline=True, part=True, norefs=True)
def put_piece(state: Walk, place: Int64, step: Int64, first: int, last: int, n: int) -> Any:
    """Place the bases from `place` on, in direction `step`, at columns [first, last)."""
    add_votes(state.contig, state.free_codes, PAD + place, step, first, last)
    mapped = state.mapped
    begin = place if step > 0 else place - (last - first - 1)
    mapped.begins[n], mapped.ends[n] = begin, begin + last - first
    mapped.positions[n], mapped.strands[n] = first, step < 0
    show_groups(state, n)
    return n + 1


@jit(part=True)
def close(state: Walk, first: int, n: int, columns: int, out: Bytes) -> Any:
    """Append the contig to the consensus; return the number of the consensus's columns.

    first, n : range of the contig's pieces
    columns : columns of the consensus before
    """
    left, right = state.contig.edges[LEFT], state.contig.edges[RIGHT]
    put_items(out, columns, state.contig.bases, PAD + left, PAD + right)
    for i in range(first, n):
        state.mapped.positions[i] += columns - left
    return columns + right - left


@jit(part=True)
def clear_contig(contig: Contig) -> None:
    """Reset the columns of a contig."""
    left, right = contig.edges[LEFT], contig.edges[RIGHT]
    contig.votes[left:right] = 0
    contig.bases[PAD + left : PAD + right] = 0
    contig.groups[left:right] = 0
