"""Further operations on the vectors of integers.py: shift by one lane, and the last lane."""

from __future__ import annotations

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
from gangsaw.codecs.core.numba.vectors.integers import Vector, splat


@intrinsic
def push_lane(typing_context: TypingContext, vector: Vector, number: types.Integer) -> Lowering:
    """Move lane i to lane i + 1; the first one becomes the number, the last one is dropped."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        pushed = splat(builder, vector, args[1], sig.args[1])
        places = [vector.lanes, *range(vector.lanes - 1)]
        order = ir.Constant(ir.VectorType(ir.IntType(32), vector.lanes), places)
        return builder.shuffle_vector(args[0], pushed, order)

    return vector(vector, types.unliteral(number)), codegen


@intrinsic
def signed_last_lane(typing_context: TypingContext, vector: Vector) -> Lowering:
    """Return the last lane of a vector as int64, sign-extended."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        last = builder.extract_element(args[0], ir.IntType(32)(vector.lanes - 1))
        return builder.sext(last, ir.IntType(64))

    return types.int64(vector), codegen
