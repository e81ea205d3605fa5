"""Bit planes of eight columns at once: transposition of 32 rows of 32 bits, and back.

Both ways are rounds of perfect shuffles inside halves of 128 bits, where AVX2 has them, around a
transposition of 8 x 8 bits: 1.6 instructions per word, and 0.9 with the single instruction for that
(GFNI). A mask of sign bits (vpmovmskb) for each plane takes 2.5 and has no inverse.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from gangsaw.codecs.core.numba.jit import HAS_GFNI, intrinsic
from gangsaw.codecs.core.numba.vectors.integers import element_pointer
from gangsaw.codecs.visibility.lanes.table import ROWS

COLUMNS = 8  # 32-bit columns of an AVX2 vector
PLANES = 32
PIECE = 4  # planes per store: half a vector
VECTOR_BYTES = 4 * PLANES * COLUMNS  # bytes of all planes of a vector
SLACK = 4 * PLANES  # undefined bytes written or read after the last plane

_WORDS = ir.VectorType(ir.IntType(32), COLUMNS)
_HALF = ir.VectorType(ir.IntType(32), PIECE)


@intrinsic
def store_planes(typing_context: Any, rows: Any, out: Any, at: Any, widths: Any) -> Any:
    """Write the lowest widths[c] bit planes of every column c to out[at:]; return their end.

    Columns are written in the order 0 4 1 5 2 6 3 7, as c and c + 4 are the halves of a vector. All
    32 planes of each are written: the next column overwrites the excess, and after the last column
    there must be SLACK bytes. rows is (256,) uint32, out uint8, widths (8,) int32.
    """

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source, target, place, counts = args
        vectors = []
        for row in range(ROWS):
            index = ir.IntType(64)(row * COLUMNS)
            pointer = element_pointer(context, builder, rows, source, index, _WORDS)
            vectors.append(builder.load(pointer, align=4))
        for pair, planes in enumerate(_planes(builder, vectors)):
            for half in (0, 1):
                for piece, vector in enumerate(planes):
                    index = builder.add(place, place.type(4 * PIECE * piece))
                    pointer = element_pointer(context, builder, out, target, index, _HALF)
                    builder.store(_half(builder, vector, half), pointer, align=1)
                place = _behind(context, builder, widths, counts, pair + PIECE * half, place)
        return place

    return types.int64(rows, out, types.int64, widths), codegen


@intrinsic
def load_planes(typing_context: Any, data: Any, at: Any, widths: Any, rows: Any) -> Any:
    """Undo `store_planes`; return the planes' end offset. Bits from `widths` on are undefined.

    SLACK bytes after the planes must be readable. data is uint8, widths (8,) int32, rows (256,)
    uint32.
    """

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source, place, counts, target = args
        pairs = []
        for pair in range(PIECE):
            halves = []
            for half in (0, 1):
                pieces = []
                for piece in range(PLANES // PIECE):
                    index = builder.add(place, place.type(4 * PIECE * piece))
                    pointer = element_pointer(context, builder, data, source, index, _HALF)
                    pieces.append(builder.load(pointer, align=1))
                halves.append(pieces)
                place = _behind(context, builder, widths, counts, pair + PIECE * half, place)
            both = ir.Constant(ir.VectorType(ir.IntType(32), COLUMNS), list(range(COLUMNS)))
            pairs.append(
                [builder.shuffle_vector(*couple, both) for couple in zip(*halves, strict=True)]
            )
        for row, vector in enumerate(_rows(builder, pairs)):
            index = ir.IntType(64)(row * COLUMNS)
            pointer = element_pointer(context, builder, rows, target, index, _WORDS)
            builder.store(vector, pointer, align=4)
        return place

    return types.int64(data, types.int64, widths, rows), codegen


def _behind(context: Any, builder: Any, widths: Any, counts: Any, column: int, place: Any) -> Any:
    """Emit code for the offset after a column's planes."""
    index = ir.IntType(64)(column)
    pointer = element_pointer(context, builder, widths, counts, index, ir.IntType(32))
    count = builder.zext(builder.load(pointer), place.type)
    return builder.add(place, builder.mul(count, place.type(4)))


def _half(builder: Any, vector: Any, half: int) -> Any:
    places = [PIECE * half + i for i in range(PIECE)]
    mask = ir.Constant(ir.VectorType(ir.IntType(32), PIECE), places)
    return builder.shuffle_vector(vector, vector, mask)


def _planes(builder: Any, rows: list[Any]) -> list[list[Any]]:
    """Emit code that transposes rows to bit planes: eight pieces per pair of columns (c, c + 4)."""
    if HAS_GFNI:
        fours = [_rotated(builder, rows[i : i + 4], 32) for i in range(0, ROWS, 4)]
        return [_matrix_transposed(builder, list(words)) for words in zip(*fours, strict=True)]
    octets = [_rotated(builder, rows[row::8], 8) for row in range(8)]  # [row % 8][pair]
    pairs = []
    for pair in range(PIECE):
        planes = _bits_transposed(builder, [octets[row][pair] for row in range(8)])
        low, high = (_rotated(builder, planes[i : i + 4], 32) for i in (0, 4))
        pairs.append([piece for couple in zip(low, high, strict=True) for piece in couple])
    return pairs


def _rows(builder: Any, pairs: list[list[Any]]) -> list[Any]:
    """Emit code that undoes `_planes`."""
    if HAS_GFNI:
        fours = zip(*(_matrix_transposed(builder, pieces) for pieces in pairs), strict=True)
        return [row for words in fours for row in _rotated(builder, list(words), 32)]
    octets = []
    for pieces in pairs:
        planes = [plane for i in (0, 1) for plane in _rotated(builder, pieces[i::2], 32)]
        bits = _bits_transposed(builder, planes)
        octets.append([_transpose_bytes(builder, vector) for vector in bits])
    rows: list[Any] = [None] * ROWS
    for row in range(8):
        rows[row::8] = _rotated(builder, [vectors[row] for vectors in octets], 32)
    return rows


def _rotated(builder: Any, vectors: list[Any], bits: int) -> list[Any]:
    """Apply two perfect shuffles to four vectors, within each half, by items of `bits` bits.

    The index of an item is that of its vector, two bits, then its position in the half: two
    shuffles rotate this index by two bits. This transposes items of 32 bits.
    """
    for _ in range(2):
        couples = [(vectors[i], vectors[i + 2]) for i in (0, 1)]
        vectors = [v for one, other in couples for v in _shuffled(builder, one, other, bits)]
    return vectors


def _shuffled(builder: Any, one: Any, other: Any, bits: int) -> list[Any]:
    """Interleave items of `bits` bits of two vectors: the first ones of each half, then others."""
    count = 32 * COLUMNS // bits
    items = ir.VectorType(ir.IntType(bits), count)
    one, other = builder.bitcast(one, items), builder.bitcast(other, items)
    out = []
    for first in (0, count // 4):
        order = [
            half + first + i + side
            for half in (0, count // 2)
            for i in range(count // 4)
            for side in (0, count)
        ]
        mask = ir.Constant(ir.VectorType(ir.IntType(32), count), order)
        out.append(builder.bitcast(builder.shuffle_vector(one, other, mask), _WORDS))
    return out


def _matrix_transposed(builder: Any, words: list[Any]) -> list[Any]:
    """Transpose the 32 x 32 bits of each half of eight vectors; word i is in vector i / 4."""
    octets = [_transpose_bytes(builder, vector, is_reversed=True) for vector in words]
    out = []
    eights = [_shuffled(builder, octets[i + 1], octets[i], 32) for i in (0, 2, 4, 6)]
    for some in zip(*eights, strict=True):  # bits 0 to 15 of all words, bits 16 to 31
        bits = [_eights_transposed(builder, vector) for vector in some]
        halves = [_shuffled(builder, bits[i], bits[i + 1], 8) for i in (0, 2)]
        for low, high in zip(*halves, strict=True):
            out += _shuffled(builder, low, high, 16)
    return out


def _eights_transposed(builder: Any, vector: Any) -> Any:
    """Transpose the 8 x 8 bits of each 64 bits, whose bytes are in reverse order."""
    octets = ir.VectorType(ir.IntType(8), 4 * COLUMNS)
    unit = ir.Constant(octets, [1 << bit for bit in range(8)] * (COLUMNS // 2))
    args = [unit, builder.bitcast(vector, octets), ir.IntType(8)(0)]
    function_type = ir.FunctionType(octets, [arg.type for arg in args])
    name = "llvm.x86.vgf2p8affineqb.256"
    product = cgutils.get_or_insert_function(builder.module, function_type, name)
    return builder.bitcast(builder.call(product, args), _WORDS)


def _transpose_bytes(builder: Any, vector: Any, is_reversed: bool = False) -> Any:
    """Transpose the 4 x 4 bytes of each half; if reversed, the last of each four comes first."""
    octets = builder.bitcast(vector, ir.VectorType(ir.IntType(8), 4 * COLUMNS))
    fours = range(4)[::-1] if is_reversed else range(4)
    order = [half + 4 * j + i for half in (0, 16) for i in range(4) for j in fours]
    mask = ir.Constant(ir.VectorType(ir.IntType(32), 4 * COLUMNS), order)
    return builder.bitcast(builder.shuffle_vector(octets, octets, mask), _WORDS)


def _bits_transposed(builder: Any, vectors: list[Any]) -> list[Any]:
    """Transpose eight vectors: bit i of byte n of vector j becomes bit j of byte n of vector i."""
    vectors = list(vectors)
    for step, pattern in ((4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        mask, shift = (ir.Constant(_WORDS, [value] * COLUMNS) for value in (pattern, step))
        for i in (i for i in range(8) if not i & step):
            one, other = vectors[i], vectors[i + step]
            swap = builder.and_(builder.xor(builder.lshr(one, shift), other), mask)
            vectors[i] = builder.xor(one, builder.shl(swap, shift))
            vectors[i + step] = builder.xor(other, swap)
    return vectors
