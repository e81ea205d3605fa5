"""Bit reader and writer primitives for Numba kernels: big-endian words at any byte address."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _element_pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


@intrinsic
def load_be64(typing_context: Any, data: Any, index: Any) -> Any:
    """uint64 from data[index:index + 8], most significant byte first; data is (n,) uint8."""
    signature = types.uint64(data, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _element_pointer(context, builder, sig.args[0], *args)
        pointer = builder.bitcast(pointer, ir.IntType(64).as_pointer())
        word = builder.load(pointer)
        word.align = 1
        return builder.bswap(word)

    return signature, codegen


@intrinsic
def store_be64(typing_context: Any, data: Any, index: Any, word: Any) -> Any:
    """Write a uint64 to data[index:index + 8], most significant byte first; data is (n,) uint8."""
    signature = types.void(data, types.int64, types.uint64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _element_pointer(context, builder, sig.args[0], *args[:2])
        pointer = builder.bitcast(pointer, ir.IntType(64).as_pointer())
        builder.store(builder.bswap(args[2]), pointer, align=1)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def leading_zeros(typing_context: Any, word: Any) -> Any:
    """Count the zero bits before the first one; the width of the word for zero."""
    signature = word(word)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.ctlz(args[0], cgutils.false_bit)

    return signature, codegen
