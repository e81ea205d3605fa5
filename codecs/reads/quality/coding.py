"""The kind "quality": each value in a context of those before it in its line."""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.core.numba.simd import static
from gangsaw.codecs.reads.coding import of_lines
from gangsaw.codecs.reads.entropy.tables import (
    SYMBOLS,
    decoder_tables,
    normalised,
    read_stored_tables,
    stored_tables,
)
from gangsaw.codecs.reads.lines import Lines, Places, Text
from gangsaw.codecs.reads.payload import Coded, Payload, check_spans
from gangsaw.codecs.reads.quality import decode, encode
from gangsaw.codecs.reads.quality.choose import chosen_tree
from gangsaw.codecs.reads.quality.contexts import Components, components_of, strides_of
from gangsaw.codecs.reads.quality.count import count_contexts
from gangsaw.codecs.reads.quality.decode import Model, Source, decode_windows
from gangsaw.codecs.reads.quality.syntax import SYNTAX_TABLES, count_syntax
from gangsaw.codecs.reads.quality.tree import Tree, read_tree, stored_tree, table_map
from gangsaw.codecs.reads.quality.values import (
    letters_of,
    read_letters,
    stored_letters,
    values_of,
)

GROUP_BYTES, LEAST_GROUP = 1 << 21, 16  # of windows that a thread takes at once; least, windows


def encode_lines(lines: Lines, pairs: bool) -> Coded | None:
    """Return the coded form of a block, None of an empty one; mates make no difference."""
    if lines.text.size == 0:
        return None
    letters = letters_of(lines.text)
    values, components = values_of(letters), components_of(max(1, letters.size))
    tree = chosen_tree(count_contexts(lines, values, components), components)
    model = encode.EncoderModel(values, strides_of(components), table_map(tree, components))
    tables, counts = _assigned(lines, model, tree.n_tables)
    count_syntax(lines, counts)
    frequencies = normalised(counts)
    coder = encode.Coder(lines.text, tables, encode.entries_of(frequencies, letters))
    lanes, sizes = _encoded(lines, coder)
    head = np.concatenate((stored_letters(letters), stored_tree(tree), stored_tables(frequencies)))
    return Coded(0, head, np.empty(0, np.uint8), lanes, sizes)


def _groups(n_windows: int, lane: int) -> list[slice]:
    """Return runs of windows; each is worth a thread, and has some to read side by side."""
    step = max(LEAST_GROUP, GROUP_BYTES // lane)
    return [slice(i, min(i + step, n_windows)) for i in range(0, n_windows, step)]


def _assigned(
    lines: Lines, model: encode.EncoderModel, n_tables: int
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int64]]:
    """Return the table of each letter, and (SYNTAX_TABLES + n_tables, 256) counts of values."""
    groups, lock = _groups(lines.n_windows, lines.lane), Lock()
    tables = np.empty(lines.text.size, np.uint16)
    counts = np.zeros((SYNTAX_TABLES + n_tables, SYMBOLS), np.int64)

    def assign_group(i: int) -> None:
        own = np.zeros((n_tables, SYMBOLS), np.int64)
        encode.assign_tables(lines, groups[i].start, groups[i].stop, model, tables, own.reshape(-1))
        with lock:
            counts[SYNTAX_TABLES:] += own

    run_blocks(assign_group, len(groups))
    return tables, counts


def _encoded(lines: Lines, coder: encode.Coder) -> tuple[Text, Places]:
    """Return all lanes, and the bytes of each."""
    groups = _groups(lines.n_windows, lines.lane)
    parts, sizes = [np.empty(0, np.uint8)] * len(groups), np.zeros(lines.n_windows, np.int64)

    def encode_group(i: int) -> None:
        own = groups[i]
        parts[i], sizes[own] = encode.encoded_windows(lines, own.start, own.stop, coder)

    run_blocks(encode_group, len(groups))
    return np.concatenate(parts), sizes


def decode_lanes(payload: Payload, out: Text, pairs: bool) -> None:
    """Fill a block from its lanes; CorruptChunk where they are not those of such a block."""
    head, lane, model = payload.head, payload.lane, model_of(payload)
    source = Source(payload.data, payload.begins, payload.ends, lane, head.used, head.is_open)
    spans = np.zeros((payload.n_windows, 3), np.int64)
    groups = _groups(payload.n_windows, lane)

    def decode_group(i: int) -> None:
        decode_windows(source, model, groups[i].start, spans[groups[i]], out)

    run_blocks(decode_group, len(groups))
    check_spans(payload, spans)
    out[head.used :] = 0


class QualityHead(NamedTuple):
    """What lane 0 of a block says.

    Attributes
    ----------
    letters : (A,) uint8, ascending
    components : of contexts
    tree : of contexts
    frequencies : (SYNTAX_TABLES + n_tables, 256) uint16; of values all tables are there, if A > 0
    """

    letters: Text
    components: Components
    tree: Tree
    frequencies: npt.NDArray[np.uint16]


def head_of(payload: Payload) -> QualityHead:
    """Return what lane 0 of a block says; CorruptChunk where that is wrong."""
    if payload.head.flags or payload.shared.size:
        raise CorruptChunk("it has flags or a second lane")
    letters, rest = read_letters(payload.rest)
    components = components_of(max(1, letters.size))
    tree, rest = read_tree(rest, components)
    frequencies, rest = read_stored_tables(rest, SYNTAX_TABLES + tree.n_tables)
    of_values = frequencies[SYNTAX_TABLES:]
    if rest.size or of_values[:, letters.size :].any() or not _are_there(of_values, letters):
        raise CorruptChunk("its tables of values are wrong")
    if not letters.size and payload.head.n_lines != payload.head.used:
        raise CorruptChunk("it has lines of no letters that are not empty")
    return QualityHead(letters, components, tree, frequencies)


def model_of(payload: Payload) -> Model:
    """Return what the lanes of a block look into; CorruptChunk where that is wrong."""
    letters, components, tree, frequencies = head_of(payload)
    of_values = frequencies[SYNTAX_TABLES:]
    lows = decode.lows_of(of_values, letters.size)
    return Model(
        decoder_tables(frequencies[:SYNTAX_TABLES]),
        strides_of(components),
        table_map(tree, components),
        lows,
        static(lows.size // tree.n_tables),
        decode.padded_letters(letters),
    )


def _are_there(frequencies: npt.NDArray[np.uint16], letters: Text) -> bool:
    return bool(frequencies.any(axis=1).all()) or letters.size == 0


QUALITY = of_lines(encode_lines, decode_lanes)
