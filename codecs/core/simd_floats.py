"""Vectors of float32 as values of Numba kernels, beside the vectors of integers in simd.py.

Each operation is rounded; none is contracted with another, so that a GPU gets the same bits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from gangsaw.codecs.core.jit import intrinsic
from gangsaw.codecs.core.simd import Mask, Vector, element_pointer


class Floats(types.Type):  # type: ignore[misc]  # Numba has no types
    """Numba type of `lanes` float32."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        super().__init__(f"Floats({lanes})")


@register_model(Floats)
class _FloatsModel(models.PrimitiveModel):  # type: ignore[misc]  # Numba has no types
    def __init__(self, manager: Any, floats: Any) -> None:
        super().__init__(manager, floats, _lowered(floats))


def _lowered(floats: Any) -> ir.VectorType:
    return ir.VectorType(ir.FloatType(), floats.lanes)


def _splat(builder: Any, floats: Any, value: Any, value_type: Any) -> Any:
    if isinstance(value_type, Floats):
        return value
    empty = ir.Constant(_lowered(floats), ir.Undefined)
    one = builder.insert_element(empty, value, ir.IntType(32)(0))
    return builder.shuffle_vector(
        one, one, ir.Constant(ir.VectorType(ir.IntType(32), floats.lanes), None)
    )


def _floats_of(args: tuple[Any, ...]) -> Any:
    """Return the type of mixed vectors and numbers of float32, None for anything else."""
    floats = {arg for arg in args if isinstance(arg, Floats)}
    others = [arg for arg in args if not isinstance(arg, Floats) and arg != types.float32]
    return floats.pop() if len(floats) == 1 and not others else None


def _define(function: Any, emit: Callable[..., Any], is_compare: bool = False) -> None:
    @infer_global(function)
    class _Template(AbstractTemplate):  # type: ignore[misc]  # Numba has no types
        def generic(self, args: Any, kws: Any) -> Any:
            floats = _floats_of(args)
            if floats is None or len(args) != 2:
                return None
            return signature(Mask(floats.lanes) if is_compare else floats, *args)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        floats = _floats_of(sig.args)
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
def load_floats(typing_context: Any, data: Any, index: Any, lanes: Any) -> Any:
    """Vector of data[index:index + lanes]; data is 1-D float32, contiguous, lanes a `static`."""
    floats = Floats(lanes.count)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = element_pointer(context, builder, data, args[0], args[1], _lowered(floats))
        return builder.load(place, align=4)

    return floats(data, types.int64, lanes), codegen


@intrinsic
def store_floats(typing_context: Any, data: Any, index: Any, floats: Any) -> Any:
    """Write a vector to data[index:index + lanes]; data is 1-D float32, contiguous."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = element_pointer(context, builder, data, args[0], args[1], args[2].type)
        builder.store(args[2], place, align=4)
        return context.get_dummy_value()

    return types.void(data, types.int64, floats), codegen


@intrinsic
def choose_floats(typing_context: Any, mask: Any, left: Any, right: Any) -> Any:
    """Lane by lane: left where the mask holds, else right; vectors or float32."""
    floats = _floats_of((left, right)) or Floats(mask.lanes)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pairs = zip(args[1:], sig.args[1:], strict=True)
        return builder.select(args[0], *(_splat(builder, floats, *pair) for pair in pairs))

    return floats(mask, left, right), codegen


@intrinsic
def float_bits(typing_context: Any, floats: Any) -> Any:
    """Vector of 32-bit integers with the bits of the floats."""
    words = Vector(floats.lanes, 32)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.VectorType(ir.IntType(32), floats.lanes))

    return words(floats), codegen
