"""Bit and lane primitives for Numba kernels: big-endian words at any byte address, plain shifts."""

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


# Numba widens every integer operation to 64 bits and wraps every negative index: both keep LLVM
# from using all lanes of a vector. The four below do what they say, in the type they are given.


@intrinsic
def peek(typing_context: Any, array: Any, index: Any) -> Any:
    """array[index] of a contiguous 1-D array; index >= 0 is the caller's promise."""
    signature = array.dtype(array, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_element_pointer(context, builder, sig.args[0], *args))

    return signature, codegen


@intrinsic
def poke(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """array[index] = value of a contiguous 1-D array; index >= 0 is the caller's promise."""
    signature = types.void(array, types.int64, array.dtype)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _element_pointer(context, builder, sig.args[0], *args[:2]))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def shift_left(typing_context: Any, value: Any, count: Any) -> Any:
    """value << count in the type of value; count is less than its width."""
    signature = value(value, value)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.shl(*args)

    return signature, codegen


@intrinsic
def shift_right(typing_context: Any, value: Any, count: Any) -> Any:
    """value >> count in the type of value, arithmetic if signed; count is less than its width."""
    signature = value(value, value)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.ashr(*args) if sig.args[0].signed else builder.lshr(*args)

    return signature, codegen
