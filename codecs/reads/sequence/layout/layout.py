"""Layout of a block: the bases that are copies of a consensus, and their positions in it.

It is the encoder's choice; any layout can be decoded. The search is that of greedy overlap
assemblers (J. R. Miller, S. Koren, G. Sutton, 2010, Genomics 95:315).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bools, Bytes, Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.lines import NEWLINE, Lines
from gangsaw.codecs.reads.sequence.layout.contig import GONE, PAD, Gains, empty_contig
from gangsaw.codecs.reads.sequence.layout.index import build_index
from gangsaw.codecs.reads.sequence.layout.joints import with_usual_joints
from gangsaw.codecs.reads.sequence.layout.placed import Layout
from gangsaw.codecs.reads.sequence.layout.walk import (
    STRETCH_BITS,
    Mapped,
    Walk,
    empty_mapped,
    select_mapped,
    walk_contigs,
)

K, K_OF_SHORT = 15, 14  # bases of a k-mer
LEAST_PIECE = 14  # bases: a k-mer of a piece that starts a contig, or the least gain of others
SHORT, LONG = 50, 500  # mean bases of lines
# costs of mismatches and cuts in practice: long reads have many small gaps, which need cuts
GAINS = Gains(19, 50, 200, 300, 900, True)
GAINS_OF_LONG = Gains(19, 72, 150, 300, 900, False)


def layout(lines: Lines, codes: npt.NDArray[np.uint8]) -> Layout:
    """Return the layout of a block of reads: a consensus, and lines as pieces of it or literals.

    Parameters
    ----------
    codes : (used,) uint8, 0..3 for A C G T, 4 for any other byte
    """
    n_bases = int((lines.ends - lines.starts).sum())
    mean = n_bases // (int(np.count_nonzero(lines.ends > lines.starts)) or 1)
    index = build_index(codes, K_OF_SHORT if mean < SHORT else K)
    free_codes = np.full(codes.size + 2 * PAD, GONE, np.uint8)
    free_codes[PAD:-PAD] = np.where(lines.text == NEWLINE, GONE, codes)
    mapped = empty_mapped(n_bases // LEAST_PIECE + 1)
    failed = np.zeros((free_codes.size >> STRETCH_BITS) + 1, np.uint32)
    gains = GAINS_OF_LONG if mean > LONG else GAINS
    out = np.empty(n_bases, np.uint8)
    state = Walk(gains, free_codes, index, empty_contig(n_bases), mapped, failed)
    n, columns = walk_contigs(state, out)
    found = order_pieces(lines, select_mapped(mapped, slice(n)), out[:columns])
    return with_usual_joints(found, lines, codes)


def order_pieces(lines: Lines, mapped: Mapped, consensus: npt.NDArray[np.uint8]) -> Layout:
    """Return the layout with these mapped pieces; the bases between them become literals."""
    mapped = select_mapped(mapped, np.argsort(mapped.begins))
    most = 2 * mapped.begins.size + int(np.count_nonzero(lines.ends > lines.starts))
    pieces = tuple(np.zeros(most, np.int64) for _ in range(4))
    strand, is_mapped = np.zeros(most, np.uint8), np.zeros(most, np.bool_)
    n = write_pieces(lines.starts, lines.ends, mapped, pieces, strand, is_mapped)
    line, begin, end, position = (field[:n] for field in pieces)
    return Layout(consensus, line, begin, end, position, strand[:n], is_mapped[:n])


@jit
def write_pieces(
    starts: Int64s,
    ends: Int64s,
    mapped: Mapped,
    pieces: tuple[Int64s, ...],
    strand: Bytes,
    is_mapped: Bools,
) -> int:
    """Write the pieces of all lines, literals between mapped ones too; return their number."""
    line, begin, end, position = pieces
    n, j = 0, 0
    for i in range(starts.size):
        at, start = starts[i], starts[i]
        while at < ends[i]:
            has = j < mapped.begins.size and mapped.begins[j] < ends[i]
            stop = mapped.begins[j] if has else ends[i]
            line[n], begin[n] = i, at - start
            if has and stop == at:
                stop = mapped.ends[j]
                position[n], strand[n], is_mapped[n] = mapped.positions[j], mapped.strands[j], True
                j += 1
            end[n] = stop - start
            at = stop
            n += 1
    return n
