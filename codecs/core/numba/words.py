"""Little-endian words at any byte address, for Numba kernels."""

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
from gangsaw.codecs.core.numba.vectors.integers import element_pointer


@intrinsic
def load_le64(typing_context: TypingContext, data: types.Array, index: types.Integer) -> Lowering:
    """Return data[index:index + 8] as a uint64, least significant byte first; data : (n,) uint8."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        array, place = args
        place = element_pointer(context, builder, data, array, place, ir.IntType(64))
        return builder.load(place, align=1)

    return types.uint64(data, types.int64), codegen


@intrinsic
def store_le64(
    typing_context: TypingContext, data: types.Array, index: types.Integer, word: types.Integer
) -> Lowering:
    """Write a uint64 to data[index:index + 8], least significant byte first."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        place = element_pointer(context, builder, data, args[0], args[1], ir.IntType(64))
        builder.store(args[2], place, align=1)
        return context.get_dummy_value()

    return types.void(data, types.int64, types.uint64), codegen
