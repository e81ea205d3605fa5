"""Gathers of items from anywhere in an array with one load per lane, for any processor.

`gather.py` has the single instructions of AVX-512. Gathers of AVX2 take longer than these loads
(Zen 3).
"""

from __future__ import annotations

from collections.abc import Iterator

from llvmlite import ir
from numba import types

from gangsaw.codecs.core.numba.jit import intrinsic
from gangsaw.codecs.core.numba.lowering import (
    Args,
    Builder,
    Context,
    Lowering,
    Signature,
    TypingContext,
    Value,
)
from gangsaw.codecs.core.numba.vectors.integers import Vector, element_pointer, lowered


@intrinsic
def load_items(typing_context: TypingContext, data: types.Array, index: Vector) -> Lowering:
    """Load data[i] for each lane i of a 32-bit index vector; data is 1-D and contiguous."""
    vector = Vector(index.lanes, data.dtype.bitwidth)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        items = ir.Constant(lowered(vector), ir.Undefined)
        for lane, pointer in enumerate(_pointers(context, builder, data, args, vector)):
            items = builder.insert_element(items, builder.load(pointer), ir.IntType(32)(lane))
        return items

    return vector(data, index), codegen


@intrinsic
def store_items(
    typing_context: TypingContext, data: types.Array, index: Vector, vector: Vector
) -> Lowering:
    """Store each lane to data[i], i the same lane of a 32-bit index; of equal i, the last wins."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        for lane, pointer in enumerate(_pointers(context, builder, data, args, vector)):
            builder.store(builder.extract_element(args[2], ir.IntType(32)(lane)), pointer)
        return context.get_dummy_value()

    return types.void(data, index, vector), codegen


@intrinsic
def add_items(
    typing_context: TypingContext, data: types.Array, index: Vector, vector: Vector
) -> Lowering:
    """Add each lane to data[i], i the same lane of an index; return the bitwise or of all sums.

    Lanes with the same index add up.
    """

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        joined = ir.IntType(32)(0)
        for lane, pointer in enumerate(_pointers(context, builder, data, args, vector)):
            item = builder.extract_element(args[2], ir.IntType(32)(lane))
            item = builder.add(builder.load(pointer), item)
            builder.store(item, pointer)
            joined = builder.or_(joined, item)
        return joined

    return types.uint32(data, index, vector), codegen


@intrinsic
def halve_items(
    typing_context: TypingContext,
    data: types.Array,
    index: Vector,
    full: types.Integer,
    rest: types.Integer,
    least: types.Integer,
) -> Lowering:
    """Halve the items data[index] that have a bit of `full`: x becomes x >> 1 & rest | least.

    It goes lane by lane, so an item that two lanes index is halved once. data is (n,) uint32.
    """

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        item = ir.IntType(32)
        full, rest, least = (builder.trunc(arg, item) for arg in args[2:])
        for pointer in _pointers(context, builder, data, args, Vector(index.lanes, 32)):
            x = builder.load(pointer)
            is_full = builder.icmp_unsigned("!=", builder.and_(x, full), item(0))
            half = builder.or_(builder.and_(builder.lshr(x, item(1)), rest), least)
            builder.store(builder.select(is_full, half, x), pointer)
        return context.get_dummy_value()

    return types.void(data, index, types.int64, types.int64, types.int64), codegen


def _pointers(
    context: Context, builder: Builder, data: types.Array, args: Args, vector: Vector
) -> Iterator[Value]:
    item = ir.IntType(vector.bits)
    for lane in range(vector.lanes):
        place = builder.extract_element(args[1], ir.IntType(32)(lane))
        place = builder.zext(place, ir.IntType(64))
        yield element_pointer(context, builder, data, args[0], place, item)
