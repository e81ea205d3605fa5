"""Damage to frames of strings: of bytes, of headers, and of what the inner codec gives back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from helpers.bytes_codecs import bytes_cases

from fuzz.codecs import Attempt
from fuzz.damage import Octets, Rng, damaged, damaged_json
from fuzz.fence import Fence
from gangsaw.codecs import Strings
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.strings import header as headers
from gangsaw.codecs.strings.header import ENDED, EQUAL, LENGTHS, PLAIN, StringsHeader


def targets() -> dict[str, Callable[[], Attempt]]:
    """Return what makes an attempt at each, by name."""
    return {"frames-strings": _frames, "parameters-strings": _parameters}


def _frames() -> Attempt:
    coded = [(case.codec, case.codec.encode_bytes(case.data)) for case in bytes_cases()]
    fence = Fence(4 * max(frame.size for _, frame in coded) + 4096)

    def attempt(rng: Rng) -> object:
        codec, frame = coded[rng.integers(len(coded))]
        what = rng.integers(4)
        if what == 0:
            frame = damaged(frame, rng)
        elif what == 1:
            frame = _with_checksum(damaged(frame, rng))
        else:
            frame = _forged(codec, rng)
        return codec.decode_bytes(fence.hold(frame, bool(rng.integers(2))))

    return attempt


def _with_checksum(frame: Octets) -> Octets:
    """Give a damaged header the checksum that it should have."""
    frame, n = frame.copy(), headers.FIELDS.size
    if frame.size >= headers.HEADER_BYTES:
        checksum = headers.CHECKSUM.pack(crc32c(frame[:n].tobytes()))
        frame[n : headers.HEADER_BYTES] = np.frombuffer(checksum, np.uint8)
    return frame


def _forged(codec: Strings, rng: Rng) -> Octets:
    """Return whole inner frames, of bytes that need be no strings, behind a header for them."""
    inner, count = codec.params.inner, int(rng.integers(0, 20))
    kind = int(rng.choice([PLAIN, EQUAL, ENDED, LENGTHS]))
    more = {"end": 10} if kind == ENDED else {"width": int(rng.choice(headers.WIDTHS))}
    fields = more if kind in (ENDED, LENGTHS) else {}
    n_bytes = 4 + 4 * count + int(rng.integers(0, 60))
    header = StringsHeader(kind, n_bytes, 0 if kind == PLAIN else count, **fields)
    body = rng.choice(np.array([10, 97, 0], np.uint8), max(0, header.body_bytes))
    parts = [bytes(inner.encode_chunk(body))]
    if kind == LENGTHS:
        wanted = np.zeros(count, f"<u{header.width}")
        wanted[:] = rng.integers(0, 2 + 120 // max(1, count), count)
        parts = [bytes(inner.encode_chunk(wanted)), *parts]
        header = header._replace(detail=len(parts[0]))
    return np.frombuffer(header.pack() + b"".join(parts), np.uint8)


def _parameters() -> Attempt:
    said = Strings().to_dict()

    def attempt(rng: Rng) -> object:
        wrong = {**said, "configuration": damaged_json(said["configuration"], rng)}
        return Strings.from_dict(wrong).peak_bytes(int(rng.choice([0, 1, 1 << 20, 1 << 30])))

    return attempt
