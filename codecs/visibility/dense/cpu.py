"""Host coding of blocks of kind 3, `dense`, with predictions in time and frequency."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.host import BlockCoding
from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.entropy import rans_tables
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.per_thread import ThreadScratch
from gangsaw.codecs.visibility.arrays import Words
from gangsaw.codecs.visibility.dense.block import (
    MOST_BITS,
    NO_LIMIT,
    SPARE,
    DenseBlock,
    SeriesRow,
    make_scratch,
)
from gangsaw.codecs.visibility.dense.choice.choose import (
    choose_commonest,
    choose_predictors,
    choose_starts,
    start_steps,
)
from gangsaw.codecs.visibility.dense.choice.means import best_means, sampled_pieces
from gangsaw.codecs.visibility.dense.coding.decode import Bits, from_symbols
from gangsaw.codecs.visibility.dense.coding.encode import Strips, to_symbols
from gangsaw.codecs.visibility.dense.coding.stream import (
    SymbolCoder,
    Symbols,
    SymbolStream,
    push_symbols,
)
from gangsaw.codecs.visibility.dense.model.grid import (
    bits_table,
    choose_grid,
    grid_limits,
    grid_step,
)
from gangsaw.codecs.visibility.dense.model.head import (
    KIND,
    N_TABLES,
    WRONG_ENDS,
    BlockChoice,
    pack_tables,
    read_sections,
    write_head,
)
from gangsaw.codecs.visibility.dense.model.predict import (
    N_SLOTS,
    PLACES,
    WEIGHTS,
    Prediction,
    from_residuals,
    to_residuals,
)
from gangsaw.codecs.visibility.dense.model.scale import NEAR
from gangsaw.codecs.visibility.dense.model.values import MANTISSA
from gangsaw.codecs.visibility.lanes.table import LANES, Lanes, gather_block, scatter_block
from gangsaw.codecs.visibility.params import Params
from gangsaw.codecs.visibility.words import raw

__all__ = [
    "CODING", "KIND", "decode_dense", "decode_table", "decode_values", "encode_dense",
    "encode_table", "encode_values", "reused_table",
]  # fmt: skip


_per_thread = ThreadScratch()


def encode_dense(block: NumpyArray) -> Payload:
    """Encode a block as kind `dense`; return its payload with the kind byte, (n,) uint8.

    Parameters
    ----------
    block : (time, frequency, ...) of floats or complex numbers, any byte order and strides
    """
    table, lanes = reused_table(block)
    gather_block(block, lanes, table)
    return np.concatenate(encode_table(table, lanes))


def decode_dense(data: Payload, block: NumpyArray) -> None:
    """Fill a block (time, frequency, ...) of any byte order and strides from a payload.

    Raises
    ------
    CorruptChunk : the payload is not a block of this kind, shape and dtype
    """
    table, lanes = reused_table(block)
    decode_table(data, table, lanes)
    scatter_block(table, lanes, block)


def encode_block(block: NumpyArray, params: Params, buffer: Payload) -> Encoded:
    """Encode a block as kind `dense`; see `encode_dense`."""
    return Encoded((encode_dense(block),))


def decode_block(coded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Fill a block from a payload; see `decode_dense`."""
    decode_dense(coded.data, block)


CODING = BlockCoding(encode_block, decode_block, likely=raw.most_bytes)


def reused_table(block: NumpyArray) -> tuple[Words, Lanes]:
    """Return the table of a block's words, and its lanes.

    The table is in memory of this thread that the next call reuses.
    """
    lanes = Lanes.of_block(block)
    n = lanes.shape[0] * LANES
    words = _per_thread.array("table", n, f"u{block.itemsize // lanes.n_components}")
    return words[:n].reshape(lanes.shape), lanes


def encode_table(table: Words, lanes: Lanes, kind: int = KIND) -> tuple[Payload, ...]:
    """Encode a table of words, (n_strips * n_rows, 32) unsigned; return the payload's parts.

    The parts lie in memory of this thread that the next call reuses.

    kind : first byte of the payload
    """
    words = table.ravel()
    mantissa = MANTISSA[words.itemsize]
    grid = choose_grid(words[:: grid_step(words.size)].copy(), mantissa)
    bits_of = bits_table(grid, mantissa)
    commonest = choose_commonest(words, mantissa)
    predictors = choose_predictors(words, lanes, mantissa, bits_of, commonest)
    residuals = _residuals(words, lanes, predictors)
    starts = _starts(residuals, lanes, predictors, mantissa)
    choice = BlockChoice(NEAR, grid, starts, commonest, predictors)
    return encode_values(residuals, lanes, choice, kind)


def encode_values(
    values: Words, lanes: Lanes, choice: BlockChoice, kind: int
) -> tuple[Payload, ...]:
    """Encode words, residuals or integers, (n,) unsigned; return the parts of the payload.

    The parts lie in memory of this thread that the next call reuses.

    choice : encoder's choices, all but `means`
    """
    means = _choose_means(values, lanes, choice)
    return _coded(values, lanes, choice._replace(means=means), kind)


def _types(lanes: Lanes, choice: BlockChoice) -> npt.NDArray[np.uint8]:
    """Return 0 for lanes of words, another number for lanes of residuals and integers."""
    if not choice.has_integers:
        return choice.predictors
    types = np.zeros_like(choice.predictors)
    types[: lanes.n_series] = 1
    return types


def _residuals(words: Words, lanes: Lanes, predictors: npt.NDArray[np.uint8]) -> Words:
    """Return the words, with residuals in the lanes that have a predictor."""
    if not predictors.any():
        return words
    out = _per_thread.array("residuals", words.size, words.dtype.str[1:])[: words.size]
    to_residuals(_as_signed(out), _as_signed(words), _prediction(words, lanes, predictors))
    return out


def _prediction(words: Words, lanes: Lanes, predictors: npt.NDArray[np.uint8]) -> Prediction:
    """Return the arguments of the kernels that predict words."""
    wide = predictors.astype(f"i{words.itemsize}")
    laid, used = np.empty(N_SLOTS * LANES), np.empty(N_SLOTS, np.int64)
    n_rows, n_times = lanes.n_rows, lanes.n_times
    return Prediction(n_rows, n_times, wide, PLACES.ravel(), WEIGHTS.ravel(), laid, used)


def _starts(
    residuals: Words, lanes: Lanes, predictors: npt.NDArray[np.uint8], mantissa: int
) -> tuple[int, int]:
    """Return the median exponents of sampled words and residuals."""
    every_strip, every_row = start_steps(lanes)
    some = residuals.reshape(lanes.n_strips, lanes.n_rows, LANES)[::every_strip, ::every_row]
    of_strips = predictors.reshape(-1, LANES)[::every_strip]
    return choose_starts(some, of_strips, mantissa)


def _choose_means(residuals: Words, lanes: Lanes, choice: BlockChoice) -> int:
    """Choose the kind of mean (model/scale.py) by which a sample takes the fewest bits."""
    places, rows = sampled_pieces(lanes)
    block = _block(residuals, lanes, choice)._replace(n_rows=rows)
    counts = np.empty((N_TABLES, block.n_symbols), np.uint32)
    row_symbols, row_contexts = np.empty((2, 2 * LANES), np.uint8)
    strips = Strips(_as_signed(residuals), places, lanes.n_rows, _types(lanes, choice))
    symbols = Symbols(row_symbols, row_contexts, counts.ravel())
    kind: int = best_means(strips, block, make_scratch(rows, residuals), symbols, counts)
    return kind


def _output_buffers(n_values: int) -> tuple[Payload, Payload, Payload]:
    """Return buffers of this thread for symbols, contexts and bits of `n_values` values."""
    return (
        _per_thread.array("symbols", n_values + LANES, np.uint8),
        _per_thread.array("contexts", n_values + LANES, np.uint8),
        _per_thread.array("bits", n_values * (MOST_BITS + 7) // 8 + 8, np.uint8),
    )


def _block(words: Words, lanes: Lanes, choice: BlockChoice) -> DenseBlock:
    mantissa, width = MANTISSA[words.itemsize], 8 * words.itemsize
    bias, most = (1 << (width - 2 - mantissa)) - 1, (1 << (width - 1 - mantissa)) - 1
    floats = SeriesRow(choice.starts[0], bias, *grid_limits(choice.grid, mantissa), most)
    residuals = SeriesRow(choice.starts[1], 0, 0, 0, width, NO_LIMIT)
    return DenseBlock(
        lanes.n_rows,
        lanes.n_times,
        lanes.n_series,
        width,
        mantissa,
        choice.means,
        choice.grid.n_symbols,
        choice.commonest is not None,
        _signed(choice.commonest or 0, width),
        int(not choice.has_integers),
        np.array([floats, residuals]),
    )


def _signed(word: int, width: int) -> int:
    return word - (word >> (width - 1) << width)


def _as_signed(words: Words) -> Words:
    return words.view(f"i{words.itemsize}")


def _coded(residuals: Words, lanes: Lanes, choice: BlockChoice, kind: int) -> tuple[Payload, ...]:
    block, places = _block(residuals, lanes, choice), np.arange(lanes.n_strips) * lanes.n_rows
    counts = np.zeros((N_TABLES, block.n_symbols), np.uint32)
    symbols, contexts, bits = _output_buffers(residuals.size)
    coded = Symbols(symbols, contexts, counts.ravel())
    scratch = make_scratch(lanes.n_rows, residuals)
    strips = Strips(_as_signed(residuals), places, lanes.n_rows, _types(lanes, choice))
    n_symbols, n_bytes = to_symbols(strips, block, scratch, coded, bits)
    tables = pack_tables(counts, block.n_symbols)
    frequencies = np.empty(N_TABLES * rans_tables.STRIDE, np.uint32)
    rans_tables.build_encoder_table(counts, frequencies)
    states = np.full(LANES, rans_tables.LOWEST, np.uint32)
    stream = _per_thread.array("stream", n_symbols + 1, np.uint16)
    coder = SymbolCoder(frequencies, 1 / np.maximum(frequencies & 0xFFFF, 1), states)
    begin = push_symbols(coded, n_symbols, block, coder, stream)
    return (
        write_head(choice, lanes, residuals.itemsize, n_bytes, kind),
        tables,
        states.astype("<u4", copy=False).view(np.uint8),
        bits[:n_bytes],
        stream[begin:].astype("<u2", copy=False).view(np.uint8),
    )


def decode_table(data: Payload, table: Words, lanes: Lanes) -> None:
    """Decode a payload to a table of words.

    Raises
    ------
    CorruptChunk : the payload is not a block of these lanes
    """
    predictors = decode_values(data, table, lanes)
    if predictors.any():
        from_residuals(_as_signed(table.ravel()), _prediction(table.ravel(), lanes, predictors))


def decode_values(
    data: Payload, table: Words, lanes: Lanes, has_integers: bool = False
) -> npt.NDArray[np.uint8]:
    """Decode a payload to words, residuals or integers; return the predictors of its lanes.

    Raises
    ------
    CorruptChunk : the payload is not a block of these lanes
    """
    coded = read_sections(data, lanes, table.itemsize)
    choice = coded.choice._replace(has_integers=has_integers)
    slots = _per_thread.array("slots", N_TABLES * rans_tables.TOTAL, np.uint32)
    rans_tables.build_decoder_table(coded.counts, slots)
    states = np.frombuffer(data[coded.states : coded.bits].tobytes(), "<u4").astype(np.uint32)
    bits = Bits(_with_spare(data[coded.bits :], coded.n_bytes), 8 * coded.n_bytes)
    items = _per_thread.array("stream", coded.n_words + LANES, np.uint16)
    items[: coded.n_words] = np.frombuffer(data[coded.stream :], "<u2")
    items[coded.n_words : coded.n_words + LANES] = 0
    stream = SymbolStream(slots, states, items[: coded.n_words + LANES], coded.n_words)
    block, words = _block(table.ravel(), lanes, choice), _as_signed(table.ravel())
    read = _read_strips(words, lanes, block, _types(lanes, choice), stream, bits)
    if read != (coded.n_words, coded.n_bytes) or (states != rans_tables.LOWEST).any():
        raise CorruptChunk(WRONG_ENDS)
    return choice.predictors


def _with_spare(data: Payload, n_bytes: int) -> Payload:
    """Return data that may be read SPARE bytes past `n_bytes`: a view if it is long enough.

    The result is always read-only, so that kernels are compiled for one type.
    """
    part = np.ascontiguousarray(data).view()
    if part.size < n_bytes + SPARE:
        part = np.concatenate([part, np.zeros(SPARE, np.uint8)])
    part.flags.writeable = False
    return part


def _read_strips(
    words: Words,
    lanes: Lanes,
    block: DenseBlock,
    types: npt.NDArray[np.uint8],
    stream: SymbolStream,
    bits: Bits,
) -> tuple[int, int]:
    """Decode all strips; return the words read from the stream, and the bytes of bits."""
    scratch = make_scratch(lanes.n_rows, words)
    at, position = from_symbols(words, block, types, scratch, stream, bits)
    return int(at), int(position + 7) // 8
