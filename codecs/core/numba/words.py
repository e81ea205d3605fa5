"""Little-endian words at any byte address, for Numba kernels."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from gangsaw.codecs.core.numba.jit import intrinsic
from gangsaw.codecs.core.numba.vectors.integers import element_pointer


@intrinsic
def load_le64(typing_context: Any, data: Any, index: Any) -> Any:
    """Return data[index:index + 8] as a uint64, least significant byte first; data : (n,) uint8."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array, place = args
        place = element_pointer(context, builder, data, array, place, ir.IntType(64))
        return builder.load(place, align=1)

    return types.uint64(data, types.int64), codegen


@intrinsic
def store_le64(typing_context: Any, data: Any, index: Any, word: Any) -> Any:
    """Write a uint64 to data[index:index + 8], least significant byte first."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = element_pointer(context, builder, data, args[0], args[1], ir.IntType(64))
        builder.store(args[2], place, align=1)
        return context.get_dummy_value()

    return types.void(data, types.int64, types.uint64), codegen
