"""Bit and lane primitives for Numba kernels: big-endian words at any byte address, plain shifts."""

from __future__ import annotations

import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import populate_array

from gangsaw.codecs.core.numba.jit import HAS_AVX512, intrinsic

FIRST_LEVEL, SECOND_LEVEL = 3, 2  # caches, as LLVM counts: how near a line is kept


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
def load_raw64(typing_context: Any, data: Any, index: Any) -> Any:
    """uint64 of the bytes data[index:index + 8] in the machine's order; data is (n,) uint8."""
    signature = types.uint64(data, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = _element_pointer(context, builder, sig.args[0], *args)
        word = builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()))
        word.align = 1
        return word

    return signature, codegen


@intrinsic
def big_endian(typing_context: Any, word: Any) -> Any:
    """Turn what `load_raw64` gives into what `load_be64` does: here vectors can do it."""
    signature = word(word)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bswap(args[0]) if sys.byteorder == "little" else args[0]

    return signature, codegen


@intrinsic
def swapped(typing_context: Any, word: Any) -> Any:
    """Bytes of an integer in the reverse order."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bswap(args[0])

    return word(word), codegen


@intrinsic
def prefetch(typing_context: Any, data: Any, index: Any) -> Any:
    """Ask for the cache line of data[index], of any dtype; any index will do."""
    return types.void(data, types.int64), _prefetch_to(FIRST_LEVEL)


@intrinsic
def prefetch_second(typing_context: Any, data: Any, index: Any) -> Any:
    """As `prefetch`, into the second-level cache: for more lines than the first one takes.

    That waits for two dozen of them at once, the second one for more.
    """
    return types.void(data, types.int64), _prefetch_to(SECOND_LEVEL)


def _prefetch_to(level: int) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = _element_pointer(context, builder, sig.args[0], *args)
        place = builder.bitcast(place, ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [place.type, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        builder.call(function, [place, word(0), word(level), word(1)])  # read, keep, data
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
    """Count the zero bits before the first one of a uint64, 32 where there are more."""
    signature = types.int32(types.uint64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        half = ir.IntType(32)
        high = builder.trunc(builder.lshr(args[0], args[0].type(32)), half)
        return count_leading_zeros(builder, high)

    return signature, codegen


def count_leading_zeros(builder: Any, word: Any) -> Any:
    """Emit the count for an integer or a vector of integers.

    Vectors of 32 bits have an instruction for it in AVX-512 alone; for AVX2 LLVM looks it up in
    tables, in many steps. The exponent of a float says it too: that of the first one bit alone,
    since rounding could carry where other bits are set.
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


# Inside kernels an array's rows are passed on as plain pointers: Numba counts references of arrays
# with locked instructions, passes each as seven words, and wraps negative indices, which keeps
# LLVM from vectors. Numba indexes a pointer like C does.


@intrinsic
def pointer(typing_context: Any, array: Any, index: Any) -> Any:
    """Return the address of array[index], contiguous and 1-D; keep the array alive yourself."""
    signature = types.CPointer(array.dtype)(array, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _element_pointer(context, builder, sig.args[0], *args)

    return signature, codegen


@intrinsic
def pointers(typing_context: Any, arrays: Any) -> Any:
    """Return a NamedTuple with the addresses of its arrays, contiguous and 1-D; integers stay.

    Keep the arrays alive yourself.
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
    """Return the address that many items further on."""
    signature = address(address, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.gep(args[0], [args[1]])

    return signature, codegen


@intrinsic
def pointer_at(typing_context: Any, address: Any, like: Any) -> Any:
    """Return a pointer to integers of the type of `like`, from a byte address.

    It has to be aligned for them where they are taken one by one.
    """
    signature = types.CPointer(like)(types.int64, like)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], args[1].type.as_pointer())

    return signature, codegen


@intrinsic
def size_of(typing_context: Any, address: Any) -> Any:
    """Bytes of what a pointer points to, as a constant."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return ir.IntType(64)(address.dtype.bitwidth // 8)

    return types.int64(address), codegen


@intrinsic
def octets_at(typing_context: Any, address: Any, size: Any) -> Any:
    """Array (size,) uint8 of the memory from an address on; keep its owner alive yourself."""
    octets = types.Array(types.uint8, 1, "C")

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = context.make_array(octets)(context, builder)
        data = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        one = ir.IntType(64)(1)
        populate_array(array, data, shape=[args[1]], strides=[one], itemsize=one, meminfo=None)
        return array._getvalue()

    return octets(types.int64, types.int64), codegen


# Numba widens the result of every integer operation to 64 bits. Sums, products and bitwise
# operations get back to 32-bit lanes by `fit`; a shift has to be done there from the start.


@intrinsic
def fit(typing_context: Any, value: Any, like: Any) -> Any:
    """Return an integer in the type of another one, or of what a pointer points to."""
    target = like.dtype if isinstance(like, types.CPointer) else like
    signature = target(value, like)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.cast(builder, args[0], sig.args[0], sig.return_type)

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
