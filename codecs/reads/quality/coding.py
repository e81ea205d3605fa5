"""Coding of the kind "quality": each value in a context of earlier values of its line."""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bools, Int64s
from gangsaw.codecs.core.entropy.sparse_tables import (
    decoder_tables,
    normalised,
    read_stored_tables,
    stored_tables,
)
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.core.numba.vectors.gather import HAS_GATHER
from gangsaw.codecs.core.numba.vectors.integers import static
from gangsaw.codecs.reads.coding import of_lines
from gangsaw.codecs.reads.lines import SPAN, Lines, Text
from gangsaw.codecs.reads.payload import BlockLanes, Coded, check_spans, clear_rest, window_runs
from gangsaw.codecs.reads.quality import decode, decode_wide
from gangsaw.codecs.reads.quality.choice.choose import chosen_tree, counts_of_tables
from gangsaw.codecs.reads.quality.choice.count import count_contexts
from gangsaw.codecs.reads.quality.contexts import Components, components_of, strides_of
from gangsaw.codecs.reads.quality.decode import DecoderModel, LaneSource
from gangsaw.codecs.reads.quality.encode import Entries, build_quality_entries, encoded_windows
from gangsaw.codecs.reads.quality.syntax import SYNTAX_TABLES
from gangsaw.codecs.reads.quality.tokens import (
    COPIES,
    VALUE_TOKENS,
    TokenModel,
    TokenRuns,
    allocate_runs,
    allocate_scratch,
    most_tables,
    table_counts,
    token_model,
    write_tokens,
)
from gangsaw.codecs.reads.quality.tree import Tree, read_tree, stored_tree, table_map
from gangsaw.codecs.reads.quality.values import (
    Values,
    find_alphabet,
    read_alphabet,
    store_alphabet,
    values_of,
)

# windows that a thread processes at a time: their bytes, and their least number
GROUP_BYTES, LEAST_GROUP = 1 << 21, 16
LEAST_WIDE = 8 if HAS_GATHER else 1 << 62  # least number of windows that are decoded in vectors


def encode_qualities(lines: Lines, pairs: bool) -> Coded | None:
    """Return the coded form of a block of qualities, None for an empty one.

    `pairs` has no effect.
    """
    if lines.text.size == 0:
        return None
    alphabet = find_alphabet(lines.text)
    values, components = values_of(alphabet), components_of(max(1, alphabet.size))
    tree, known = _chosen(lines, values, components)
    model = token_model(values, tree, components, is_counting=known is None)
    runs, token_counts = _tokens(lines, model)
    if known is not None:
        token_counts[VALUE_TOKENS:] = known[:, : model.n_values].ravel()
    frequencies = normalised(table_counts(token_counts, model.n_values))
    lanes, sizes = _encoded(lines, runs, build_quality_entries(frequencies, components.befores))
    head = np.concatenate((store_alphabet(alphabet), stored_tree(tree), stored_tables(frequencies)))
    return Coded(0, head, np.empty(0, np.uint8), lanes, sizes)


def _chosen(lines: Lines, values: Values, components: Components) -> tuple[Tree, Int64s | None]:
    """Return the context tree, and the (n_tables, n) counts of each table's values.

    The counts are None if only a sample of the windows was counted.
    """
    counts = count_contexts(lines, values, components)
    tree = chosen_tree(counts, components, most_tables(components))
    return tree, counts_of_tables(counts, tree) if counts.is_whole else None


def _groups(there: Bools, lane: int) -> list[slice[int, int, None]]:
    """Return runs of adjacent windows, each worth a thread and with enough lanes to interleave."""
    return window_runs(there, max(LEAST_GROUP, GROUP_BYTES // lane))


def _all(lines: Lines) -> Bools:
    return np.ones(lines.n_windows, bool)


def _tokens(lines: Lines, model: TokenModel) -> tuple[TokenRuns, Int64s]:
    """Return the coder tokens of all windows, and how often each token occurs."""
    groups, lock = _groups(_all(lines), lines.lane), Lock()
    runs, counts = allocate_runs(lines), np.zeros(model.n_tokens, np.int64)

    def write_group(i: int) -> None:
        scratch = allocate_scratch(model)
        write_tokens(lines, groups[i].start, groups[i].stop, model, scratch, runs)
        own = scratch.counts.reshape(COPIES, -1).sum(0, dtype=np.int64)
        with lock:
            counts[:] += own

    run_blocks(write_group, len(groups))
    return runs, counts


def _encoded(lines: Lines, runs: TokenRuns, entries: Entries) -> tuple[Text, Int64s]:
    """Return the rANS lanes of all windows, concatenated, and the bytes of each."""
    groups = _groups(_all(lines), lines.lane)
    parts, sizes = [np.empty(0, np.uint16)] * len(groups), np.zeros(lines.n_windows, np.int64)

    def encode_group(i: int) -> None:
        own = groups[i]
        some = TokenRuns(runs.tokens, runs.begins[own], runs.ends[own])
        parts[i], sizes[own] = encoded_windows(some, entries)

    run_blocks(encode_group, len(groups))
    words = np.concatenate(parts).astype("<u2", copy=False)
    return words.view(np.uint8), words.itemsize * sizes


def decode_quality_lanes(payload: BlockLanes, out: Text, pairs: bool) -> None:
    """Decode a block of qualities; raise CorruptChunk if its lanes are invalid for such a block."""
    head, lane, model = payload.head, payload.lane, read_quality_model(payload)
    data = np.concatenate((payload.data, np.zeros(decode.PAD, np.uint8)))
    data.flags.writeable = False  # like lanes of other payloads, so that kernels have one signature
    source = LaneSource(data, payload.begins, payload.ends, lane, head.used, head.is_open)
    spans = np.zeros((payload.n_windows, SPAN), np.int64)
    groups = _groups(payload.there, lane)
    wide = decode_wide.wide_model(model) if _are_many(payload) else None

    def decode_group(i: int) -> None:
        first, own = groups[i].start, spans[groups[i]]
        if wide is None:
            decode.decode_windows(source, model, first, own, out)
        else:
            decode_wide.decode_wide_windows(source, wide, first, own, out)

    run_blocks(decode_group, len(groups))
    check_spans(payload, spans)
    clear_rest(payload, out)


def _are_many(payload: BlockLanes) -> bool:
    """Return True if there are enough windows for the vector decoder, which needs more tables."""
    return int(np.count_nonzero(payload.there)) >= LEAST_WIDE


class QualityHead(NamedTuple):
    """Contents of lane 0 of a block of qualities.

    Attributes
    ----------
    alphabet : (A,) uint8 quality bytes, ascending
    components : number of values of each context component
    tree : tree that maps contexts to tables
    frequencies : (SYNTAX_TABLES + n_tables, 256) uint16; all tables of values are present if A > 0
    """

    alphabet: Text
    components: Components
    tree: Tree
    frequencies: npt.NDArray[np.uint16]


def read_quality_head(payload: BlockLanes) -> QualityHead:
    """Return the contents of lane 0 of a block; raise CorruptChunk if they are invalid."""
    if payload.head.flags or payload.shared.size:
        raise CorruptChunk("it has flags or a second lane")
    alphabet, rest = read_alphabet(payload.rest)
    components = components_of(max(1, alphabet.size))
    tree, rest = read_tree(rest, components)
    frequencies, rest = read_stored_tables(rest, SYNTAX_TABLES + tree.n_tables)
    of_values = frequencies[SYNTAX_TABLES:]
    if rest.size or of_values[:, alphabet.size :].any() or not _are_there(of_values, alphabet):
        raise CorruptChunk("its tables of values are wrong")
    if not alphabet.size and payload.head.n_lines != payload.head.used:
        raise CorruptChunk("it has no quality values, but lines that are not empty")
    return QualityHead(alphabet, components, tree, frequencies)


def read_quality_model(payload: BlockLanes) -> DecoderModel:
    """Return the decoder's model of a block; raise CorruptChunk if its header is invalid."""
    alphabet, components, tree, frequencies = read_quality_head(payload)
    of_values = frequencies[SYNTAX_TABLES:]
    lows = decode.lows_of(of_values, alphabet.size)
    return DecoderModel(
        decoder_tables(frequencies[:SYNTAX_TABLES]),
        strides_of(components),
        np.append(table_map(tree, components), np.zeros(2, np.uint16)),
        lows,
        static(lows.size // tree.n_tables),
        decode.pad_alphabet(alphabet),
        components.befores,
    )


def _are_there(frequencies: npt.NDArray[np.uint16], alphabet: Text) -> bool:
    return bool(frequencies.any(axis=1).all()) or alphabet.size == 0


QUALITY = of_lines(encode_qualities, decode_quality_lanes)
