"""Bit and lane primitives for Numba kernels: words at any byte address, shifts, pointers."""

from __future__ import annotations

import sys
from typing import Generic, SupportsIndex, TypeVar

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import populate_array

from gangsaw.codecs.core.numba.jit import HAS_AVX512, intrinsic
from gangsaw.codecs.core.numba.lowering import (
    Args,
    Builder,
    Codegen,
    Context,
    Lowering,
    Signature,
    TypingContext,
    Value,
)
from gangsaw.codecs.core.numba.private import struct_value

ItemT = TypeVar("ItemT")

FIRST_LEVEL, SECOND_LEVEL = 3, 2  # LLVM's locality hints: the cache that a line is prefetched to


class ItemPointer(Generic[ItemT]):
    """Typed pointer to items of an array in a kernel, from `pointer`; for type checkers only."""

    def __getitem__(self, index: SupportsIndex) -> ItemT:
        """Return an item, without a check of the index."""
        raise NotImplementedError

    def __setitem__(self, index: SupportsIndex, item: object) -> None:
        """Write an item, without a check of the index."""
        raise NotImplementedError


def _element_pointer(
    context: Context, builder: Builder, array_type: types.Array, array: Value, index: Value
) -> Value:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


@intrinsic
def load_be64(typing_context: TypingContext, data: types.Array, index: types.Integer) -> Lowering:
    """Return data[index:index + 8] as a uint64, most significant byte first; data is (n,) uint8."""
    signature = types.uint64(data, types.int64)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        pointer = _element_pointer(context, builder, sig.args[0], *args)
        pointer = builder.bitcast(pointer, ir.IntType(64).as_pointer())
        word = builder.load(pointer)
        word.align = 1
        return builder.bswap(word)

    return signature, codegen


@intrinsic
def load_raw64(typing_context: TypingContext, data: types.Array, index: types.Integer) -> Lowering:
    """Return data[index:index + 8] as a uint64 in native byte order; data is (n,) uint8."""
    signature = types.uint64(data, types.int64)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        place = _element_pointer(context, builder, sig.args[0], *args)
        word = builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()))
        word.align = 1
        return word

    return signature, codegen


@intrinsic
def big_endian(typing_context: TypingContext, word: types.Integer) -> Lowering:
    """Convert a result of `load_raw64` to one of `load_be64`; LLVM can vectorise this."""
    signature = word(word)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return builder.bswap(args[0]) if sys.byteorder == "little" else args[0]

    return signature, codegen


@intrinsic
def swapped(typing_context: TypingContext, word: types.Integer) -> Lowering:
    """Return an integer with its bytes in reverse order."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return builder.bswap(args[0])

    return word(word), codegen


@intrinsic
def prefetch(typing_context: TypingContext, data: types.Array, index: types.Integer) -> Lowering:
    """Prefetch the cache line of data[index], for any dtype and any index."""
    return types.void(data, types.int64), _prefetch_to(FIRST_LEVEL)


@intrinsic
def prefetch_second(
    typing_context: TypingContext, data: types.Array, index: types.Integer
) -> Lowering:
    """Prefetch the cache line of data[index] into the second-level cache.

    The first-level cache can wait for two dozen lines at once, the second-level one for more.
    """
    return types.void(data, types.int64), _prefetch_to(SECOND_LEVEL)


def _prefetch_to(level: int) -> Codegen:
    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        place = _element_pointer(context, builder, sig.args[0], *args)
        place = builder.bitcast(place, ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [place.type, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        # read, high locality, data cache
        builder.call(function, [place, word(0), word(level), word(1)])
        return context.get_dummy_value()

    return codegen


@intrinsic
def store_be64(
    typing_context: TypingContext, data: types.Array, index: types.Integer, word: types.Integer
) -> Lowering:
    """Write a uint64 to data[index:index + 8], most significant byte first; data is (n,) uint8."""
    signature = types.void(data, types.int64, types.uint64)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        pointer = _element_pointer(context, builder, sig.args[0], *args[:2])
        pointer = builder.bitcast(pointer, ir.IntType(64).as_pointer())
        builder.store(builder.bswap(args[2]), pointer, align=1)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def count_ones(typing_context: TypingContext, word: types.Integer) -> Lowering:
    """Return the number of one bits of an integer, int64."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return builder.zext(builder.ctpop(args[0]), ir.IntType(64))

    return types.int64(word), codegen


@intrinsic
def trailing_zeros(typing_context: TypingContext, word: types.Integer) -> Lowering:
    """Return the number of trailing zero bits of a uint64 that is not zero, int64."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.uint64), codegen


@intrinsic
def leading_zeros(typing_context: TypingContext, word: types.Integer) -> Lowering:
    """Return the number of leading zero bits of an integer; its width in bits for zero."""
    signature = word(word)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return count_leading_zeros(builder, args[0])

    return signature, codegen


@intrinsic
def leading_zeros_to_32(typing_context: TypingContext, word: types.Integer) -> Lowering:
    """Return the number of leading zero bits of a uint64, at most 32."""
    signature = types.int32(types.uint64)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        half = ir.IntType(32)
        high = builder.trunc(builder.lshr(args[0], args[0].type(32)), half)
        return count_leading_zeros(builder, high)

    return signature, codegen


def count_leading_zeros(builder: Builder, word: Value) -> Value:
    """Emit code that counts the leading zero bits of an integer or of each lane of a vector.

    For vectors of 32 bits, only AVX-512 has an instruction; for AVX2, LLVM emits table look-ups in
    many steps. Here the exponent of a float gives the count. Only the first one bit is converted,
    since rounding could carry if other bits were set.
    """
    lanes = getattr(word.type, "count", 1)
    bits = getattr(word.type, "element", word.type).width
    if bits != 32 or HAS_AVX512:
        symbol = f"llvm.ctlz.{f'v{lanes}' if lanes > 1 else ''}i{bits}"
        function_type = ir.FunctionType(word.type, [word.type, ir.IntType(1)])
        function = cgutils.get_or_insert_function(builder.module, function_type, symbol)
        return builder.call(function, [word, cgutils.false_bit])

    def same(value: int) -> Value:
        return ir.Constant(word.type, [value] * lanes if lanes > 1 else value)

    first = builder.and_(word, builder.not_(builder.lshr(word, same(1))))
    number = ir.VectorType(ir.FloatType(), lanes) if lanes > 1 else ir.FloatType()
    code = builder.bitcast(builder.sitofp(first, number), word.type)
    exponent = builder.and_(builder.lshr(code, same(23)), same(255))
    zeros = builder.sub(same(127 + 31), exponent)  # the exponent of 0 is 0
    zeros = builder.select(builder.icmp_signed("<", zeros, same(32)), zeros, same(32))
    return builder.select(builder.icmp_signed("<", word, same(0)), same(0), zeros)


# Kernels pass rows of arrays as plain pointers. Numba counts references of arrays with locked
# instructions, passes each array as seven words, and wraps negative indices, which prevents
# vectorisation by LLVM. Numba indexes a pointer like C does.


@intrinsic
def pointer(typing_context: TypingContext, array: types.Array, index: types.Integer) -> Lowering:
    """Return the address of array[index] as a pointer to items.

    The array is contiguous and 1-D; the caller keeps it alive.
    """
    signature = types.CPointer(array.dtype)(array, types.int64)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return _element_pointer(context, builder, sig.args[0], *args)

    return signature, codegen


@intrinsic
def pointers(typing_context: TypingContext, arrays: types.BaseNamedTuple) -> Lowering:
    """Convert a NamedTuple of arrays and integers: arrays become their addresses.

    Arrays must be contiguous and 1-D; the caller keeps them alive.
    """
    kinds = [types.CPointer(t.dtype) if isinstance(t, types.Array) else t for t in arrays.types]
    found = types.BaseTuple.from_types(kinds, arrays.instance_class)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        parts = zip(arrays.types, cgutils.unpack_tuple(builder, args[0]), strict=True)
        first = ir.IntType(64)(0)
        each = [
            _element_pointer(context, builder, t, part, first)
            if isinstance(t, types.Array)
            else part
            for t, part in parts
        ]
        return context.make_tuple(builder, sig.return_type, each)

    return found(arrays), codegen


@intrinsic
def ahead(typing_context: TypingContext, address: types.CPointer, items: types.Integer) -> Lowering:
    """Return the pointer that is `items` items after a pointer."""
    signature = address(address, types.int64)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return builder.gep(args[0], [args[1]])

    return signature, codegen


@intrinsic
def pointer_at(
    typing_context: TypingContext, address: types.Integer, like: types.Integer
) -> Lowering:
    """Return a pointer to integers of the type of `like`, from a byte address.

    The address must be aligned for them if they are accessed one by one.
    """
    signature = types.CPointer(like)(types.int64, like)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return builder.inttoptr(args[0], args[1].type.as_pointer())

    return signature, codegen


@intrinsic
def size_of(typing_context: TypingContext, address: types.CPointer) -> Lowering:
    """Return the size in bytes of the items that a pointer refers to, as a constant."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return ir.IntType(64)(address.dtype.bitwidth // 8)

    return types.int64(address), codegen


@intrinsic
def bytes_at(
    typing_context: TypingContext, address: types.Integer, size: types.Integer
) -> Lowering:
    """Return the memory at an address as (size,) uint8; the caller keeps its owner alive."""
    octets = types.Array(types.uint8, 1, "C")

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        array = context.make_array(octets)(context, builder)
        data = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        one = ir.IntType(64)(1)
        populate_array(array, data, shape=[args[1]], strides=[one], itemsize=one, meminfo=None)
        return struct_value(array)

    return octets(types.int64, types.int64), codegen


# Numba widens the result of every integer operation to 64 bits. `fit` converts sums, products and
# bitwise operations back to 32-bit lanes; a shift must have the right width from the start.


@intrinsic
def fit(
    typing_context: TypingContext, value: types.Integer, like: types.Integer | types.CPointer
) -> Lowering:
    """Convert an integer to the type of `like`, an integer, or to its item type if a pointer."""
    target = like.dtype if isinstance(like, types.CPointer) else like
    signature = target(value, like)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return context.cast(builder, args[0], sig.args[0], sig.return_type)

    return signature, codegen


@intrinsic
def shift_left(
    typing_context: TypingContext, value: types.Integer, count: types.Integer
) -> Lowering:
    """Return value << count in the type of value; count is less than its width."""
    signature = value(value, value)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return builder.shl(*args)

    return signature, codegen


@intrinsic
def shift_right(
    typing_context: TypingContext, value: types.Integer, count: types.Integer
) -> Lowering:
    """Return value >> count in the type of value, arithmetic if signed; count < its width."""
    signature = value(value, value)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        return builder.ashr(*args) if sig.args[0].signed else builder.lshr(*args)

    return signature, codegen
