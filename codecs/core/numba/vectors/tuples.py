"""Tuples of vectors with unrolled operations, for prediction weights or matrix entries."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils

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
from gangsaw.codecs.core.numba.vectors.integers import Vector, element_pointer, lowered, splat


def _tuple_items(builder: Builder, tuple_type: types.BaseTuple, value: Value) -> list[Value]:
    items: list[Value] = cgutils.unpack_tuple(builder, value, tuple_type.count)
    return items


@intrinsic
def load_tuple(
    typing_context: TypingContext,
    data: types.Array,
    first: types.Integer,
    stride: types.Integer,
    count: types.BaseTuple,
    lanes: types.BaseTuple,
) -> Lowering:
    """Load a tuple of `count` vectors of `lanes` items, vector i from data[first + i * stride].

    count, lanes : `static`
    """
    vector = Vector(lanes.count, data.dtype.bitwidth)
    result = types.UniTuple(vector, count.count)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        array, index, step = args[:3]
        each = []
        for _ in range(count.count):
            pointer = element_pointer(context, builder, data, array, index, lowered(vector))
            each.append(builder.load(pointer, align=vector.bits // 8))
            index = builder.add(index, step)
        return context.make_tuple(builder, result, each)

    return result(data, types.int64, types.int64, count, lanes), codegen


@intrinsic
def store_tuple(
    typing_context: TypingContext,
    data: types.Array,
    first: types.Integer,
    stride: types.Integer,
    vectors: types.BaseTuple,
) -> Lowering:
    """Store the vectors of a tuple, vector i to data[first + i * stride], unrolled."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        array, index, step, value = args
        for item in _tuple_items(builder, vectors, value):
            pointer = element_pointer(context, builder, data, array, index, item.type)
            builder.store(item, pointer, align=vectors.dtype.bits // 8)
            index = builder.add(index, step)
        return context.get_dummy_value()

    return types.void(data, types.int64, types.int64, vectors), codegen


@intrinsic
def inner_product(
    typing_context: TypingContext, left: types.BaseTuple, right: types.BaseTuple, zero: Vector
) -> Lowering:
    """Return the sum of left[i] * right[i] over two tuples of vectors, starting from `zero`."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        pairs = zip(
            *(_tuple_items(builder, t, v) for t, v in zip((left, right), args[:2], strict=True)),
            strict=True,
        )
        total = args[2]
        for one, other in pairs:
            total = builder.add(total, builder.mul(one, other))
        return total

    return zero(left, right, zero), codegen


@intrinsic
def zeros_tuple(
    typing_context: TypingContext, data: types.Array, lanes: types.BaseTuple, count: types.BaseTuple
) -> Lowering:
    """Return a tuple of `count` (static) zero vectors, as wide as the items of `data`."""
    vector = Vector(lanes.count, data.dtype.bitwidth)
    result = types.UniTuple(vector, count.count)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return context.make_tuple(
            builder, result, [ir.Constant(lowered(vector), None)] * len(result)
        )

    return result(data, lanes, count), codegen


@intrinsic
def add_outer_product(
    typing_context: TypingContext,
    sums: types.BaseTuple,
    numbers: types.Array,
    first: types.Integer,
    vector: Vector,
) -> Lowering:
    """Return the tuple of vectors sums[i] + numbers[first + i] * vector, cut to their width."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        each, (_, data, index, factors) = [], args
        for total in _tuple_items(builder, sums, args[0]):
            item = ir.IntType(numbers.dtype.bitwidth)
            pointer = element_pointer(context, builder, numbers, data, index, item)
            number = splat(builder, vector, builder.load(pointer), numbers.dtype)
            each.append(builder.add(total, builder.mul(number, factors)))
            index = builder.add(index, index.type(1))
        return context.make_tuple(builder, sums, each)

    return sums(sums, numbers, types.int64, vector), codegen
