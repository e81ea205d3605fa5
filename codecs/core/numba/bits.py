"""Bit and lane primitives for Numba kernels: words at any byte address, shifts, pointers."""

from __future__ import annotations

import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import populate_array

from gangsaw.codecs.core.numba.jit import HAS_AVX512, intrinsic

FIRST_LEVEL, SECOND_LEVEL = 3, 2  # LLVM's locality hints: the cache that a line is prefetched to


def _element_pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


@intrinsic
def load_be64(typing_context: Any, data: Any, index: Any) -> Any:
    """Return data[index:index + 8] as a uint64, most significant byte first; data is (n,) uint8."""
    signature = types.uint64(data, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _element_pointer(context, builder, sig.args[0], *args)
        pointer = builder.bitcast(pointer, ir.IntType(64).as_pointer())
        word = builder.load(pointer)
        word.align = 1
        return builder.bswap(word)

    return signature, codegen


@intrinsic
def load_raw64(typing_context: Any, data: Any, index: Any) -> Any:
    """Return data[index:index + 8] as a uint64 in native byte order; data is (n,) uint8."""
    signature = types.uint64(data, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = _element_pointer(context, builder, sig.args[0], *args)
        word = builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()))
        word.align = 1
        return word

    return signature, codegen


@intrinsic
def big_endian(typing_context: Any, word: Any) -> Any:
    """Convert a result of `load_raw64` to one of `load_be64`; LLVM can vectorise this."""
    signature = word(word)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bswap(args[0]) if sys.byteorder == "little" else args[0]

    return signature, codegen


@intrinsic
def swapped(typing_context: Any, word: Any) -> Any:
    """Return an integer with its bytes reversed."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bswap(args[0])

    return word(word), codegen


@intrinsic
def prefetch(typing_context: Any, data: Any, index: Any) -> Any:
    """Prefetch the cache line of data[index], for any dtype and any index."""
    return types.void(data, types.int64), _prefetch_to(FIRST_LEVEL)


@intrinsic
def prefetch_second(typing_context: Any, data: Any, index: Any) -> Any:
    """Prefetch into the second-level cache, for more lines than the first one can load.

    The first-level cache waits for two dozen lines at once, the second-level one for more.
    """
    return types.void(data, types.int64), _prefetch_to(SECOND_LEVEL)


def _prefetch_to(level: int) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
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
def count_ones(typing_context: Any, word: Any) -> Any:
    """Count the one bits of an integer; int64."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.zext(builder.ctpop(args[0]), ir.IntType(64))

    return types.int64(word), codegen


@intrinsic
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Count the zero bits after the last one of a uint64 that is not zero; int64."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.uint64), codegen


@intrinsic
def leading_zeros(typing_context: Any, word: Any) -> Any:
    """Count the zero bits before the first one; the width of the word for zero."""
    signature = word(word)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return count_leading_zeros(builder, args[0])

    return signature, codegen


@intrinsic
def leading_zeros_to_32(typing_context: Any, word: Any) -> Any:
    """Count the zero bits before the first one of a uint64, at most 32."""
    signature = types.int32(types.uint64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        half = ir.IntType(32)
        high = builder.trunc(builder.lshr(args[0], args[0].type(32)), half)
        return count_leading_zeros(builder, high)

    return signature, codegen


def count_leading_zeros(builder: Any, word: Any) -> Any:
    """Emit code that counts leading zeros of an integer or a vector of integers.

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

    def same(value: int) -> Any:
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
def pointer(typing_context: Any, array: Any, index: Any) -> Any:
    """Return the address of array[index], contiguous and 1-D; the caller keeps the array alive."""
    signature = types.CPointer(array.dtype)(array, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _element_pointer(context, builder, sig.args[0], *args)

    return signature, codegen


@intrinsic
def pointers(typing_context: Any, arrays: Any) -> Any:
    """Return a NamedTuple with arrays replaced by their addresses; integers stay.

    Arrays must be contiguous and 1-D; the caller keeps them alive.
    """
    kinds = [types.CPointer(t.dtype) if isinstance(t, types.Array) else t for t in arrays.types]
    found = types.BaseTuple.from_types(kinds, arrays.instance_class)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
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
def ahead(typing_context: Any, address: Any, items: Any) -> Any:
    """Return the address `items` items after a pointer."""
    signature = address(address, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.gep(args[0], [args[1]])

    return signature, codegen


@intrinsic
def pointer_at(typing_context: Any, address: Any, like: Any) -> Any:
    """Return a pointer to integers of the type of `like`, from a byte address.

    The address must be aligned for them if they are accessed one by one.
    """
    signature = types.CPointer(like)(types.int64, like)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], args[1].type.as_pointer())

    return signature, codegen


@intrinsic
def size_of(typing_context: Any, address: Any) -> Any:
    """Return the bytes of a pointer's item, as a constant."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return ir.IntType(64)(address.dtype.bitwidth // 8)

    return types.int64(address), codegen


@intrinsic
def octets_at(typing_context: Any, address: Any, size: Any) -> Any:
    """Return the memory at an address as (size,) uint8; the caller keeps its owner alive."""
    octets = types.Array(types.uint8, 1, "C")

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = context.make_array(octets)(context, builder)
        data = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        one = ir.IntType(64)(1)
        populate_array(array, data, shape=[args[1]], strides=[one], itemsize=one, meminfo=None)
        return array._getvalue()

    return octets(types.int64, types.int64), codegen


# Numba widens the result of every integer operation to 64 bits. `fit` converts sums, products and
# bitwise operations back to 32-bit lanes; a shift must have the right width from the start.


@intrinsic
def fit(typing_context: Any, value: Any, like: Any) -> Any:
    """Convert an integer to the type of another one, or to the item type of a pointer."""
    target = like.dtype if isinstance(like, types.CPointer) else like
    signature = target(value, like)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.cast(builder, args[0], sig.args[0], sig.return_type)

    return signature, codegen


@intrinsic
def shift_left(typing_context: Any, value: Any, count: Any) -> Any:
    """Return value << count in the type of value; count is less than its width."""
    signature = value(value, value)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.shl(*args)

    return signature, codegen


@intrinsic
def shift_right(typing_context: Any, value: Any, count: Any) -> Any:
    """Return value >> count in the type of value, arithmetic if signed; count < its width."""
    signature = value(value, value)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.ashr(*args) if sig.args[0].signed else builder.lshr(*args)

    return signature, codegen
