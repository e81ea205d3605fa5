"""Bodies of payloads on a GPU: the mode's coding of bases, where shorter than packed bases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gangsaw.codecs.dna.dense import gpu_coding as dense
from gangsaw.codecs.dna.dense.model.shape import shape_of
from gangsaw.codecs.dna.gencodex import gpu_coding as gencodex
from gangsaw.codecs.dna.gpu_parts import NOTHING, DevicePart
from gangsaw.codecs.dna.letters.gpu_split import DeviceMarks, Texts, bases_in, take_bases
from gangsaw.codecs.dna.payload import DENSE, NO_LANES, RUNS, LaneBits


class Body(NamedTuple):
    """Coded bases of a payload, between head and marks, in device memory.

    Attributes
    ----------
    form : form of the payload, such as PACKED or DENSE
    part : bytes of the body
    bits : (lanes,) int64, bits of each lane; a single 0 without lanes
    """

    form: int
    part: DevicePart
    bits: LaneBits = NO_LANES


def shorter_bodies(
    mode: str, packed: Sequence[Body], texts: Texts, marks: DeviceMarks
) -> tuple[list[Body], object]:
    """Encode the bases of blocks in the mode; return these bodies if shorter than packed bases.

    The second result owns their memory.

    packed : packed bases of each block
    """
    if mode == "gencodex":
        runs = gencodex.encode_runs([body.part for body in packed])
        own = [None if part is None else Body(RUNS, part) for part in runs.parts]
        return [one or body for one, body in zip(own, packed, strict=True)], runs.memory
    if mode == "dense":
        found, memory = _dense_bodies(texts, marks)
        pairs = zip(packed, found, strict=True)
        return [own if own.part.size < body.part.size else body for body, own in pairs], memory
    return list(packed), None


def _dense_bodies(texts: Texts, marks: DeviceMarks) -> tuple[list[Body], object]:
    """Encode the bases of blocks in mode dense; empty bodies for those without bases.

    Bodies of blocks whose marks are too long are empty, too.
    """
    known = enumerate(zip(bases_in(texts, marks), marks.parts, strict=True))
    shapes = {i: shape_of(n) for i, (n, own) in known if n and own is not None}
    bodies = [Body(DENSE, NOTHING) for _ in marks.parts]
    if not shapes:
        return bodies, None
    codes = {i: dense.new_codes(shape) for i, shape in shapes.items()}
    rows = [
        (codes[i].data.ptr, shapes[i].steps, shapes[i].stride) if i in shapes else (0, 1, 1)
        for i in range(len(bodies))
    ]
    take_bases(texts, marks.odd, rows)
    lanes, memory = dense.encode_blocks(list(shapes.values()), list(codes.values()))
    for i, own in zip(shapes, lanes, strict=True):
        bodies[i] = Body(DENSE, own.body, own.bits)
    return bodies, memory
