"""Decoder of qualities on a GPU: shared data of its windows, in the layout of `decode.cu`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.entropy.rans_tables import TOTAL
from gangsaw.codecs.core.entropy.sparse_tables import SYMBOLS, decoder_tables
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.payload import BlockLanes
from gangsaw.codecs.reads.quality.coding import read_quality_head
from gangsaw.codecs.reads.quality.contexts import strides_of
from gangsaw.codecs.reads.quality.syntax import SYNTAX_TABLES
from gangsaw.codecs.reads.quality.tree import table_map
from gangsaw.codecs.reads.windows.gpu_text import LookedInto, TextDecoder

LOW, COUNT = 8, 20  # first bits of both in an entry, above the quality byte
Frequencies = npt.NDArray[np.uint16]


def _slots_of(frequencies: Frequencies) -> Text:
    """Return the quality value of each rANS slot, (n_tables * TOTAL,) uint8.

    Either all tables are present or none.
    """
    values = np.tile(np.arange(SYMBOLS, dtype=np.uint8), len(frequencies))
    slots = np.zeros(len(frequencies) * TOTAL, np.uint8)
    there = np.repeat(values, frequencies.reshape(-1))
    slots[: there.size] = there
    return slots


def _entries_of(frequencies: Frequencies, alphabet: Text, row_bits: int) -> npt.NDArray[np.uint32]:
    """Return the quality byte, first slot and frequency - 1 of each value, packed in 32 bits.

    The result is (n_tables << row_bits,).
    """
    wide = frequencies[:, : 1 << row_bits].astype(np.uint32)
    first = np.cumsum(wide, axis=1, dtype=np.uint32) - wide
    own = np.zeros(1 << row_bits, np.uint32)
    own[: alphabet.size] = alphabet
    entries = own | (first % TOTAL) << LOW | (wide - np.uint32(1)) % TOTAL << COUNT
    return entries.reshape(-1).astype(np.uint32, copy=False)


def _looked_into(payload: BlockLanes, pairs: bool) -> LookedInto:
    alphabet, components, tree, frequencies = read_quality_head(payload)
    syntax, of_values = frequencies[:SYNTAX_TABLES], frequencies[SYNTAX_TABLES:]
    row_bits = (components.befores - 1).bit_length()
    strides = (int(one) for one in strides_of(components))
    values = _slots_of(of_values), _entries_of(of_values, alphabet, row_bits)
    arrays = *decoder_tables(syntax), table_map(tree, components), *values
    return LookedInto((*strides, row_bits), arrays)


DECODER = TextDecoder(__package__, _looked_into)
