"""Vectors of integers as values of Numba kernels, with explicit lane count and width.

The auto-vectoriser keeps per-lane state (weights, accumulators, bit buffers) in memory and gives
up at data-dependent branches. A vector in a local variable stays in registers across the loop over
samples. LLVM legalises any lane count on any machine, so one source serves them all. Twice the
lanes of a register also hide the latency of a serial recurrence.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import DataModelManager
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from gangsaw.codecs.core.numba.bits import count_leading_zeros
from gangsaw.codecs.core.numba.jit import intrinsic
from gangsaw.codecs.core.numba.lowering import (
    Args,
    Builder,
    Context,
    LlvmType,
    Lowering,
    Signature,
    Type,
    TypingContext,
    Value,
)

Static: TypeAlias = tuple[None, ...]  # compile-time constant: the tuple's length


def static(number: int) -> Static:
    """Return `number` as a compile-time constant: kernels are specialised on a tuple's length.

    A Numba type for it would be clearer. But Numba's dispatcher determines the types of all
    arguments at each call, and is only fast for tuples.
    """
    return (None,) * number


class Vector(types.Type):  # type: ignore[misc]  # Numba has no types
    """Numba type of a SIMD vector of `lanes` two's complement integers of `bits` bits."""

    def __init__(self, lanes: int, bits: int) -> None:
        self.lanes, self.bits = lanes, bits
        super().__init__(f"Vector({lanes}, {bits})")


class Mask(types.Type):  # type: ignore[misc]  # Numba has no types
    """Numba type of a SIMD vector of one truth value per lane."""

    def __init__(self, lanes: int) -> None:
        self.lanes, self.bits = lanes, 1
        super().__init__(f"Mask({lanes})")


@register_model(Vector)
@register_model(Mask)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]  # Numba has no types
    def __init__(self, manager: DataModelManager, lanes_type: Vector | Mask) -> None:
        super().__init__(manager, lanes_type, lowered(lanes_type))


def lowered(vector: Vector | Mask) -> ir.VectorType:
    """Return the LLVM type of a vector or mask."""
    return ir.VectorType(ir.IntType(vector.bits), vector.lanes)


def splat(builder: Builder, vector: Vector, value: Value, value_type: Type) -> Value:
    """Emit the broadcast of an integer to every lane; return a vector unchanged."""
    if isinstance(value_type, Vector):
        return value
    element = ir.IntType(vector.bits)
    if value.type.width < vector.bits:
        value = (builder.sext if value_type.signed else builder.zext)(value, element)
    elif value.type.width > vector.bits:
        value = builder.trunc(value, element)
    one = builder.insert_element(
        ir.Constant(lowered(vector), ir.Undefined), value, ir.IntType(32)(0)
    )
    return builder.shuffle_vector(
        one, one, ir.Constant(ir.VectorType(ir.IntType(32), vector.lanes), None)
    )


def _vector_of(args: tuple[Type, ...]) -> Vector | None:
    """Return the vector type among arguments that are vectors or integers; None without one."""
    vectors = {arg for arg in args if isinstance(arg, Vector)}
    others = [arg for arg in args if not isinstance(arg, Vector | types.Integer)]
    return vectors.pop() if len(vectors) == 1 and not others else None


def _define_operator(
    function: Callable[..., object],
    emit: Callable[..., Value],
    is_compare: bool = False,
) -> None:
    @infer_global(function)
    class _VectorTemplate(AbstractTemplate):  # type: ignore[misc]  # Numba has no types
        def generic(self, args: tuple[Type, ...], kws: dict[str, Type]) -> Signature | None:
            vector = _vector_of(args)
            if vector is None or len(args) != 2:
                return None
            result = Mask(vector.lanes) if is_compare else vector
            return signature(result, *map(types.unliteral, args))

    def lower(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        vector = next(arg for arg in sig.args if isinstance(arg, Vector))
        left, right = (splat(builder, vector, *pair) for pair in zip(args, sig.args, strict=True))
        return emit(builder, left, right)

    for pair in ((Vector, Vector), (Vector, types.Integer), (types.Integer, Vector)):
        lower_builtin(function, *pair)(lower)


for _function, _method in (
    (operator.add, "add"),
    (operator.sub, "sub"),
    (operator.mul, "mul"),
    (operator.and_, "and_"),
    (operator.or_, "or_"),
    (operator.xor, "xor"),
    (operator.lshift, "shl"),
    (operator.rshift, "ashr"),
):
    _define_operator(_function, getattr(ir.IRBuilder, _method))

for _function, _symbol in ((operator.lt, "<"), (operator.gt, ">"), (operator.eq, "==")):
    _define_operator(
        _function, lambda b, x, y, symbol=_symbol: b.icmp_signed(symbol, x, y), is_compare=True
    )


def emit_call(builder: Builder, name: str, *args: Value) -> Value:
    """Emit a call of an LLVM intrinsic on vectors of one type."""
    lowered = args[0].type
    symbol = f"llvm.{name}.v{lowered.count}i{lowered.element.width}"
    function_type = ir.FunctionType(lowered, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, symbol), args)


def _extremum(name: str) -> Any:
    @intrinsic
    def extremum(
        typing_context: TypingContext, left: Vector | types.Integer, right: Vector | types.Integer
    ) -> Lowering | None:
        vector = _vector_of((left, right))
        if vector is None:
            return None

        def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
            pair = (splat(builder, vector, *p) for p in zip(args, sig.args, strict=True))
            return emit_call(builder, name, *pair)

        return vector(types.unliteral(left), types.unliteral(right)), codegen

    return extremum


minimum = _extremum("smin")
maximum = _extremum("smax")
unsigned_minimum = _extremum("umin")
unsigned_maximum = _extremum("umax")
# saturated: no sum exceeds the largest unsigned number, no difference is below 0
add_saturated = _extremum("uadd.sat")
subtract_saturated = _extremum("usub.sat")


def element_pointer(
    context: Context,
    builder: Builder,
    array_type: types.Array,
    array: Value,
    index: Value,
    lowered: LlvmType,
) -> Value:
    """Emit the address of array[index], contiguous and 1-D, as a pointer to an LLVM type."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), lowered.as_pointer())


@intrinsic
def load(
    typing_context: TypingContext, data: types.Array, index: types.Integer, lanes: types.BaseTuple
) -> Lowering:
    """Return data[index:index + lanes] as a vector; data is 1-D contiguous, lanes a `static`."""
    vector = Vector(lanes.count, data.dtype.bitwidth)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        pointer = element_pointer(context, builder, data, args[0], args[1], lowered(vector))
        return builder.load(pointer, align=vector.bits // 8)

    return vector(data, types.int64, lanes), codegen


@intrinsic
def store(
    typing_context: TypingContext, data: types.Array, index: types.Integer, vector: Vector
) -> Lowering:
    """Write a vector to data[index:index + lanes]; data is 1-D and contiguous."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        pointer = element_pointer(context, builder, data, args[0], args[1], lowered(vector))
        builder.store(args[2], pointer, align=vector.bits // 8)
        return context.get_dummy_value()

    return types.void(data, types.int64, vector), codegen


@intrinsic
def select(
    typing_context: TypingContext,
    mask: Mask,
    left: Vector | types.Integer,
    right: Vector | types.Integer,
) -> Lowering | None:
    """Return `left` in lanes where the mask is true, else `right`."""
    vector = _vector_of((left, right))
    if vector is None:
        return None

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        pair = (splat(builder, vector, *p) for p in zip(args[1:], sig.args[1:], strict=True))
        return builder.select(args[0], *pair)

    return vector(mask, types.unliteral(left), types.unliteral(right)), codegen


@intrinsic
def as_float_bits(typing_context: TypingContext, vector: Vector) -> Lowering:
    """Round every signed lane to a float of its width; return the bits of the floats."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        item = ir.DoubleType() if vector.bits == 64 else ir.FloatType()
        numbers = builder.sitofp(args[0], ir.VectorType(item, vector.lanes))
        return builder.bitcast(numbers, args[0].type)

    return vector(vector), codegen


@intrinsic
def any_lane(typing_context: TypingContext, mask: Mask) -> Lowering:
    """Return True if the mask is true in some lane."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        word = ir.IntType(mask.lanes)
        return builder.icmp_unsigned("!=", builder.bitcast(args[0], word), word(0))

    return types.boolean(mask), codegen


@intrinsic
def bits_of(typing_context: TypingContext, mask: Mask) -> Lowering:
    """Convert a mask of at most 64 lanes to a uint64: bit i is lane i."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        word = builder.bitcast(args[0], ir.IntType(mask.lanes))
        return builder.zext(word, ir.IntType(64)) if mask.lanes < 64 else word

    return types.uint64(mask), codegen


@intrinsic
def lane_leading_zeros(typing_context: TypingContext, vector: Vector) -> Lowering:
    """Return the number of leading zero bits of each lane; the width of the lane for zero."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return count_leading_zeros(builder, args[0])

    return vector(vector), codegen


@intrinsic
def widen(typing_context: TypingContext, vector: Vector) -> Lowering:
    """Zero-extend every lane to 64 bits."""
    wide = Vector(vector.lanes, 64)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return args[0] if vector.bits == 64 else builder.zext(args[0], lowered(wide))

    return wide(vector), codegen


@intrinsic
def resize_to(typing_context: TypingContext, vector: Vector, data: types.Array) -> Lowering:
    """Zero-extend or truncate every lane to the width of the items of `data`."""
    resized = Vector(vector.lanes, data.dtype.bitwidth)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        if resized.bits < vector.bits:
            return builder.trunc(args[0], lowered(resized))
        return args[0] if resized.bits == vector.bits else builder.zext(args[0], lowered(resized))

    return resized(vector, data), codegen


@intrinsic
def spread(
    typing_context: TypingContext, number: types.Integer, data: types.Array, lanes: types.BaseTuple
) -> Lowering:
    """Broadcast an integer to `lanes` (`static`) lanes as wide as the items of `data`."""
    vector = Vector(lanes.count, data.dtype.bitwidth)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return splat(builder, vector, args[0], sig.args[0])

    return vector(types.unliteral(number), data, lanes), codegen


@intrinsic
def to_next_lane(typing_context: TypingContext, vector: Vector) -> Lowering:
    """Move lane i to lane i + 1; the first one becomes 0, the last one is dropped."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        source = ir.VectorType(ir.IntType(32), vector.lanes)
        places = [vector.lanes, *range(vector.lanes - 1)]
        zero = ir.Constant(args[0].type, None)
        return builder.shuffle_vector(args[0], zero, ir.Constant(source, places))

    return vector(vector), codegen


@intrinsic
def store_lanes_be64(
    typing_context: TypingContext,
    data: types.Array,
    positions: types.Array,
    first: types.Integer,
    words: Vector,
) -> Lowering:
    """Write lane i of words to data[p:p + 8], p = positions[first + i], big-endian."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        array, offsets, start, vector = args
        swapped = emit_call(builder, "bswap", vector)
        for lane in range(words.lanes):
            index = builder.add(start, ir.IntType(64)(lane))
            place = element_pointer(context, builder, positions, offsets, index, ir.IntType(64))
            pointer = element_pointer(
                context, builder, data, array, builder.load(place), ir.IntType(64)
            )
            word = builder.extract_element(swapped, ir.IntType(32)(lane))
            builder.store(word, pointer, align=1)
        return context.get_dummy_value()

    return types.void(data, positions, types.int64, words), codegen


@intrinsic
def wrap(typing_context: TypingContext, vector: Vector, spare_bits: types.Integer) -> Lowering:
    """Sign-extend 64-bit lanes whose `spare_bits` top bits are unused; return others unchanged."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        if vector.bits == 32:
            return args[0]
        count = splat(builder, vector, args[1], types.int64)
        return builder.ashr(builder.shl(args[0], count), count)

    return vector(vector, types.int64), codegen


@intrinsic
def sign_mask(typing_context: TypingContext, vector: Vector) -> Lowering:
    """Return -1 in negative lanes, else 0."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return builder.ashr(args[0], args[0].type([vector.bits - 1] * vector.lanes))

    return vector(vector), codegen


@intrinsic
def value_of(typing_context: TypingContext, number: types.BaseTuple) -> Lowering:
    """Return the number of a `static` as a run-time integer."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return ir.IntType(64)(number.count)

    return types.int64(number), codegen
