"""GPU backend of the codec of nucleotides: letters, runs and marks on the device."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Runs, lane_table
from gangsaw.codecs.core.cuda.batches import in_batches
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.upload import ALIGNED
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.dna.dense.shape import lanes_of
from gangsaw.codecs.dna.gpu_bodies import Body, shorter_bodies
from gangsaw.codecs.dna.gpu_decode import decode_blocks
from gangsaw.codecs.dna.gpu_parts import (
    NOTHING,
    PAD,
    DevicePart,
    DeviceParts,
    headed,
    joined,
    rooms,
)
from gangsaw.codecs.dna.head import HEAD
from gangsaw.codecs.dna.letters.coding import packed_size
from gangsaw.codecs.dna.letters.gpu_split import Texts, split
from gangsaw.codecs.dna.memory import decoder_device_bytes, encoder_device_bytes
from gangsaw.codecs.dna.params import Params
from gangsaw.codecs.dna.payload import NO_LANES, PACKED, RAW, LaneBits


def encode(sources: Sequence[DeviceArray], params: Params, output: Output) -> None:
    """Encode every block to the same bytes as on the CPU.

    Parameters
    ----------
    sources : CuPy blocks (n,) uint8, any strides
    params : choices of the encoder
    output : in host memory; takes what `cpu.encode` gives it

    Raises
    ------
    DeviceError : one block alone is too large for the device's memory, or the device failed
    """
    needed = [encoder_bytes(source, params) for source in sources]
    output.take_all(in_batches(partial(_encode_run, params=params), needed, sources))


def encoder_bytes(source: DeviceArray, params: Params) -> int:
    """Return a bound on the device memory that encoding one block takes."""
    return encoder_device_bytes(source.shape[0], params.has_lanes)


def _encode_run(sources: Sequence[DeviceArray], params: Params) -> Runs:
    """Encode what fits the device at once."""
    cp = cupy()
    letters = [one if _is_plain(one) else cp.array(one, order="C") for one in sources]
    sizes = [packed_size(text.shape[0]) for text in letters]
    places = rooms([PAD + HEAD.size + size for size in sizes])
    memory = cp.empty(places[-1], np.uint8)
    packed = [memory.data.ptr + place + PAD + HEAD.size for place in places[:-1]]
    texts = Texts(letters, packed)
    marks = split(texts, sizes if params.mode == "pack" else [0] * len(sizes))
    plain = [Body(PACKED, DevicePart(*both)) for both in zip(packed, sizes, strict=True)]
    bodies, held = shorter_bodies(params.mode, plain, texts, marks)
    chosen = [_chosen(*one) for one in zip(letters, bodies, marks.parts, strict=True)]
    payloads = [payload for payload, _ in chosen]
    if payloads == [DeviceParts(*body[:2], NOTHING, NOTHING) for body in plain]:
        data = headed(memory, places, payloads)
    else:
        data = joined(payloads)
    del held  # what the parts of payloads lay in
    if not params.has_lanes:
        return Runs(tuple(data))
    n_lanes = lanes_of(int(texts.sizes.max()))  # as the index has them
    bits = [np.pad(own, (0, n_lanes - own.size)) for _, own in chosen]
    return Runs(tuple(data), lane_table(bits))


def _chosen(
    text: DeviceArray, body: Body, marks: tuple[DevicePart, DevicePart] | None
) -> tuple[DeviceParts, LaneBits]:
    """Return what is stored of a text: body and marks, or itself where it is not longer; lanes."""
    n = text.shape[0]
    if marks is None or body.part.size + sum(part.size for part in marks) >= n:
        return DeviceParts(RAW, DevicePart(text.data.ptr, n), NOTHING, NOTHING), NO_LANES
    return DeviceParts(body.form, body.part, *marks), body.bits


def _is_plain(letters: DeviceArray) -> bool:
    """Whether kernels can take letters 16 at a time."""
    return letters.strides == (1,) and letters.data.ptr % ALIGNED == 0


def decode(runs: Runs, targets: Sequence[DeviceArray], params: Params) -> None:
    """Decode every block into its target.

    Parameters
    ----------
    runs : the encoded blocks, in host memory, verified
    targets : (n,) CuPy views of uint8 to fill, any strides
    params : what the blocks were encoded with

    Raises
    ------
    CorruptChunk : a block is not of its target's extent; the others are decoded
    DeviceError : one block alone is too large for the device's memory, or the device failed
    """
    pairs = zip(runs.payloads, targets, strict=True)
    needed = [
        decoder_device_bytes(payload.size, target.shape[0], params.has_lanes)
        for payload, target in pairs
    ]
    in_batches(_decode_run, needed, runs, targets)


def _decode_run(runs: Runs, targets: Sequence[DeviceArray]) -> None:
    """Decode what fits the device at once; name the first block that is wrong."""
    outs = [one if _is_plain(one) else cupy().empty(one.shape, np.uint8) for one in targets]
    bits = [NO_LANES] * len(runs) if runs.lane_bits is None else list(runs.lane_bits)
    wrong = decode_blocks([runs.take(i) for i in range(len(runs))], bits, outs)
    for i, (target, out) in enumerate(zip(targets, outs, strict=True)):
        if out is not target and i not in wrong:
            target[...] = out
    if wrong:
        first = min(wrong)
        raise CorruptChunk(wrong[first].reason, block=first) from wrong[first]
