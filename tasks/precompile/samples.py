"""Samples of a codec as input that compiles its kernels."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import cast

import numpy as np

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.container.grid import Piece
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw.codecs.core.zarr.block_codec import BlockCodec
from gangsaw.codecs.core.zarr.bytes_codec import BytesCodec

Coding = type[BlockCodec] | type[BytesCodec]


def codec_names() -> list[str]:
    """Return the short names of all array codecs and byte codecs."""
    return [name.removeprefix(codec_table.PREFIX) for name in codec_table.names()]


def checked_codec(name: str) -> str:
    """Return the name of a codec; raise BadParams if it does not exist."""
    if name not in codec_names():
        raise BadParams(f"no codec is called {name!r}: there are {', '.join(codec_names())}")
    return name


def run_samples(codec: str) -> None:
    """Encode and decode all samples of a codec, whole and in parts, so that its kernels compile.

    Each sample is encoded in every memory order.
    """
    for kind, sample in codec_samples(checked_codec(codec)):
        coded = kind(**vars(sample.params))
        if isinstance(coded, BytesCodec):
            coded.decode_bytes(coded.encode_bytes(sample.array.view(np.uint8)))
            continue
        for array in _orders(sample):
            _in_and_out(coded.coder(array.shape, array.dtype), array)


def codec_samples(codec: str) -> Iterator[tuple[Coding, Sample]]:
    """Yield the samples of a codec, each with its codec class."""
    every: list[Coding] = [*codec_table.classes(), *codec_table.bytes_classes()]
    for kind in every:
        if kind.codec_name == f"{codec_table.PREFIX}{codec}":
            package = kind.__module__.rpartition(".")[0]
            for sample in import_module(f"{package}.samples").samples():
                yield kind, sample


def _orders(sample: Sample) -> Iterator[NumpyArray]:
    yield sample.array
    if sample.array.ndim > 1:
        yield np.asfortranarray(sample.array)
        yield np.repeat(sample.array, 2, axis=-1)[..., ::2]  # strides of a part of a chunk


def _in_and_out(coder: ChunkCoder, array: NumpyArray) -> None:
    data, out = coder.encode(array), np.empty_like(array)
    coder.decode(data, out)
    if array.size:
        for selection in _parts(array.shape):
            coder.fill([_read(coder, data, selection)], [out])


def _parts(shape: tuple[int, ...]) -> Iterator[tuple[Piece, ...]]:
    """Yield selections of an array: its first items along all axes, and along each axis alone."""
    for ends in ((1,) * len(shape), *((*shape[:i], 1, *shape[i + 1 :]) for i in range(len(shape)))):
        yield tuple(slice(0, end, 1) for end in ends)


def _read(coder: ChunkCoder, data: memoryview, selection: tuple[Piece, ...]) -> Runs:
    """Return the blocks that a selection of a chunk needs, fetched as by a reader of a store."""
    reader = coder.read(selection)
    wanted = next(reader)
    while True:
        try:
            wanted = reader.send([data if wish is None else data[slice(*wish)] for wish in wanted])
        except StopIteration as end:
            return cast(Runs, end.value)
