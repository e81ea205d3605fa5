"""Vectors of floats as values of Numba kernels, like those of integers in integers.py.

Each operation is rounded; none is contracted with another, so that a GPU gets the same bits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from llvmlite import ir
from numba import types
from numba.core.datamodel import DataModelManager
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from gangsaw.codecs.core.numba.jit import intrinsic
from gangsaw.codecs.core.numba.lowering import (
    Args,
    Builder,
    Context,
    Lowering,
    Signature,
    Type,
    TypingContext,
    Value,
)
from gangsaw.codecs.core.numba.vectors.integers import Mask, Vector, element_pointer


class Floats(types.Type):  # type: ignore[misc]  # Numba has no types
    """Numba type of a SIMD vector of `lanes` float32 or float64."""

    def __init__(self, lanes: int, bits: int = 32) -> None:
        self.lanes, self.bits = lanes, bits
        super().__init__(f"Floats({lanes}, {bits})")

    @property
    def number(self) -> types.Float:
        """Numba type of one float."""
        return types.Float(f"float{self.bits}")


@register_model(Floats)
class _FloatsModel(models.PrimitiveModel):  # type: ignore[misc]  # Numba has no types
    def __init__(self, manager: DataModelManager, floats: Floats) -> None:
        super().__init__(manager, floats, _lowered(floats))


def _lowered(floats: Floats) -> ir.VectorType:
    number = ir.FloatType() if floats.bits == 32 else ir.DoubleType()
    return ir.VectorType(number, floats.lanes)


def _splat(builder: Builder, floats: Floats, value: Value, value_type: Type) -> Value:
    if isinstance(value_type, Floats):
        return value
    empty = ir.Constant(_lowered(floats), ir.Undefined)
    one = builder.insert_element(empty, value, ir.IntType(32)(0))
    return builder.shuffle_vector(
        one, one, ir.Constant(ir.VectorType(ir.IntType(32), floats.lanes), None)
    )


def _floats_of(args: tuple[Type, ...]) -> Floats | None:
    """Return the vector type of mixed vectors and numbers of one float type, else None."""
    floats = {arg for arg in args if isinstance(arg, Floats)}
    others = {arg for arg in args if not isinstance(arg, Floats)}
    if len(floats) != 1 or not others <= {one.number for one in floats}:
        return None
    return floats.pop()


def _define(
    function: Callable[..., object],
    emit: Callable[..., Value],
    is_compare: bool = False,
) -> None:
    @infer_global(function)
    class _FloatTemplate(AbstractTemplate):  # type: ignore[misc]  # Numba has no types
        def generic(self, args: tuple[Type, ...], kws: dict[str, Type]) -> Signature | None:
            floats = _floats_of(args)
            if floats is None or len(args) != 2:
                return None
            return signature(Mask(floats.lanes) if is_compare else floats, *args)

    def lower(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        floats = next(arg for arg in sig.args if isinstance(arg, Floats))
        pairs = zip(args, sig.args, strict=True)
        return emit(builder, *(_splat(builder, floats, *pair) for pair in pairs))

    for pair in ((Floats, Floats), (Floats, types.Float), (types.Float, Floats)):
        lower_builtin(function, *pair)(lower)


for _function, _method in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define(_function, getattr(ir.IRBuilder, _method))

for _function, _symbol in ((operator.gt, ">"), (operator.eq, "==")):
    _define(
        _function, lambda b, x, y, symbol=_symbol: b.fcmp_ordered(symbol, x, y), is_compare=True
    )


@intrinsic
def load_floats(
    typing_context: TypingContext, data: types.Array, index: types.Integer, lanes: types.BaseTuple
) -> Lowering:
    """Return data[index:index + lanes] as a vector; data is 1-D contiguous, lanes a `static`."""
    floats = Floats(lanes.count, data.dtype.bitwidth)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        place = element_pointer(context, builder, data, args[0], args[1], _lowered(floats))
        return builder.load(place, align=floats.bits // 8)

    return floats(data, types.int64, lanes), codegen


@intrinsic
def store_floats(
    typing_context: TypingContext, data: types.Array, index: types.Integer, floats: Floats
) -> Lowering:
    """Write a vector to data[index:index + lanes]; data is 1-D float32, contiguous."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        place = element_pointer(context, builder, data, args[0], args[1], args[2].type)
        builder.store(args[2], place, align=4)
        return context.get_dummy_value()

    return types.void(data, types.int64, floats), codegen


@intrinsic
def choose_floats(
    typing_context: TypingContext,
    mask: Mask,
    left: Floats | types.Float,
    right: Floats | types.Float,
) -> Lowering:
    """Return `left` in lanes where the mask is true, else `right`; vectors or float32."""
    floats = _floats_of((left, right)) or Floats(mask.lanes)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        pairs = zip(args[1:], sig.args[1:], strict=True)
        return builder.select(args[0], *(_splat(builder, floats, *pair) for pair in pairs))

    return floats(mask, left, right), codegen


@intrinsic
def float_bits(typing_context: TypingContext, floats: Floats) -> Lowering:
    """Return the bit patterns of float32 lanes as a vector of 32-bit integers."""
    words = Vector(floats.lanes, 32)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return builder.bitcast(args[0], ir.VectorType(ir.IntType(32), floats.lanes))

    return words(floats), codegen


@intrinsic
def no_doubles(typing_context: TypingContext, lanes: types.BaseTuple) -> Lowering:
    """Return a vector of float64 zeros (+0); lanes is a `static`."""
    doubles = Floats(lanes.count, 64)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return ir.Constant(_lowered(doubles), None)

    return doubles(lanes), codegen


@intrinsic
def finite_doubles(typing_context: TypingContext, words: Vector) -> Lowering:
    """Convert bit patterns of floats, 32 or 64 bits wide, to float64; NaN and infinity become 0."""
    floats, doubles = Floats(words.lanes, words.bits), Floats(words.lanes, 64)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        values = builder.bitcast(args[0], _lowered(floats))
        finite = _are_finite(builder, values)
        values = builder.select(finite, values, ir.Constant(values.type, None))
        return values if words.bits == 64 else builder.fpext(values, _lowered(doubles))

    return doubles(words), codegen


@intrinsic
def rounded_words(typing_context: TypingContext, doubles: Floats, words: Vector) -> Lowering:
    """Round float64 to floats as wide as `words`; return their bit patterns, 0 unless finite."""
    floats = Floats(words.lanes, words.bits)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        values = args[0] if words.bits == 64 else builder.fptrunc(args[0], _lowered(floats))
        bits = builder.bitcast(values, args[1].type)
        return builder.select(_are_finite(builder, values), bits, ir.Constant(bits.type, None))

    return words(doubles, words), codegen


def _are_finite(builder: Builder, values: Value) -> Value:
    nothing = builder.fsub(values, values)
    return builder.fcmp_ordered("==", nothing, ir.Constant(values.type, None))
