"""GPU encoder of blocks: packing, runs and marks on the device."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gangsaw.codecs.core.backends.batch import Encoded
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.upload import ALIGNED
from gangsaw.codecs.core.nucleotides.packing import packed_size
from gangsaw.codecs.core.nucleotides.uracil import exchange, has_uracil
from gangsaw.codecs.dna.device.gpu_bodies import Body, shorter_bodies
from gangsaw.codecs.dna.gpu_parts import (
    NOTHING,
    PAD,
    DevicePart,
    DeviceParts,
    aligned_offsets,
    concatenate_payloads,
    write_heads,
)
from gangsaw.codecs.dna.head import HEAD
from gangsaw.codecs.dna.letters.gpu_split import DeviceMarks, Texts, bases_in, split_text
from gangsaw.codecs.dna.params import Params
from gangsaw.codecs.dna.payload import EXCHANGED, NO_LANES, PACKED, RAW, LaneBits


def encode_blocks(sources: Sequence[DeviceArray], params: Params) -> list[Encoded]:
    """Encode a batch of blocks on the GPU; the batch must fit its memory."""
    cp = cupy()
    letters = [one if is_plain(one) else cp.array(one, order="C") for one in sources]
    sizes = [packed_size(text.shape[0]) for text in letters]
    places = aligned_offsets([PAD + HEAD.size + size for size in sizes])
    # zeros, as the space for heads is copied to the host, too
    memory = cp.zeros(places[-1], np.uint8)
    packed = [memory.data.ptr + place + PAD + HEAD.size for place in places[:-1]]
    least = sizes if params.mode == "pack" else [0] * len(sizes)
    texts = Texts(letters, packed)
    marks = split_text(texts, least)
    exchanged = _exchanged(texts, marks)
    if exchanged:
        texts = Texts([exchanged.get(i, one) for i, one in enumerate(letters)], packed)
        marks = split_text(texts, least)
    plain = [Body(PACKED, DevicePart(*both)) for both in zip(packed, sizes, strict=True)]
    bodies, held = shorter_bodies(params.mode, plain, texts, marks)
    for i in exchanged:
        bodies[i] = bodies[i]._replace(form=bodies[i].form + EXCHANGED)
    chosen = [_chosen(*one) for one in zip(letters, bodies, marks.parts, strict=True)]
    payloads = [payload for payload, _ in chosen]
    if payloads == [DeviceParts(*body[:2], NOTHING, NOTHING) for body in plain]:
        data = write_heads(memory, places, payloads)
    else:
        data = concatenate_payloads(payloads)
    del held  # owner of the memory of payload parts
    pairs = zip(data, chosen, strict=True)
    return [Encoded((one,), bits if params.has_lanes else None) for one, (_, bits) in pairs]


def _exchanged(texts: Texts, marks: DeviceMarks) -> dict[int, DeviceArray]:
    """Return copies of those texts that are RNA with T and U exchanged, by index."""
    found = {}
    for i, (text, n_bases) in enumerate(zip(texts.letters, bases_in(texts, marks), strict=True)):
        n = text.shape[0]
        if n_bases < n and has_uracil(text, n):
            found[i] = cupy().array(text, order="C")
            exchange(found[i], n)
    return found


def _chosen(
    text: DeviceArray, body: Body, marks: tuple[DevicePart, DevicePart] | None
) -> tuple[DeviceParts, LaneBits]:
    """Return the stored parts of a block: body and marks, or the raw text if that is not longer.

    The second result is the bits of its lanes.
    """
    n = text.shape[0]
    if marks is None or body.part.size + sum(part.size for part in marks) >= n:
        return DeviceParts(RAW, DevicePart(text.data.ptr, n), NOTHING, NOTHING), NO_LANES
    return DeviceParts(body.form, body.part, *marks), body.bits


def is_plain(text: DeviceArray) -> bool:
    """Return True if a text is contiguous and aligned: then kernels can load 16 letters at once."""
    return text.strides == (1,) and text.data.ptr % ALIGNED == 0
