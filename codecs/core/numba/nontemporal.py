"""Writing past the caches: what is longer than they are would throw out what is needed next.

An ordinary store reads its cache line from memory first, and writes it back later: 64 MB in pieces
of a KiB were written with 10 GB/s, past the caches with 23. It needs whole lines: those that are
written in part go to memory in part, with 7 GB/s. So the ends of a piece are ordinary stores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types

from gangsaw.codecs.core.memory.aligned import LINE, address_of
from gangsaw.codecs.core.numba.bits import ahead, pointer, size_of
from gangsaw.codecs.core.numba.jit import intrinsic, jit_bare, jit_bare_inline
from gangsaw.codecs.core.numba.simd import static

UNIT = 16  # bytes that are written at once, and aligned: NumPy's own memory is no more than that
_ORDINARY, _PAST = static(0), static(1)


def copy_past_cache(source: npt.NDArray[np.uint8], target: npt.NDArray[np.uint8]) -> None:
    """Copy bytes, contiguous; use it where the array that `target` is of is LONG."""
    _copy(source, target, address_of(target))


@jit_bare
def _copy(source: Any, target: Any, place: int) -> None:
    first = min(-place % UNIT, source.size)
    end = first + (source.size - first) // UNIT * UNIT
    for i in range(first):
        target[i] = source[i]
    write_piece(pointer(source, first), place + first, end - first, True, True)
    for i in range(end, source.size):
        target[i] = source[i]
    drain()


@jit_bare_inline
def write_piece(source: Any, place: int, size: int, begins: bool, ends: bool) -> None:
    """Write bytes from a pointer to an address; both, and the size, are multiples of UNIT.

    begins, ends : whether what is before, or behind, is of others: its line is shared with them
    """
    step = UNIT // size_of(source)
    units = size // UNIT
    head = min((-place % LINE) // UNIT if begins else 0, units)
    tail = max(units - ((place + size) % LINE) // UNIT if ends else units, head)
    for unit in range(head):
        move_unit(ahead(source, unit * step), place + unit * UNIT, _ORDINARY)
    for unit in range(head, tail):
        move_unit(ahead(source, unit * step), place + unit * UNIT, _PAST)
    for unit in range(tail, units):
        move_unit(ahead(source, unit * step), place + unit * UNIT, _ORDINARY)


@jit_bare_inline
def write_lines(source: Any, place: int, size: int) -> None:
    """Write bytes from a pointer to an address, a multiple of UNIT; the size is one of LINE.

    What it begins, or ends, of a line has to come with other calls right before, and after.
    """
    step = UNIT // size_of(source)
    for line in range(size // LINE):
        for unit in range(line * (LINE // UNIT), (line + 1) * (LINE // UNIT)):
            move_unit(ahead(source, unit * step), place + unit * UNIT, _PAST)


@intrinsic
def move_unit(typing_context: Any, source: Any, place: Any, past: Any) -> Any:
    """Copy UNIT bytes from a pointer to an address; `past` is `static`, 1 for past the caches."""
    unit = ir.VectorType(ir.IntType(8), UNIT)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = builder.load(builder.bitcast(args[0], unit.as_pointer()), align=1)
        target = builder.inttoptr(args[1], unit.as_pointer())
        store = builder.store(value, target, align=UNIT)
        if past.count:
            store.set_metadata("nontemporal", builder.module.add_metadata([ir.IntType(32)(1)]))
        return context.get_dummy_value()

    return types.void(source, types.int64, past), codegen


@intrinsic
def drain(typing_context: Any) -> Any:
    """Wait until other threads see what was written past the caches."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen
