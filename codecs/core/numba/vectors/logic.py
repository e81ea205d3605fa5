"""Further operations on the vectors of integers.py: logical shifts, reversed bits, masks."""

from __future__ import annotations

from typing import Any

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
from gangsaw.codecs.core.numba.vectors.integers import Mask, Vector, emit_call, splat


@intrinsic
def logical_shift_right(
    typing_context: TypingContext, vector: Vector, count: Vector | types.Integer
) -> Lowering:
    """Shift right logically, by one count or one per lane, less than the width."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return builder.lshr(args[0], splat(builder, vector, args[1], sig.args[1]))

    return vector(vector, types.unliteral(count)), codegen


def _joined(method: str) -> Any:
    @intrinsic
    def joined(
        typing_context: TypingContext, left: Vector | Mask, right: Vector | Mask
    ) -> Lowering:
        def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
            return getattr(builder, method)(*args)

        return left(left, right), codegen

    return joined


both = _joined("and_")
either = _joined("or_")


@intrinsic
def shift_in(typing_context: TypingContext, vector: Vector, other: Vector) -> Lowering:
    """Shift each lane left by one bit; its lowest bit becomes the top bit of `other`'s lane."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        one = ir.Constant(args[0].type, [1] * vector.lanes)
        return emit_call(builder, "fshl", *args, one)

    return vector(vector, vector), codegen


@intrinsic
def mirrored(typing_context: TypingContext, vector: Vector) -> Lowering:
    """Return every lane with its bits reversed."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return emit_call(builder, "bitreverse", args[0])

    return vector(vector), codegen
