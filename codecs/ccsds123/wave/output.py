"""Input and output of the decoder's wavefront: conversion between image rows and skewed rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.ccsds123.wave.state import LANES, RUN, State, ring_row
from gangsaw.codecs.ccsds123.wave.wavefront import WavePredictor
from gangsaw.codecs.core.arrays import NumpyArray, UInt32s
from gangsaw.codecs.core.numba.bits import ahead, fit, pointer_at
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.tiles import transpose_tile


class SampleTarget(NamedTuple):
    """Strided output array of samples, as an address; residuals are stored there before samples.

    A kernel typed by dtype and layout would be compiled for each of them.
    """

    address: int  # address of the item at (0, 0, 0)
    z_stride: int  # bytes
    y_stride: int
    x_stride: int
    width: int  # bytes of an item: 1, 2 or 4


@contextmanager
def target(out: NumpyArray) -> Iterator[SampleTarget]:
    """Yield a target for kernels in native byte order; copy the samples to `out` afterwards."""
    plain = out.dtype.isnative and out.flags.aligned
    native = out if plain else np.empty(out.shape, out.dtype.newbyteorder("="))
    z, y, x = native.strides
    yield SampleTarget(native.ctypes.data, z, y, x, native.itemsize)
    if not plain:
        out[...] = native


@jit
def write_samples(
    p: WavePredictor, s: State, out: SampleTarget, first: int, last: int, low: int, high: int
) -> None:
    """Write the samples that bands low to high - 1 completed in the steps [first, last) of a run.

    A run is RUN steps. All bands are written in the same windows of RUN samples, t = 0 .. RUN - 1
    and so on. So writes are whole cache lines, and few of them cross rows of the image. A vector of
    bands writes a window once its last band has computed it: one window per run, and the rest in
    the last run.
    """
    for group in range(low, high, LANES):
        begun, done = first - group - LANES + 1, last - group - LANES + 1
        end = -(-p.samples // RUN) if last == p.samples + p.bands - 1 else done // RUN
        for window in range(max(begun // RUN, 0), min(end, -(-p.samples // RUN))):
            _write_window(p, s, out, group, window * RUN)


@jit(part=True)
def _write_window(p: WavePredictor, s: State, out: SampleTarget, group: int, t: int) -> None:
    length, end = RUN + LANES, min(t + RUN, p.samples)  # band z is z - group steps behind
    for i in range(0, length, LANES):
        tile = ahead(ring_row(s, t + group + i), group)
        transpose_tile(ahead(s.runs, i), length, tile, s.width)
    for z in range(group, min(group + LANES, p.bands)):
        run = ahead(s.runs, (z - group) * (length + 1))
        _write_band(out, out.address + z * out.z_stride, p.columns, t, end, run)


@jit(part=True)
def _write_band(
    out: SampleTarget, band: int, columns: int, t: int, end: int, run: NumpyArray
) -> None:
    y = t // columns
    x = t - y * columns
    while t < end:
        n = min(end - t, columns - x)
        row = band + y * out.y_stride + x * out.x_stride
        if out.width == 1:
            _write_row(pointer_at(row, np.uint8(0)), out.x_stride, run, n)
        elif out.width == 2:
            _write_row(pointer_at(row, np.uint16(0)), out.x_stride >> 1, run, n)
        else:
            _write_row(pointer_at(row, np.uint32(0)), out.x_stride >> 2, run, n)
        t, y, x, run = t + n, y + 1, 0, ahead(run, n)


@jit(restrict=True, part=True)
def _write_row(row: NumpyArray, stride: int, run: NumpyArray, n: int) -> None:
    if stride == 1:  # a contiguous row, which LLVM vectorises
        for i in range(n):
            row[i] = fit(run[i], row)
    else:
        for i in range(n):
            row[i * stride] = fit(run[i], row)


@jit(part=True)
def read_residuals(
    p: WavePredictor,
    place: SampleTarget,
    residuals: UInt32s,
    first: int,
    last: int,
    low: int,
    high: int,
) -> None:
    """Load the residuals of bands low to high - 1 in the steps [first, last) of a run.

    The result is residuals[z * RUN + step - first].

    The target contains residuals until samples replace them: the residuals of a window are loaded
    before its samples are written.
    """
    for z in range(low, min(high, p.bands)):
        begin, end = max(first - z, 0), min(last - z, p.samples)
        if begin < end:
            run = ahead(residuals, z * RUN + begin + z - first)
            _read_band(place, place.address + z * place.z_stride, p.columns, begin, end, run)


@jit(part=True)
def _read_band(
    place: SampleTarget, band: int, columns: int, t: int, end: int, run: UInt32s
) -> None:
    y = t // columns
    x = t - y * columns
    while t < end:
        n = min(end - t, columns - x)
        row = band + y * place.y_stride + x * place.x_stride
        if place.width == 1:
            _read_row(pointer_at(row, np.uint8(0)), place.x_stride, run, n)
        elif place.width == 2:
            _read_row(pointer_at(row, np.uint16(0)), place.x_stride >> 1, run, n)
        else:
            _read_row(pointer_at(row, np.uint32(0)), place.x_stride >> 2, run, n)
        t, y, x, run = t + n, y + 1, 0, ahead(run, n)


@jit(restrict=True, part=True)
def _read_row(row: NumpyArray, stride: int, run: UInt32s, n: int) -> None:
    for i in range(n):
        run[i] = fit(row[i * stride], run)


@jit(inline=True, part=True)
def put_residual(place: SampleTarget, z: int, y: int, x: int, value: int) -> None:
    """Write a residual to the position of its sample; its width must suffice."""
    at = place.address + z * place.z_stride + y * place.y_stride + x * place.x_stride
    if place.width == 1:
        pointer_at(at, np.uint8(0))[0] = np.uint8(value)
    elif place.width == 2:
        pointer_at(at, np.uint16(0))[0] = np.uint16(value)
    else:
        pointer_at(at, np.uint32(0))[0] = np.uint32(value)
