"""Bits of floating-point numbers, and words at any byte address, inside Numba kernels."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from gangsaw.codecs.core.jit import intrinsic
from gangsaw.codecs.core.simd import element_pointer

_FLOATS = {32: types.float32, 64: types.float64}
_WORDS = {32: types.uint32, 64: types.uint64}


@intrinsic
def as_float(typing_context: Any, word: Any) -> Any:
    """float32 or float64 with the bits of a word of 32 or 64."""
    signature = _FLOATS[word.bitwidth](word)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(sig.return_type))

    return signature, codegen


@intrinsic
def as_word(typing_context: Any, number: Any) -> Any:
    """uint32 or uint64 with the bits of a float of that width."""
    signature = _WORDS[number.bitwidth](number)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(sig.return_type))

    return signature, codegen


@intrinsic
def rounded_like(typing_context: Any, number: Any, like: Any) -> Any:
    """float64 rounded to the float whose bits are as many as those of the word `like`."""
    signature = _FLOATS[like.bitwidth](number, like)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.cast(builder, args[0], sig.args[0], sig.return_type)

    return signature, codegen


@intrinsic
def load_le64(typing_context: Any, data: Any, index: Any) -> Any:
    """uint64 from data[index:index + 8], least significant byte first; data is (n,) uint8."""

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
