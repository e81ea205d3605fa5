"""Parts of payloads on a GPU, and their concatenation from separate buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import launch, load_module, pull
from gangsaw.codecs.core.cuda.upload import ALIGNED
from gangsaw.codecs.dna.head import HEAD

THREADS, SLICE = 256, 1 << 16  # as in parts.cu
PAD = -HEAD.size % ALIGNED  # before a head, so that the body is aligned


class DevicePart(NamedTuple):
    """Range of bytes in device memory.

    Attributes
    ----------
    address : address of the first byte
    size : number of bytes
    """

    address: int
    size: int


NOTHING = DevicePart(0, 0)


class DeviceParts(NamedTuple):
    """Payload as separate ranges of device memory: body, exceptions and cases.

    Attributes
    ----------
    form : form as stored in the head
    body, exceptions, cases : parts after the head; cases are the runs of lower case
    """

    form: int
    body: DevicePart
    exceptions: DevicePart
    cases: DevicePart

    @property
    def size(self) -> int:
        """Number of bytes of the payload."""
        return HEAD.size + sum(part.size for part in self[1:])


def aligned_size(size: int) -> int:
    """Return the bytes of an aligned buffer for `size` bytes."""
    return -(-size // ALIGNED) * ALIGNED


def aligned_offsets(sizes: Sequence[int]) -> list[int]:
    """Return the start offsets of aligned buffers of these sizes in one allocation, and its end."""
    ends: list[int] = np.cumsum([0, *(aligned_size(size) for size in sizes)]).tolist()
    return ends


def concatenate_payloads(payloads: Sequence[DeviceParts]) -> list[Payload]:
    """Copy payloads to host memory, each concatenated behind its head."""
    places = aligned_offsets([PAD + payload.size for payload in payloads])
    # zeros, as the space for heads is copied to the host, too
    out = cupy().zeros(places[-1], np.uint8)
    moves = []
    for place, payload in zip(places, payloads, strict=False):
        to = out.data.ptr + place + PAD + HEAD.size
        for part in payload[1:]:
            moves.append((part.address, to, part.size))
            to += part.size
    _launch_moves([move for move in moves if move[-1]])
    return write_heads(out, places, payloads)


def gather_parts(parts: Sequence[DevicePart]) -> DeviceArray:
    """Concatenate ranges of device memory, (n,) uint8 there."""
    ends = np.cumsum([part.size for part in parts])
    out: DeviceArray = cupy().empty(int(ends[-1]), np.uint8)
    moves = [
        (part.address, out.data.ptr + end - part.size, part.size)
        for part, end in zip(parts, ends.tolist(), strict=True)
    ]
    _launch_moves(moves)
    return out


def _launch_moves(moves: Sequence[tuple[int, int, int]]) -> None:
    slices = -(-max(size for *_, size in moves) // SLICE)
    kernel = load_module(__package__, "parts.cu", {}).get_function("join_parts")
    arguments = cupy().asarray(np.array(moves, np.int64)), np.int32(slices)
    launch(kernel, len(moves) * slices, THREADS, arguments)


def write_heads(
    out: DeviceArray, offsets: Sequence[int], payloads: Sequence[DeviceParts]
) -> list[Payload]:
    """Write the head of each payload before its body in `out`; return the payloads on the host."""
    host: Payload = pull(out).view(np.uint8)
    found = []
    for place, payload in zip(offsets, payloads, strict=False):
        own = host[place + PAD : place + PAD + payload.size]
        HEAD.pack_into(own.data, 0, payload.form, payload.exceptions.size, payload.cases.size)
        found.append(own)
    return found
