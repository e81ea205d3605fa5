"""Further operations on the vectors of integers.py: logical shifts, reversed bits, masks."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from gangsaw.codecs.core.numba.jit import intrinsic
from gangsaw.codecs.core.numba.vectors.integers import emit_call, splat


@intrinsic
def logical_shift_right(typing_context: Any, vector: Any, count: Any) -> Any:
    """Shift right logically, by one count or one per lane, less than the width."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.lshr(args[0], splat(builder, vector, args[1], sig.args[1]))

    return vector(vector, types.unliteral(count)), codegen


def _joined(method: str) -> Any:
    @intrinsic
    def joined(typing_context: Any, left: Any, right: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return getattr(builder, method)(*args)

        return left(left, right), codegen

    return joined


both = _joined("and_")
either = _joined("or_")


@intrinsic
def shift_in(typing_context: Any, vector: Any, other: Any) -> Any:
    """Shift every lane left by one bit; the top bit of the other's lane becomes the lowest."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        one = ir.Constant(args[0].type, [1] * vector.lanes)
        return emit_call(builder, "fshl", *args, one)

    return vector(vector, vector), codegen


@intrinsic
def mirrored(typing_context: Any, vector: Any) -> Any:
    """Return every lane with its bits reversed."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return emit_call(builder, "bitreverse", args[0])

    return vector(vector), codegen
