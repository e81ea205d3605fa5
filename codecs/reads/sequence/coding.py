"""Coding of the kind "sequence": reads as pieces of a consensus (SPEC.md, Sequences)."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Int64s
from gangsaw.codecs.core.entropy.rans_lanes import count_tokens, encoded_lanes
from gangsaw.codecs.core.entropy.sparse_tables import SYMBOLS, normalised
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.core.nucleotides.uracil import exchange, exchanged, has_uracil, holds_uracil
from gangsaw.codecs.reads.coding import of_lines
from gangsaw.codecs.reads.lines import SPAN, SPAN_BEGIN, SPAN_END, Lines, Text
from gangsaw.codecs.reads.payload import (
    BlockLanes,
    Coded,
    Head,
    check_spans,
    clear_rest,
    window_runs,
)
from gangsaw.codecs.reads.sequence.bases import read_only, to_base_codes
from gangsaw.codecs.reads.sequence.consensus import consensus_tokens, stored_consensus
from gangsaw.codecs.reads.sequence.decode import Windows, decode_windows
from gangsaw.codecs.reads.sequence.dictionary import (
    read_dictionary,
    stored_dictionary,
)
from gangsaw.codecs.reads.sequence.encode.block import block_of
from gangsaw.codecs.reads.sequence.encode.tokens import window_tokens
from gangsaw.codecs.reads.sequence.layout.layout import layout
from gangsaw.codecs.reads.sequence.layout.placed import Layout
from gangsaw.codecs.reads.sequence.layout.steady import are_sorted, steady_layout
from gangsaw.codecs.reads.sequence.syntax import EXCHANGED, N_TABLES, SORTED, STEADY

AT_ONCE = 1 << 20  # bytes of windows that a thread decodes per task


def encode_sequences(lines: Lines, pairs: bool) -> Coded | None:
    """Return the coded form of a block of reads; None if it has no bases."""
    if lines.starts.size == lines.text.size:
        return None
    if is_rna(lines.text):
        coded = encode_base_lines(lines._replace(text=exchanged(lines.text)), pairs)
        return coded._replace(flags=coded.flags | EXCHANGED)
    return encode_base_lines(lines, pairs)


def is_rna(text: Text) -> bool:
    """Return True if a text has more U than T; the first check is fast, as most have no U."""
    return holds_uracil(text) and has_uracil(text)


def encode_base_lines(lines: Lines, pairs: bool) -> Coded:
    """Return the coded form of a block of reads, without exchange of T and U."""
    codes = to_base_codes(lines.text)
    if are_sorted(lines, codes, pairs):
        return encode_layout(lines, codes, steady_layout(lines, codes), pairs)
    return encode_layout(lines, codes, layout(lines, codes[: lines.text.size]), pairs)


def encode_layout(lines: Lines, codes: Text, pieces: Layout, pairs: bool) -> Coded:
    """Return the coded form of a block of reads with a given layout.

    codes : (used + SPARE,) base codes of the text
    """
    block, hot = block_of(lines, codes, pieces, pairs)
    parts = list(window_tokens(block, lines.windows, lines.lane))
    slices, slice_ends = consensus_tokens(block.forward[: block.size] & np.uint8(3))
    counts = np.zeros((N_TABLES, SYMBOLS), np.int64)
    for tokens in (slices, *(part[0] for part in parts)):
        count_tokens(tokens.tables, tokens.symbols, counts)
    frequencies = normalised(counts)
    encoded = [encoded_lanes(tokens, ends, frequencies) for tokens, ends in parts]
    return Coded(
        SORTED | STEADY if block.is_sorted else 0,
        stored_dictionary(block.forward[: block.size], hot, frequencies),
        stored_consensus(slices, slice_ends, frequencies),
        np.concatenate([lanes for lanes, _ in encoded]),
        np.concatenate([sizes for _, sizes in encoded]),
    )


def decode_sequence_lanes(payload: BlockLanes, out: Text, pairs: bool) -> None:
    """Decode a block of reads; raise CorruptChunk if its lanes are invalid for such a block."""
    dictionary = read_dictionary(payload.rest, payload.shared, payload.head.used)
    spans = np.zeros((payload.n_windows, SPAN), np.int64)
    step = max(1, AT_ONCE // payload.lane)

    runs = window_runs(payload.there, step)

    def decode(run: int) -> None:
        own, text = runs[run], out[runs[run].start * payload.lane :]
        spans[own] = decode_windows(
            windows_of(payload, pairs, own.start, own.stop), dictionary, text
        )
        if payload.head.flags & EXCHANGED:
            exchange(text[text_of_spans(spans[own])])

    run_blocks(decode, len(runs))
    begins = np.arange(payload.n_windows) // step * step * payload.lane
    places = spans[:, [SPAN_BEGIN, SPAN_END]]
    spans[:, [SPAN_BEGIN, SPAN_END]] = np.where(places < 0, places, places + begins[:, None])
    check_spans(payload, spans)
    clear_rest(payload, out)


def windows_of(payload: BlockLanes, pairs: bool, first: int, last: int) -> Windows:
    """Return windows first to last - 1 of a block; raise CorruptChunk if its flags are unknown."""
    head = payload.head
    check_flags(head)
    return Windows(
        read_only(payload.data),
        payload.begins[first:last],
        payload.ends[first:last],
        first,
        payload.lane,
        head.used,
        head.is_open,
        bool(head.flags & SORTED),
        bool(head.flags & STEADY),
        pairs,
    )


def check_flags(head: Head) -> None:
    """Raise CorruptChunk if flags of a block are unknown."""
    if head.flags & ~(SORTED | EXCHANGED | STEADY) or head.flags & (SORTED | STEADY) == STEADY:
        raise CorruptChunk("its flags are unknown")


def text_of_spans(spans: Int64s) -> slice[int, int, None]:
    """Return the range of text that adjacent windows have filled."""
    filled = spans[spans[:, SPAN_BEGIN] >= 0]
    if not len(filled):
        return slice(0, 0)
    return slice(int(filled[:, SPAN_BEGIN].min()), int(filled[:, SPAN_END].max()))


SEQUENCE = of_lines(encode_sequences, decode_sequence_lanes)
