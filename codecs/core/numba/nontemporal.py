"""Non-temporal stores, which write to memory and leave the caches to other data.

An ordinary store reads its cache line from memory first, and writes it back later. A non-temporal
one does neither, but only for whole lines: a line that is written in part goes to memory in
several parts. So the ends of a range are ordinary stores.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types

from gangsaw.codecs.core.memory.aligned import LINE, address_of
from gangsaw.codecs.core.numba.bits import ItemPointer, ahead, pointer, size_of
from gangsaw.codecs.core.numba.jit import intrinsic, jit
from gangsaw.codecs.core.numba.lowering import (
    Args,
    Builder,
    Context,
    Lowering,
    Signature,
    TypingContext,
    Value,
)
from gangsaw.codecs.core.numba.vectors.integers import static

UNIT = 16  # bytes per store, and their alignment: NumPy's own memory has no larger one
_ORDINARY, _NONTEMPORAL = static(0), static(1)


def copy_nontemporal(source: npt.NDArray[np.uint8], target: npt.NDArray[np.uint8]) -> None:
    """Copy contiguous bytes with stores that bypass the caches, for outputs from LONG bytes on.

    `target` may be a part of such an output.
    """
    _copy(source, target, address_of(target))


@jit(norefs=True)
def _copy(source: npt.NDArray[np.uint8], target: npt.NDArray[np.uint8], place: int) -> None:
    first = min(-place % UNIT, source.size)
    end = first + (source.size - first) // UNIT * UNIT
    for i in range(first):
        target[i] = source[i]
    write_piece(pointer(source, first), place + first, end - first, True, True)
    for i in range(end, source.size):
        target[i] = source[i]
    drain()


@jit(inline=True, part=True, norefs=True)
def write_piece(source: ItemPointer[int], place: int, size: int, begins: bool, ends: bool) -> None:
    """Copy bytes from a pointer to an address, with stores that bypass the caches for whole lines.

    Source, `place` and `size` are multiples of UNIT bytes.

    begins, ends : True if the first, or the last, cache line also has bytes that others write
    """
    step = UNIT // size_of(source)
    units = size // UNIT
    head = min((-place % LINE) // UNIT if begins else 0, units)
    tail = max(units - ((place + size) % LINE) // UNIT if ends else units, head)
    for unit in range(head):
        move_unit(ahead(source, unit * step), place + unit * UNIT, _ORDINARY)
    for unit in range(head, tail):
        move_unit(ahead(source, unit * step), place + unit * UNIT, _NONTEMPORAL)
    for unit in range(tail, units):
        move_unit(ahead(source, unit * step), place + unit * UNIT, _ORDINARY)


@jit(inline=True, part=True, norefs=True)
def write_lines(source: ItemPointer[int], place: int, size: int) -> None:
    """Copy `size` bytes, a multiple of LINE, to an address with stores that bypass the caches.

    The address is a multiple of UNIT. The rest of the first and of the last cache line must be
    written by the calls before and after it.
    """
    step = UNIT // size_of(source)
    for line in range(size // LINE):
        for unit in range(line * (LINE // UNIT), (line + 1) * (LINE // UNIT)):
            move_unit(ahead(source, unit * step), place + unit * UNIT, _NONTEMPORAL)


@intrinsic
def move_unit(
    typing_context: TypingContext,
    source: types.CPointer,
    place: types.Integer,
    nontemporal: types.BaseTuple,
) -> Lowering:
    """Copy UNIT bytes from a pointer to an address; past the caches if `nontemporal` is 1."""
    unit = ir.VectorType(ir.IntType(8), UNIT)

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        value = builder.load(builder.bitcast(args[0], unit.as_pointer()), align=1)
        target = builder.inttoptr(args[1], unit.as_pointer())
        store = builder.store(value, target, align=UNIT)
        if nontemporal.count:
            store.set_metadata("nontemporal", builder.module.add_metadata([ir.IntType(32)(1)]))
        return context.get_dummy_value()

    return types.void(source, types.int64, nontemporal), codegen


@intrinsic
def drain(typing_context: TypingContext) -> Lowering:
    """Wait until other threads see all non-temporal stores."""

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen
