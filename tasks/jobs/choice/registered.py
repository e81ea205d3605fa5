"""Zarr's own codecs from floats to integers, for arrays whose chunks they encode losslessly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer.cpu import buffer_prototype as host_prototype
from zarr.dtype import parse_dtype
from zarr.registry import get_codec_class

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.plugins.selection import ArrayFacts
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.engine.run.run import run_batches
from gangsaw.tasks.sources.source import SourceArray
from gangsaw.tasks.store.arrays.chunks import ChunkGrid
from gangsaw.tasks.store.arrays.codec_pipeline import steps_of
from gangsaw.tasks.store.arrays.layout import CodecChoice, Filtered, default_chunks

if TYPE_CHECKING:
    from distributed import Client
    from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec
    from zarr.core.buffer import NDArrayLike, NDBuffer
    from zarr.core.common import JSON

    from gangsaw.codecs.core.zarr.named import NamedCodec

COPIES = 6  # of a chunk in memory: floats scaled, cast, and the way back


@dataclass(frozen=True)
class ProveLossless:
    """Chunk function that tests if Zarr's own codecs restore every bit of the chunks of a batch."""

    source: SourceArray
    grid: ChunkGrid
    filters: tuple[ArrayArrayCodec, ...]
    fill_value: object
    peak_bytes: int
    name: str = "prove"

    def __call__(self, batch: range) -> bool:
        """Return True if every bit of the chunks is restored."""
        return all(self._prove_chunk(number) for number in batch)

    def _prove_chunk(self, number: int) -> bool:
        with name_failed_chunk(f"{number} of {self.source.name}"):
            samples = self.source.read(self.grid.region(number))
            return restores_every_bit(self.filters, samples, self.fill_value)


def prefer_registered(
    codec: CodecChoice, source: SourceArray, facts: ArrayFacts, client: Client | None
) -> CodecChoice:
    """Return Zarr's own codecs that the chosen codec proposes, if any and if they are lossless.

    Otherwise the chosen codec is returned.
    """
    name = getattr(codec, "codec_name", "")
    if name not in codec_table.capabilities() or facts.sample is None or dry_run.is_quick():
        return codec
    params = cast("NamedCodec", codec).params.to_dict()
    codecs = codec_table.query_codec(name, lambda a: a.registered(facts, params))
    return codec if codecs is None else build_lossless_chain(codecs, source, client) or codec


def build_lossless_chain(
    codecs: Sequence[Mapping[str, object]], source: SourceArray, client: Client | None
) -> Filtered | None:
    """Return a chain of Zarr's own codecs; None if it loses a bit of the array.

    Parameters
    ----------
    codecs : JSON of each codec; the last one is the serializer
    source : array to test; every chunk is read
    """
    made = _make_codecs(codecs)
    if made is None:
        return None
    filters = cast("tuple[ArrayArrayCodec, ...]", tuple(made[:-1]))
    fill = source.fill_value if source.fill_value is not None else source.dtype.type(0)
    grid = ChunkGrid(source.shape, source.chunks or default_chunks(source))
    grid.check_count(source.name)
    peak = COPIES * source.dtype.itemsize * int(np.prod(grid.chunks))
    prove = ProveLossless(source, grid, filters, fill, peak)
    middle = grid.n_chunks // 2
    if not prove(range(middle, middle + 1)):
        return None
    found: list[bool] = []
    batches = [range(i, i + 1) for i in range(grid.n_chunks)]
    run_batches(prove, batches, lambda _, own: found.append(own), client=client)
    return Filtered(filters, cast("ArrayBytesCodec", made[-1])) if all(found) else None


def restores_every_bit(
    filters: tuple[ArrayArrayCodec, ...], samples: NumpyArray, fill_value: object
) -> bool:
    """Return True if filters restore every bit of the samples; False if they cannot encode them."""
    samples = np.ascontiguousarray(samples, samples.dtype.newbyteorder("="))
    config = ArrayConfig("C", True)
    kind = parse_dtype(samples.dtype, zarr_format=3)
    try:
        spec = ArraySpec(samples.shape, kind, fill_value, config, host_prototype)
        with np.errstate(
            over="raise"
        ):  # a fill value beyond the range of floats would give each reader a warning
            steps = steps_of(filters, spec)
        coded: NDBuffer = host_prototype.nd_buffer.from_ndarray_like(cast("NDArrayLike", samples))
        with np.errstate(all="ignore"):
            for codec, of in steps:
                coded = cast("NDBuffer", codec._encode_sync(coded, of))
            for codec, of in reversed(steps):
                coded = cast("NDBuffer", codec._decode_sync(coded, of))
    except (TypeError, ValueError, ArithmeticError, ImportError):
        return False
    bits = f"u{samples.dtype.itemsize}"
    return np.array_equal(coded.as_numpy_array().view(bits), samples.view(bits))


def _make_codecs(codecs: Sequence[Mapping[str, object]]) -> list[object] | None:
    """Return Zarr's codec objects for their JSON; None if this version of Zarr lacks one."""
    try:
        return [
            get_codec_class(str(one["name"])).from_dict(cast("dict[str, JSON]", dict(one)))
            for one in codecs
        ]
    except (KeyError, ImportError, ValueError):  # zarr raises one of them, by its version
        return None
