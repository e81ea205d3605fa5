"""Head of a `dense` payload: the encoder's choices."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.entropy import bit_fields, rans_tables
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility.dense.model.grid import EXPONENTS, RELATIVE, Grid
from gangsaw.codecs.visibility.dense.model.predict import PREDICTORS
from gangsaw.codecs.visibility.dense.model.scale import CONTEXTS, LEVEL
from gangsaw.codecs.visibility.dense.model.symbols import N_SYMBOLS
from gangsaw.codecs.visibility.dense.model.values import MANTISSA
from gangsaw.codecs.visibility.lanes.table import LANES, Lanes

KIND = 3
HEAD = struct.Struct("<BBBhhhBI")  # kind, means, grid, value, two starts, predictors, bytes of bits
HAS_COMMONEST, HAS_NEAR_GRID = 4, 8  # flags in the byte of the grid kind
N_TABLES = 2 * CONTEXTS
WRONG_ENDS = "its symbols and bits do not match the number of values"
STATE_BYTES = 4 * rans_tables.STATES
MOST_TABLE_BYTES = N_TABLES * (1 + N_SYMBOLS * (1 + rans_tables.PRECISION)) // 8 + 1


class BlockChoice(NamedTuple):
    """Encoder choices of a `dense` block, shared with its decoder.

    Attributes
    ----------
    means : kind of mean that predicts the size of values (model/scale.py)
    grid : set of values with short fractions
    starts : exponents of words and of residuals without a neighbour
    commonest : most frequent non-finite word; None without one
    predictors : (32 * n_strips,) uint8, predictor of each lane
    has_integers : True if all values are integers of a block of kind 5, with no words or residuals
    """

    means: int
    grid: Grid
    starts: tuple[int, int]
    commonest: int | None
    predictors: npt.NDArray[np.uint8]
    has_integers: bool = False


def write_head(
    choice: BlockChoice, lanes: Lanes, itemsize: int, n_bytes: int, block_kind: int = KIND
) -> Payload:
    """Return the head of a `dense` payload, (n,) uint8."""
    of_series = choice.predictors[: lanes.n_series]
    used = np.flatnonzero(np.bincount(of_series)).astype(np.uint8)  # np.unique is slow on few items
    width = int(len(used) - 1).bit_length()
    places = np.searchsorted(used, of_series)
    packed = bit_fields.packed(places, np.full(places.size, width))
    grid = choice.grid.kind | HAS_COMMONEST * (choice.commonest is not None)
    grid |= HAS_NEAR_GRID * choice.grid.has_near_grid
    head = HEAD.pack(
        block_kind, choice.means, grid, choice.grid.value, *choice.starts, len(used), n_bytes
    )
    if choice.commonest is not None:
        head += choice.commonest.to_bytes(itemsize, "little")
    return np.concatenate([np.frombuffer(head, np.uint8), used, packed])


def read_head(data: Payload, lanes: Lanes, itemsize: int) -> tuple[BlockChoice, int, int]:
    """Return choices, bytes of bits and the tables' offset in a payload; raise CorruptChunk.

    CorruptChunk means that the head is invalid for these lanes.
    """
    if data.size < HEAD.size:
        raise CorruptChunk(f"{data.size} bytes are too few for a dense block")
    _, means, grid, value, first, second, n_used, n_bytes = HEAD.unpack_from(
        data[: HEAD.size].tobytes()
    )
    width, at = max(0, n_used - 1).bit_length(), HEAD.size
    n_word = itemsize if grid & HAS_COMMONEST else 0
    end = at + n_word + n_used + (width * lanes.n_series + 7) // 8
    mantissa = MANTISSA[itemsize]
    kind, has_near_grid = grid & 3, bool(grid & HAS_NEAR_GRID)
    legal = (
        means <= LEVEL
        and kind < 3
        and grid < 16
        and kind >= has_near_grid
        and 0 < n_used <= len(PREDICTORS)
    )
    legal &= abs(value) < EXPONENTS and (kind != RELATIVE or 0 <= value <= mantissa)
    legal &= max(abs(first), abs(second)) < EXPONENTS and end <= data.size
    if not legal:
        raise CorruptChunk("its head is not that of a dense block")
    commonest = int.from_bytes(data[at : at + n_word].tobytes(), "little") if n_word else None
    used = data[at + n_word : at + n_word + n_used]
    predictors = np.zeros(lanes.n_strips * LANES, np.uint8)
    known = used.max() < (len(PREDICTORS) if itemsize > 2 else 1)
    places = bit_fields.fixed(data[at + n_word + n_used : end], width, lanes.n_series)
    if not known or (places >= n_used).any():
        raise CorruptChunk("a series names a predictor that there is not")
    predictors[: lanes.n_series] = used[places]
    return (
        BlockChoice(
            means, Grid(kind, value, has_near_grid), (first, second), commonest, predictors
        ),
        n_bytes,
        end,
    )


def pack_tables(counts: npt.NDArray[np.uint32], n_symbols: int) -> Payload:
    """Scale symbol counts in place to the frequencies of a payload; return these as packed tables.

    n_symbols : symbols of the block; all others have count 0
    """
    rans_tables.normalise(counts)
    tables = np.zeros(counts.size * 2 + 16, np.uint8)
    return tables[: rans_tables.write_tables(counts, n_symbols, tables)]


class Sections(NamedTuple):
    """Parsed and checked sections of a `dense` payload.

    Attributes
    ----------
    counts : (N_TABLES, choice.grid.n_symbols) uint32, frequencies of symbols
    states, bits, stream : byte offsets of the sections
    n_bytes, n_words : bytes of the bits, uint16 words of the stream
    """

    choice: BlockChoice
    counts: npt.NDArray[np.uint32]
    states: int
    bits: int
    n_bytes: int
    stream: int
    n_words: int


# fills counts from padded bytes, like `rans.read_tables`
TableReader: TypeAlias = Callable[[Payload, int, npt.NDArray[np.uint32]], int]


def read_sections(
    data: Payload, lanes: Lanes, itemsize: int, read_tables: TableReader = rans_tables.read_tables
) -> Sections:
    """Parse a `dense` payload; raise CorruptChunk if it does not fit these lanes."""
    choice, n_bytes, at = read_head(data, lanes, itemsize)
    counts = np.zeros((N_TABLES, choice.grid.n_symbols), np.uint32)
    tables = np.concatenate([data[at : at + MOST_TABLE_BYTES], np.zeros(16, np.uint8)])
    size = read_tables(tables, data.size - at, counts)
    states, bits = at + size, at + size + STATE_BYTES
    stream = bits + n_bytes
    left = data.size - stream
    if size < 0 or left < 0 or left % 2:
        raise CorruptChunk("its tables of symbols, or the lengths after them, are wrong")
    return Sections(choice, counts, states, bits, n_bytes, stream, left // 2)
