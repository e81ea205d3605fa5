"""Damage to what codecs read: blocks, frames, streams and parameters of every codec."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from helpers.every_codec import Case, cases, codec_types, coder, folder, package
from helpers.fenced_memory import fenced

from fuzz.damage import Octets, Rng, damaged, damaged_json
from fuzz.fence import Fence
from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.zarr.block_codec import BlockCodec

Attempt = Callable[[Rng], object]
MOST_BYTES = 1 << 18  # of a sample: larger ones are damaged no better, and slower


def targets() -> dict[str, Callable[[], Attempt]]:
    """Return what makes an attempt at each, by name."""
    found: dict[str, Callable[[], Attempt]] = {}
    for kind in codec_types():
        name = folder(kind)
        found[f"blocks-{name}"] = lambda kind=kind: _blocks(kind)
        found[f"frames-{name}"] = lambda kind=kind: _frames(kind)
        found[f"parameters-{name}"] = lambda kind=kind: _parameters(kind)
        if find_spec(f"{package(kind)}.stream"):
            found[f"streams-{name}"] = lambda kind=kind: _streams(kind)
    return found


class Coded:
    """A sample, encoded, and where it is decoded to: arrays between pages without access."""

    def __init__(self, case: Case) -> None:
        self.coder = coder(case)
        self.data = np.frombuffer(bytes(case.encode()), np.uint8)
        self.runs = frame.unpack(self.data, self.coder.layout)
        self.outs = [fenced(np.zeros_like(case.array), at_end) for at_end in (False, True)]
        self.fences = [Fence(2 * part.size + 4096) for part in self.runs.payloads]
        self.fence = Fence(2 * self.data.size + 4096)

    def damaged_blocks(self, rng: Rng) -> Runs:
        """Damage of one block, or of its lanes, as a forger does it who keeps checksums right."""
        payloads = [np.array(part) for part in self.runs.payloads]
        lanes = None if self.runs.lane_bits is None else self.runs.lane_bits.copy()
        which = int(rng.integers(len(payloads)))
        if lanes is None or rng.random() < 0.7:
            payloads[which] = damaged(payloads[which], rng)
        if lanes is not None and lanes.shape[1] and rng.random() < 0.5:
            lanes[which] = self._other_lanes(lanes[which], rng)
        return Runs(tuple(payloads), lanes)

    def _other_lanes(self, bits: Any, rng: Rng) -> Any:
        """Lanes that are longer or shorter, that give to another, or that a number cannot hold."""
        most = (1 << 8 * self.coder.layout.lane_bytes) - 1
        one, other = rng.integers(bits.size, size=2)
        what = rng.integers(3)
        if what == 0:
            moved = int(rng.integers(0, int(bits[one]) + 1)) & ~7
            bits[one], bits[other] = bits[one] - moved, bits[other] + moved
        elif what == 1:
            bits[one] += int(rng.choice([-8, 8, -1, 1, 64, 4096]))
        else:
            bits[one] = int(rng.choice([0, 8, most, most >> 1, 1 << 31, 1 << 32]))
        return np.clip(bits, 0, most)


@lru_cache(maxsize=1)
def _coded(kind: type[BlockCodec]) -> list[Coded]:
    own = [case for case in cases() if case.codec_type is kind]
    made = [Coded(case) for case in own if case.array.nbytes <= MOST_BYTES and case.array.size]
    return [one for one in made if len(one.runs)]


def _blocks(kind: type[BlockCodec]) -> Attempt:
    coded = _coded(kind)

    def attempt(rng: Rng) -> object:
        one, at_end = coded[rng.integers(len(coded))], bool(rng.integers(2))
        wrong = one.damaged_blocks(rng)
        held = [f.hold(part, at_end) for f, part in zip(one.fences, wrong.payloads, strict=True)]
        one.coder.fill([replace(wrong, payloads=tuple(held))], [one.outs[at_end]])
        return None

    return attempt


def _frames(kind: type[BlockCodec]) -> Attempt:
    """Damage of whole frames, most of them with checksums that are right again."""
    coded = _coded(kind)

    def attempt(rng: Rng) -> object:
        one, at_end, what = coded[rng.integers(len(coded))], bool(rng.integers(2)), rng.integers(4)
        if what == 0:
            data = damaged(one.data, rng)
        elif what == 1:
            data = _with_checksums(damaged(one.data, rng), one)
        else:
            wrong = one.damaged_blocks(rng)
            data = np.frombuffer(frame.pack(_fitting(wrong), one.coder.layout), np.uint8)
            data = data.copy()
        one.coder.decode(one.fence.hold(data, at_end).data, one.outs[at_end])
        return None

    return attempt


def _fitting(runs: Runs) -> Runs:
    """No lanes where they are longer than their block: a reader sums them before it decodes."""
    if runs.lane_bits is None:
        return runs
    fits = (runs.lane_bits >= 0).all(axis=1) & (runs.lane_bits.sum(axis=1) <= 8 * runs.lengths)
    return replace(runs, lane_bits=runs.lane_bits * fits[:, None])


def _with_checksums(data: Octets, one: Coded) -> Octets:
    """Give the damaged bytes the checksums of prelude, index and blocks that they should have."""
    layout, data = one.coder.layout, data.copy()
    prelude, lead = frame.PRELUDE.size, layout.index_size
    if data.size < lead:
        return data
    data[prelude : prelude + 4] = _octets(crc32c(data[:prelude].tobytes()))
    lengths = data[frame.HEADER_BYTES : frame.HEADER_BYTES + 4 * layout.n_blocks].view("<u4")
    at = lead
    for i, length in enumerate(lengths.tolist()):
        place = frame.HEADER_BYTES + 4 * (layout.n_blocks + i)
        data[place : place + 4] = _octets(crc32c(data[at : at + length].tobytes()))
        at += length
    head = data[: frame.HEADER_BYTES - 4].tobytes()
    found = crc32c(data[frame.HEADER_BYTES : lead].tobytes(), crc32c(head))
    data[frame.HEADER_BYTES - 4 : frame.HEADER_BYTES] = _octets(found)
    return data


def _octets(checksum: int) -> Octets:
    return np.frombuffer(frame.CHECKSUM.pack(checksum), np.uint8)


def _streams(kind: type[BlockCodec]) -> Attempt:
    """Streams that stand alone, of all samples that are one image; chunks alone narrow 64 bits."""
    module: Any = import_module(f"{package(kind)}.stream")
    own = [case for case in cases() if case.codec_type is kind and case.array.ndim == 3]
    narrow = [case for case in own if case.array.dtype.itemsize < 8]
    small = [case for case in narrow if case.array.nbytes <= MOST_BYTES]
    made = [
        np.frombuffer(module.encode_stream(case.array, case.sample.params), np.uint8)
        for case in small
    ]
    fence = Fence(4 * max(stream.size for stream in made))

    def attempt(rng: Rng) -> object:
        held = fence.hold(damaged(made[rng.integers(len(made))], rng), bool(rng.integers(2)))
        return module.decode_stream(held.data, max_bytes=1 << 26)

    return attempt


def _parameters(kind: type[BlockCodec]) -> Attempt:
    """What metadata of a store say of the codec, and the chunk that they say it is for."""
    own = [case for case in cases() if case.codec_type is kind]

    def attempt(rng: Rng) -> object:
        case = own[rng.integers(len(own))]
        said = json.loads(json.dumps(case.codec.to_dict()))
        codec = kind.from_dict({**said, "configuration": damaged_json(said["configuration"], rng)})
        shape = list(case.array.shape)
        if shape and rng.random() < 0.3:
            shape[rng.integers(len(shape))] = int(rng.choice([0, 1, 7, 1 << 16, 1 << 31, 1 << 40]))
        codec.coder(tuple(shape), case.array.dtype)
        return codec.peak_bytes(tuple(shape), case.array.dtype)

    return attempt
