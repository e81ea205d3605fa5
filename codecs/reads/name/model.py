"""Model of names: shared data of all windows, stored in lanes 0 and 1 (SPEC.md, Names)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64s
from gangsaw.codecs.core.entropy.gamma import SPARE, get_gamma, put_gamma
from gangsaw.codecs.core.entropy.sparse_tables import SYMBOLS, decoder_tables, read_stored_tables
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.name.contexts import TABLES_OF
from gangsaw.codecs.reads.name.decoder_state import NameModel
from gangsaw.codecs.reads.name.streams import ABSENT, MOST_TABLES, MOST_TOKENS, N_MODES, N_STREAMS
from gangsaw.codecs.reads.payload import BlockLanes

Modes = npt.NDArray[np.uint8]


def read_model(payload: BlockLanes) -> NameModel:
    """Return the decoder tables in lanes 0 and 1 of a block; raise CorruptChunk if invalid."""
    if payload.head.flags:
        raise CorruptChunk("its flags are unknown")
    modes, rest = read_modes(payload.rest)
    n_tables, base = first_tables(modes)
    if n_tables > MOST_TABLES:
        raise CorruptChunk(f"its head has {n_tables} tables")
    frequencies, rest = read_stored_tables(rest, n_tables)
    if rest.size:
        raise CorruptChunk("bytes follow its tables")
    none = np.zeros((1, SYMBOLS), np.uint16)
    base[modes == ABSENT] = n_tables
    template, cuts = read_template(payload.shared)
    return NameModel(
        decoder_tables(np.concatenate((frequencies, none))), modes, base, template, cuts
    )


def first_tables(modes: Modes) -> tuple[int, Int64s]:
    """Return the number of all tables for the streams' modes, and the first one of each stream."""
    sizes = TABLES_OF[modes]
    return int(sizes.sum()), np.cumsum(sizes) - sizes


def stored_modes(modes: Modes) -> Text:
    """Return the stored form of all streams' table modes."""
    out = np.zeros(modes.size + SPARE, np.uint8)
    return out[: int(write_modes(modes, out))]


@jit
def write_modes(modes: Modes, out: npt.NDArray[np.uint8]) -> int:
    """Write the table modes of all streams to zeroed bytes; return the number of bytes."""
    at = 0
    for mode in modes:
        at = put_gamma(out, at, np.int64(mode) + 1)
    return (at + 7) // 8


def read_modes(data: Text) -> tuple[Modes, Text]:
    """Return the table modes at the start of data, and the rest; raise CorruptChunk if invalid."""
    modes = np.zeros(N_STREAMS, np.uint8)
    size = int(fill_modes(np.concatenate((data, np.zeros(SPARE, np.uint8))), data.size, modes))
    if size < 0:
        raise CorruptChunk("its modes of names are wrong")
    return modes, data[size:]


@jit
def fill_modes(data: npt.NDArray[np.uint8], size: int, modes: Modes) -> int:
    """Read the table modes from padded bytes; return the bytes read, -1 if they are invalid."""
    at, stop = 0, 8 * size
    for i in range(modes.size):
        mode, at = get_gamma(data, at, stop)
        if at > stop or mode > N_MODES:
            return -1
        modes[i] = mode - 1
    return (at + 7) // 8


def stored_template(text: Text, cuts: Int64s) -> Text:
    """Return the stored form of the template, the line before each window's first one.

    cuts : (n_tokens + 1,) offsets of its tokens in `text`, and the end of the last one
    """
    sizes = np.diff(cuts).astype("<u2").view(np.uint8)
    n = np.array([cuts.size - 1], np.uint8)
    return np.concatenate((n, sizes, text[cuts[0] : cuts[-1]]))


def read_template(data: Text) -> tuple[Text, Int64s]:
    """Return the template line and its tokens' offsets; raise CorruptChunk if it is invalid."""
    n = int(data[0]) if data.size else MOST_TOKENS + 1
    if n > MOST_TOKENS or data.size < 1 + 2 * n:
        raise CorruptChunk("the line before its names is wrong")
    sizes = np.frombuffer(data[1 : 1 + 2 * n].tobytes(), "<u2")
    cuts = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    if data.size != 1 + 2 * n + cuts[-1]:
        raise CorruptChunk("the line before its names is wrong")
    return data[1 + 2 * n :].copy(), cuts
