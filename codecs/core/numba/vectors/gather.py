"""Gathers of items from anywhere in an array, and operations across lanes.

`gather` requires AVX2 or AVX-512 (`HAS_GATHER`). `spread_items` and `keep_items` require AVX-512,
as AVX2 cannot expand items to lanes.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir
from numba import types
from numba.core import cgutils

from gangsaw.codecs.core.numba.jit import HAS_AVX512, intrinsic
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
from gangsaw.codecs.core.numba.packs.levels import features
from gangsaw.codecs.core.numba.vectors.integers import Mask, Vector, element_pointer

HAS_GATHER = HAS_AVX512 or "avx2" in features()
HALF, QUARTER = 16, 8  # lanes of 32 bits in a register of AVX-512, of AVX2
_WORDS = ir.VectorType(ir.IntType(32), HALF)
_TRUTHS = ir.VectorType(ir.IntType(1), HALF)
_ITEMS = ir.VectorType(ir.IntType(16), HALF)


@intrinsic
def gather(typing_context: TypingContext, data: types.Array, index: Vector) -> Lowering:
    """Load the 32 bits that begin at data[i], for each lane i of a 32-bit index vector.

    data is (n,) of 8, 16 or 32 bits, with 3 bytes to spare. Eight separate loads take a tenth
    longer than a gather of AVX2 (Zen 4).
    """

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        octet = ir.IntType(8)
        base = element_pointer(context, builder, data, args[0], ir.IntType(64)(0), octet)
        gathered = _gather_wide if HAS_AVX512 else _gather_narrow
        return gathered(builder, base, args[1], data.dtype.bitwidth // 8)

    return index(data, index), codegen


@intrinsic
def spread_items(
    typing_context: TypingContext, data: types.Array, index: types.Integer, mask: Mask
) -> Lowering:
    """Load consecutive items data[index:] into the lanes where the mask is true; others are 0.

    Lanes have 32 bits. data is (n,) uint16, with as many items to spare as the mask has lanes.
    """
    vector = Vector(mask.lanes, 32)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        array, place, truths = args
        call = _function(builder, "expand.v16i32", [_WORDS, _WORDS, _TRUTHS])
        parts = []
        for part in _halves(builder, truths):
            pointer = element_pointer(context, builder, data, array, place, _ITEMS)
            items = builder.zext(builder.load(pointer, align=2), _WORDS)
            parts.append(builder.call(call, [items, ir.Constant(_WORDS, None), part]))
            place = builder.add(place, _count(builder, part))
        return _joined(builder, parts)

    return vector(data, types.int64, mask), codegen


@intrinsic
def keep_items(
    typing_context: TypingContext, data: types.Array, end: types.Integer, mask: Mask, vector: Vector
) -> Lowering:
    """Store the lower 16 bits of the masked lanes as consecutive items that end at data[end].

    It is the inverse of `spread_items` and returns the index of the first item. data is (n,)
    uint16, a lane has 32 bits.
    """

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        array, place, truths, items = args
        compress = _function(builder, "compress.v16i32", [_WORDS, _WORDS, _TRUTHS])
        pointer_type, bits = ir.IntType(16).as_pointer(), ir.IntType(HALF)
        store_type = ir.FunctionType(ir.VoidType(), [pointer_type, _WORDS, bits])
        name = "llvm.x86.avx512.mask.pmov.dw.mem.512"  # drops the upper halves
        store = cgutils.get_or_insert_function(builder.module, store_type, name)
        parts = list(zip(_halves(builder, truths), _halves(builder, items), strict=True))
        for part, words in reversed(parts):
            packed = builder.call(compress, [words, ir.Constant(_WORDS, None), part])
            count = _count(builder, part)
            place = builder.sub(place, count)
            first = builder.sub(builder.shl(count.type(1), count), count.type(1))
            pointer = element_pointer(context, builder, data, array, place, ir.IntType(16))
            builder.call(store, [pointer, packed, builder.trunc(first, bits)])
        return place

    return types.int64(data, types.int64, mask, vector), codegen


@intrinsic
def quotients(typing_context: TypingContext, left: Vector, right: Vector) -> Lowering:
    """Return left / right of unsigned 32-bit lanes, rounded down, for small divisors.

    A quotient that is no whole number is at least 1 / right below the next one: doubles round less
    than that.
    """

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        doubles = ir.VectorType(ir.DoubleType(), left.lanes)
        parts = [builder.uitofp(arg, doubles) for arg in args]
        return builder.fptoui(builder.fdiv(*parts), args[0].type)

    return left(left, right), codegen


@intrinsic
def count_lanes(typing_context: TypingContext, mask: Mask) -> Lowering:
    """Return the number of lanes where the mask is true."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return _count(builder, args[0])

    return types.int64(mask), codegen


@intrinsic
def running_sums(typing_context: TypingContext, vector: Vector) -> Lowering:
    """Return the inclusive prefix sums of the lanes."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        sums, nothing = args[0], ir.Constant(args[0].type, None)
        for step in (2**i for i in range(vector.lanes.bit_length() - 1)):
            before = _order([vector.lanes] * step + list(range(vector.lanes - step)))
            sums = builder.add(sums, builder.shuffle_vector(sums, nothing, before))
        return sums

    return vector(vector), codegen


@intrinsic
def last_lane(typing_context: TypingContext, vector: Vector) -> Lowering:
    """Return the last lane of a vector as int64, zero-extended."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        last = builder.extract_element(args[0], ir.IntType(32)(vector.lanes - 1))
        return builder.zext(last, ir.IntType(64))

    return types.int64(vector), codegen


def _gather_wide(builder: Builder, base: Value, index: Value, scale: int) -> Value:
    number = ir.IntType(32)
    call = _function(builder, "gather.dpi.512", [_WORDS, base.type, _WORDS, _TRUTHS, number])
    all_lanes = ir.Constant(_TRUTHS, [1] * HALF)
    parts = [
        builder.call(call, [ir.Constant(_WORDS, None), base, part, all_lanes, number(scale)])
        for part in _halves(builder, index)
    ]
    return _joined(builder, parts)


def _gather_narrow(builder: Builder, base: Value, index: Value, scale: int) -> Value:
    words, number = ir.VectorType(ir.IntType(32), QUARTER), ir.IntType(8)
    function_type = ir.FunctionType(words, [words, base.type, words, words, number])
    symbol = "llvm.x86.avx2.gather.d.d.256"
    call = cgutils.get_or_insert_function(builder.module, function_type, symbol)
    all_lanes = ir.Constant(words, [-1] * QUARTER)
    parts = [
        builder.call(call, [ir.Constant(words, None), base, part, all_lanes, number(scale)])
        for part in _parts(builder, index, QUARTER)
    ]
    return _joined(builder, parts)


def _count(builder: Builder, truths: Value) -> Value:
    bits = builder.bitcast(truths, ir.IntType(truths.type.count))
    return builder.zext(builder.ctpop(bits), ir.IntType(64))


def _function(builder: Builder, name: str, of: list[LlvmType]) -> Value:
    function_type = ir.FunctionType(_WORDS, of)
    symbol = f"llvm.x86.avx512.mask.{name}"
    return cgutils.get_or_insert_function(builder.module, function_type, symbol)


def _halves(builder: Builder, vector: Value) -> list[Value]:
    return _parts(builder, vector, HALF)


def _parts(builder: Builder, vector: Value, n: int) -> list[Value]:
    places = [range(first, first + n) for first in range(0, vector.type.count, n)]
    return [builder.shuffle_vector(vector, vector, _order(part)) for part in places]


def _joined(builder: Builder, parts: list[Value]) -> Value:
    while len(parts) > 1:
        whole = _order(range(2 * parts[0].type.count))
        parts = [
            builder.shuffle_vector(*pair, whole)
            for pair in zip(parts[::2], parts[1::2], strict=True)
        ]
    return parts[0]


def _order(indices: Sequence[int]) -> Value:
    return ir.Constant(ir.VectorType(ir.IntType(32), len(indices)), list(indices))
