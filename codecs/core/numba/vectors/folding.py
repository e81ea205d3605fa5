"""Steps of a folding checksum, on vectors of 64-bit words: products without carry.

`container/folding.py` combines them.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils

from gangsaw.codecs.core.numba.jit import intrinsic
from gangsaw.codecs.core.numba.lowering import (
    Args,
    Builder,
    Context,
    LlvmType,
    Lowering,
    Signature,
    TypingContext,
    Value,
)
from gangsaw.codecs.core.numba.vectors.integers import Vector, element_pointer, lowered

POLYNOMIAL = 0x11EDC6F41  # Castagnoli's, RFC 3720
VECTORS = 4  # in parallel, to hide the latency of a product


def factors(bits: int) -> tuple[int, int]:
    """Return the CRC-32C multipliers that shift the two words of a 128-bit lane by `bits` bits.

    The first word is 64 bits higher; a product of reflected numbers is one bit too low.
    """
    return _power(bits + 63), _power(bits - 1)


def _power(exponent: int) -> int:
    """Return x^exponent modulo P, reflected in 64 bits."""
    rest = 1
    for _ in range(exponent):
        rest <<= 1
        rest ^= POLYNOMIAL if rest >> 32 else 0
    return int(f"{rest:064b}"[::-1], 2)


@intrinsic
def load_words(
    typing_context: TypingContext, data: types.Array, at: types.Integer, words: types.BaseTuple
) -> Lowering:
    """Load a vector of `words` (`static`) 64-bit words from data[at:]; data is (n,) uint8."""
    vector = Vector(words.count, 64)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        array, index, _ = args
        place = element_pointer(context, builder, data, array, index, lowered(vector))
        return builder.load(place, align=1)

    return vector(data, types.int64, words), codegen


@intrinsic
def first_lane(
    typing_context: TypingContext, number: types.Integer, words: types.BaseTuple
) -> Lowering:
    """Return a vector of 64-bit words: a 32-bit number, then zeros."""
    vector = Vector(words.count, 64)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        zeros = ir.Constant(lowered(vector), None)
        word = builder.zext(args[0], ir.IntType(64))
        return builder.insert_element(zeros, word, ir.IntType(32)(0))

    return vector(types.uint32, words), codegen


@intrinsic
def moved_on(typing_context: TypingContext, vector: Vector) -> Lowering:
    """Multiply each 128-bit lane by x^(bits of a step) modulo P: one step of CRC folding."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        words = lowered(vector)
        pair = factors(64 * vector.lanes * VECTORS)
        multipliers = ir.Constant(words, pair * (vector.lanes // 2))
        width = {2: "", 4: ".256", 8: ".512"}[vector.lanes]
        products = [
            _called(builder, f"pclmulqdq{width}", words, args[0], multipliers, ir.IntType(8)(which))
            for which in (0x00, 0x11)  # both lower words, both upper ones
        ]
        return builder.xor(*products)

    return vector(vector), codegen


@intrinsic
def read_octet(typing_context: TypingContext, crc: types.Integer, octet: types.Integer) -> Lowering:
    """Return the CRC-32C state after one more byte."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return _called(builder, "sse42.crc32.32.8", ir.IntType(32), *args)

    return types.uint32(types.uint32, types.uint8), codegen


@intrinsic
def read_by(typing_context: TypingContext, crc: types.Integer, vector: Vector) -> Lowering:
    """Return the CRC-32C state after the bytes of a vector."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        word = ir.IntType(64)
        state = builder.zext(args[0], word)
        for i in range(vector.lanes):
            item = builder.extract_element(args[1], ir.IntType(32)(i))
            state = _called(builder, "sse42.crc32.64.64", word, state, item)
        return builder.trunc(state, ir.IntType(32))

    return types.uint32(types.uint32, vector), codegen


def _called(builder: Builder, name: str, result: LlvmType, *args: Value) -> Value:
    """Emit an x86 instruction that has no general LLVM intrinsic."""
    function_type = ir.FunctionType(result, [arg.type for arg in args])
    function = cgutils.get_or_insert_function(builder.module, function_type, f"llvm.x86.{name}")
    return builder.call(function, args)
