"""Copies of tiles of samples between memory layouts, inside Numba kernels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils

from gangsaw.codecs.core.memory.aligned import LINE
from gangsaw.codecs.core.numba.bits import ItemPointer, ahead
from gangsaw.codecs.core.numba.jit import intrinsic, jit
from gangsaw.codecs.core.numba.lowering import (
    Args,
    Builder,
    Context,
    Lowering,
    Signature,
    TypingContext,
    Value,
)
from gangsaw.codecs.core.numba.vectors.integers import (
    Static,
    element_pointer,
    emit_call,
    load,
    static,
    store,
)

NO, YES = static(0), static(1)
OF_2, OF_4, OF_8, OF_16, OF_32, OF_64 = (static(n) for n in (2, 4, 8, 16, 32, 64))


def _shuffled(builder: Builder, left: Value, right: Value, lanes: list[int]) -> Value:
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)
    return builder.shuffle_vector(left, right, mask)


def _transposed(builder: Builder, rows: list[Value]) -> list[Value]:
    """Emit the transposition of n vectors of n lanes: log2(n) rounds of perfect shuffles."""
    n = len(rows)
    low = [lane // 2 + n * (lane % 2) for lane in range(n)]
    high = [lane + n // 2 for lane in low]
    for _ in range(n.bit_length() - 1):
        pairs = zip(rows[: n // 2], rows[n // 2 :], strict=True)
        rows = [_shuffled(builder, *pair, half) for pair in pairs for half in (low, high)]
    return rows


@intrinsic
def transpose_tile(
    typing_context: TypingContext,
    target: types.CPointer,
    target_row: types.Integer,
    source: types.CPointer,
    source_row: types.Integer,
) -> Lowering:
    """Transpose 16 x 16 items from `source` to `target`, whose rows are some items apart.

    source_row, target_row : items between the starts of two rows
    """
    n = 16
    vector = ir.VectorType(ir.IntType(source.dtype.bitwidth), n)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        def row(base: Value, stride: Value, i: int) -> Value:
            place = builder.gep(base, [builder.mul(stride, stride.type(i))])
            return builder.bitcast(place, vector.as_pointer())

        align = source.dtype.bitwidth // 8
        to, to_row, at, at_row = args
        rows = [builder.load(row(at, at_row, i), align=align) for i in range(n)]
        for i, value in enumerate(_transposed(builder, rows)):
            builder.store(value, row(to, to_row, i), align=align)
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64), codegen


@intrinsic
def move_tile(
    typing_context: TypingContext,
    words: types.CPointer,
    odd: types.Integer,
    pair: types.Integer,
    base: types.Integer,
    rows: types.CPointer,
    side: types.BaseTuple,
    back: types.BaseTuple,
) -> Lowering:
    """Transpose a square of items between rows anywhere in memory and a table of words, either way.

    Item j of word k in the table is word k of row j.

    Parameters
    ----------
    words : pointer to the table; its item is words[(k % 2) * odd + (k // 2) * pair + j]
    base, rows : row j begins at the byte address base + rows[j]; rows is a pointer to int64
    side : `static`, number of items along a side of the square
    back : `static`, 1 to write the rows, 0 to write the table
    """

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        tile = _Tile(builder, words.dtype, side.count, args)
        load, store = (tile.item, tile.row) if back.count else (tile.row, tile.item)
        values = [builder.load(load(i), align=1) for i in range(side.count)]
        for i, value in enumerate(_transposed(builder, values)):
            builder.store(value, store(i), align=1)
        return context.get_dummy_value()

    number = types.int64
    return types.void(words, number, number, number, rows, side, back), codegen


class _Tile:
    """Pointers to the rows and words that `move_tile` loads and stores."""

    def __init__(self, builder: Builder, word: types.Integer, side: int, args: Args) -> None:
        self.builder = builder
        self.words, self.odd, self.pair, self.base, self.rows = args[:5]
        self.vector = ir.VectorType(ir.IntType(word.bitwidth), side).as_pointer()

    def item(self, k: int) -> Value:
        """Emit the pointer to the items of word k."""
        builder, number = self.builder, self.odd.type
        index = builder.mul(self.pair, number(k // 2))
        index = builder.add(index, self.odd) if k % 2 else index
        return builder.bitcast(builder.gep(self.words, [index]), self.vector)

    def row(self, j: int) -> Value:
        """Emit the pointer to row j."""
        builder, number = self.builder, self.base.type
        offset = builder.load(builder.gep(self.rows, [number(j)]))
        return builder.inttoptr(builder.add(self.base, offset), self.vector)


@intrinsic
def fetch_line(typing_context: TypingContext, place: types.Integer) -> Lowering:
    """Prefetch the cache line at an address for writing; the address may be invalid.

    It is for writes that are far apart; for reads it gained nothing.
    """

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        pointer = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        _prefetch(builder, pointer, is_written=True)
        return context.get_dummy_value()

    return types.void(types.int64), codegen


@intrinsic
def _copy_piece(
    typing_context: TypingContext,
    words: types.CPointer,
    at: types.Integer,
    place: types.Integer,
    size: types.BaseTuple,
    back: types.BaseTuple,
) -> Lowering:
    """Copy `size` bytes from address `place` to `at` bytes after a pointer, or back.

    size, back : `static`; back is 1 to write to the address
    """
    piece = ir.VectorType(ir.IntType(8), size.count)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        octets = builder.bitcast(args[0], ir.IntType(8).as_pointer())
        ours = builder.bitcast(builder.gep(octets, [args[1]]), piece.as_pointer())
        theirs = builder.inttoptr(args[2], piece.as_pointer())
        source, target = (ours, theirs) if back.count else (theirs, ours)
        builder.store(builder.load(source, align=1), target, align=1)
        return context.get_dummy_value()

    return types.void(words, types.int64, types.int64, size, back), codegen


@jit(inline=True, part=True, norefs=True)
def copy_column(
    words: ItemPointer[int], step: int, place: int, next_place: int, n: int, size: int, back: Static
) -> None:
    """Copy n pieces of equal size between equidistant addresses and a table of words, either way.

    Parameters
    ----------
    words, step : pointer to the first piece in the table, and words from there to the next
    place, next_place : address of the first piece, aligned or not, and bytes from there to the next
    back : `static`, 1 to write to the addresses
    """
    if size >= LINE:
        for i in range(n):
            for at in range(0, size, LINE):
                _copy_piece(ahead(words, i * step), at, place + i * next_place + at, OF_64, back)
    elif size == 32:
        _copy_pieces(words, step, place, next_place, n, OF_32, back)
    elif size == 16:
        _copy_pieces(words, step, place, next_place, n, OF_16, back)
    elif size == 8:
        _copy_pieces(words, step, place, next_place, n, OF_8, back)
    elif size == 4:
        _copy_pieces(words, step, place, next_place, n, OF_4, back)
    else:
        _copy_pieces(words, step, place, next_place, n, OF_2, back)


@jit(inline=True, part=True, norefs=True)
def _copy_pieces(
    words: ItemPointer[int],
    step: int,
    place: int,
    next_place: int,
    n: int,
    size: Static,
    back: Static,
) -> None:
    for i in range(n):
        _copy_piece(ahead(words, i * step), 0, place + i * next_place, size, back)


def _converted(builder: Builder, vector: Value, source: types.Integer, width: int) -> Value:
    lowered = ir.VectorType(ir.IntType(width), vector.type.count)
    if source.bitwidth > width:
        return builder.trunc(vector, lowered)
    if source.bitwidth == width:
        return vector
    return (builder.sext if source.signed else builder.zext)(vector, lowered)


def _prefetch(builder: Builder, pointer: Value, is_written: bool = False) -> None:
    number = ir.IntType(32)
    address = builder.bitcast(pointer, ir.IntType(8).as_pointer())
    function_type = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
    function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
    # high locality, data cache
    builder.call(function, [address, number(int(is_written)), number(3), number(1)])


def _item_vector(
    context: Context,
    builder: Builder,
    array_type: types.Array,
    array: Value,
    place: tuple[Value, Value, Value],
    lanes: int,
) -> Value:
    """Load `lanes` items that follow array[z, y, x] in memory, with it, as a vector.

    The same items in row y + 1 are prefetched. Rows of a block are too short, and those of other
    bands too far apart, for the hardware to predict them.
    """
    described = context.make_array(array_type)(context, builder, array)
    pointer = cgutils.get_item_pointer(context, builder, array_type, described, place)
    next_row = cgutils.unpack_tuple(builder, described.strides, array_type.ndim)[1]
    _prefetch(builder, cgutils.pointer_add(builder, pointer, next_row))
    lowered = ir.VectorType(ir.IntType(array_type.dtype.bitwidth), lanes)
    vector = builder.load(builder.bitcast(pointer, lowered.as_pointer()))
    vector.align = array_type.dtype.bitwidth // 8
    return vector


def _widened(
    builder: Builder, dtype: types.Integer, extremes: list[Value], vectors: list[Value]
) -> tuple[Value, Value]:
    kind = "s" if dtype.signed else "u"
    low, high = extremes
    for vector in vectors:
        low = emit_call(builder, f"{kind}min", low, vector)
        high = emit_call(builder, f"{kind}max", high, vector)
    return low, high


Tile = tuple[tuple[None, ...], tuple[None, ...]]  # lanes and rows, both `static`


@intrinsic
def copy_items(
    typing_context: TypingContext,
    array: types.Array,
    place: types.BaseTuple,
    out: types.Array,
    steps: types.BaseTuple,
    extremes: types.BaseTuple,
    tile: types.Tuple,
) -> Lowering:
    """Copy a vector or square tile of samples of array (z, y, x) to `out`, and update extremes.

    Items are converted to the dtype of `out`.

    Parameters
    ----------
    place : (z, y, x) of the first item
    steps : (first, step), indices in `out`. With a square tile, items are transposed: lane i of
        out[first + j * step] is array[z + i, y, x + j]; items along x are adjacent in memory. With
        one row, lane i of out[first] is array[z + i, y, x]; items along z are adjacent.
    extremes : (min, max) vectors so far; the result includes these items
    tile : lanes and rows, both `static`
    """
    n, n_rows = (side.count for side in tile.types)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        source, at, target, to, ends = args[:5]
        z0, y0, x0 = cgutils.unpack_tuple(builder, at, 3)
        index, stride = cgutils.unpack_tuple(builder, to, 2)
        bands = [builder.add(z0, z0.type(i)) for i in range(n_rows)]
        vectors = [
            _item_vector(context, builder, array, source, (band, y0, x0), n) for band in bands
        ]
        ends = _widened(builder, array.dtype, cgutils.unpack_tuple(builder, ends, 2), vectors)
        width = out.dtype.bitwidth
        vectors = [_converted(builder, vector, array.dtype, width) for vector in vectors]
        for vector in _transposed(builder, vectors) if n_rows > 1 else vectors:
            pointer = element_pointer(context, builder, out, target, index, vector.type)
            builder.store(vector, pointer, align=width // 8)
            index = builder.add(index, stride)
        return context.make_tuple(builder, extremes, ends)

    places = (types.UniTuple(types.int64, n) for n in (3, 2))
    return extremes(array, next(places), out, next(places), extremes, tile), codegen


@jit(inline=True, part=True, norefs=True)
def copy_tail(data: npt.NDArray[np.uint8], begin: int, out: npt.NDArray[np.uint8]) -> None:
    """Copy data[begin:] to `out` in vectors.

    Bytes that were stored one by one are slow to load together.
    """
    size = data.size - begin
    for i in range(0, size - LINE + 1, LINE):
        store(out, i, load(data, begin + i, OF_64))
    for i in range(size // LINE * LINE, size):
        out[i] = data[begin + i]
