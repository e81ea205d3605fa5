"""Vectors of bytes: look-ups in tables of 16, and packing of two bits each of four bytes.

One x86 instruction (SSSE3 on) looks up all lanes in a table in a register.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from gangsaw.codecs.core.numba.jit import intrinsic, shuffled_bytes
from gangsaw.codecs.core.numba.lowering import (
    Args,
    Builder,
    Context,
    Lowering,
    Signature,
    TypingContext,
    Value,
)
from gangsaw.codecs.core.numba.vectors.integers import Mask, Vector, lowered, splat, static

TABLE = 16
VECTOR_BYTES = shuffled_bytes() or TABLE  # bytes in a vector
OF_BYTES, OF_FOURTH = static(VECTOR_BYTES), static(VECTOR_BYTES // 4)

_PICKS = {16: "ssse3.pshuf.b.128", 32: "avx2.pshuf.b", 64: "avx512.pshuf.b.512"}


def split_table(items: bytes) -> tuple[np.uint64, np.uint64]:
    """Convert a table of 16 bytes for `look_up_bytes`: items 0 to 7 and 8 to 15 as uint64.

    The first item of each word is the lowest byte.
    """
    low, high = np.frombuffer(items, "<u8")
    return np.uint64(low), np.uint64(high)


@intrinsic
def look_up_bytes(
    typing_context: TypingContext, vector: Vector, low: types.Integer, high: types.Integer
) -> Lowering:
    """Look up each byte in a table of 16 by its lower half; bytes above 127 give 0.

    low, high : uint64 each, from `split_table`
    """

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        emit = _emit_look_up if shuffled_bytes() == vector.lanes else emit_plain_look_up
        return emit(builder, *args)

    return vector(vector, types.uint64, types.uint64), codegen


def _emit_look_up(builder: Builder, indices: Value, low: Value, high: Value) -> Value:
    items, lanes = _items(builder, low, high), indices.type.count
    places = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [*range(TABLE)] * (lanes // TABLE))
    items = builder.shuffle_vector(items, items, places)
    function_type = ir.FunctionType(indices.type, [indices.type, indices.type])
    function = cgutils.get_or_insert_function(
        builder.module, function_type, f"llvm.x86.{_PICKS[lanes]}"
    )
    return builder.call(function, [items, indices])


def emit_plain_look_up(builder: Builder, indices: Value, low: Value, high: Value) -> Value:
    """Emit the operation of `look_up_bytes` for processors without an instruction for it."""

    def same(value: int) -> Value:
        return ir.Constant(indices.type, [value] * indices.type.count)

    items = _items(builder, low, high)
    index, found = builder.and_(indices, same(0x8F)), same(0)
    for i in range(TABLE):
        item = builder.extract_element(items, ir.IntType(32)(i))
        one = builder.insert_element(same(0), item, ir.IntType(32)(0))
        where = ir.Constant(ir.VectorType(ir.IntType(32), indices.type.count), None)
        is_it = builder.icmp_unsigned("==", index, same(i))
        found = builder.select(is_it, builder.shuffle_vector(one, one, where), found)
    return found


def _items(builder: Builder, low: Value, high: Value) -> Value:
    """Emit the 16 bytes of a look-up table as a vector, from the two words of `split_table`."""
    words = ir.Constant(ir.VectorType(ir.IntType(64), 2), None)
    for i, word in enumerate((low, high)):
        words = builder.insert_element(words, word, ir.IntType(32)(i))
    return builder.bitcast(words, ir.VectorType(ir.IntType(8), TABLE))


@intrinsic
def join_fours(typing_context: TypingContext, vector: Vector) -> Lowering:
    """Pack bits 1 and 2 of each four bytes into one byte, those of the first byte highest."""
    joined = Vector(vector.lanes // 4, 8)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        def same(bits: int, value: int) -> Value:
            count = 8 * vector.lanes // bits
            return ir.Constant(ir.VectorType(ir.IntType(bits), count), [value] * count)

        pairs, fours = same(16, 0).type, same(32, 0).type
        bits = builder.bitcast(builder.and_(args[0], same(8, 6)), pairs)
        bits = builder.or_(builder.shl(bits, same(16, 2)), builder.lshr(bits, same(16, 8)))
        bits = builder.bitcast(bits, fours)
        bits = builder.or_(builder.shl(bits, same(32, 3)), builder.lshr(bits, same(32, 17)))
        return builder.trunc(bits, lowered(joined))

    return joined(vector), codegen


@intrinsic
def spread_fours(typing_context: TypingContext, vector: Vector) -> Lowering:
    """Unpack each byte to four: bits 6-7 to bits 2-3, 4-5 to 0-1, 2-3 to 2-3, 0-1 to 0-1.

    The other bits are 0.
    """
    spread_out = Vector(vector.lanes * 4, 8)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        n = vector.lanes
        high = builder.lshr(args[0], ir.Constant(args[0].type, [4] * n))
        places = [i + half for i in range(n) for half in (0, 0, n, n)]
        index = ir.Constant(ir.VectorType(ir.IntType(32), 4 * n), places)
        halves = builder.shuffle_vector(high, args[0], index)
        return builder.and_(halves, ir.Constant(lowered(spread_out), [12, 3] * (2 * n)))

    return spread_out(vector), codegen


@intrinsic
def first_lanes(
    typing_context: TypingContext, count: types.Integer, lanes: types.BaseTuple
) -> Lowering:
    """Return a mask that is true in the first `count` lanes, 0 to 127; lanes is a `static`."""
    vector = Vector(lanes.count, 8)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        numbers = ir.Constant(lowered(vector), [*range(lanes.count)])
        return builder.icmp_unsigned("<", numbers, splat(builder, vector, args[0], sig.args[0]))

    return Mask(lanes.count)(types.int64, lanes), codegen
