"""Test samples for the suite of byte codecs: seeded tiny byte arrays with parameters.

They are edge, typical and hostile cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw.codecs.strings.params import INNER, Params

LINE = "%02d:%02d:07 host sshd[%d]: Failed password for %s from 10.0.%d.7 port 22"
USERS = "root", "admin", "José", "小林"


def samples() -> list[Sample]:
    """Return all test arrays of the codec; the same on every machine."""
    fast = Params({"name": INNER, "configuration": {"effort": "fast", "block": 1 << 10}})
    return [
        Sample("log-fast", _strings(_log()), fast),
        Sample("cut", _strings(_log())[:-1], fast),
        Sample("bases", _strings([b"ACGTTGCA" * n for n in range(20)]), Params("gangsaw.dna")),
        *(Sample(name, data, Params()) for name, data in _chunks().items()),
    ]


def _chunks() -> Mapping[str, NumpyArray]:
    rng = np.random.default_rng(5)
    log, octets = _log(), bytes(range(256))
    return {
        "log": _strings(log),
        "nothing": np.empty(0, np.uint8),
        "none": _strings([]),
        "one-empty": _strings([b""]),
        "all-empty": _strings([b""] * 300),
        "equal": _strings(rng.integers(97, 101, (60, 16), np.uint8).view("S16").ravel().tolist()),
        "newlines": _strings(line + b"\n" for line in log),
        "nuls": _strings([b"\0", b"a\0", b"", b"\0\0"] * 30),
        "every-byte": _strings([octets, b"", octets[::-1]] * 4),
        "every-byte-long": _strings([octets * 2, b"a"] * 3),
        "behind": np.append(_strings(log), np.uint8(7)),
        "count-alone": np.full(4, 255, np.uint8),
        "length-beyond": np.frombuffer(b"\1\0\0\0\xff\xff\xff\xffabc", np.uint8),
        "noise": rng.integers(0, 256, 300, np.uint8),
        "plain-text": np.frombuffer(b"no strings, but text. " * 40, np.uint8),
    }


def _log() -> list[bytes]:
    lines = (LINE % (i // 4, i * 7 % 60, 400 + i, USERS[i % len(USERS)], i % 3) for i in range(20))
    return [line.encode() for line in lines]


def _strings(items: Iterable[bytes]) -> NumpyArray:
    """Return strings as Zarr's vlen-utf8 serializes them: their number, then sizes and strings."""
    listed = list(items)
    parts = [len(listed).to_bytes(4, "little")]
    parts += (part for item in listed for part in (len(item).to_bytes(4, "little"), item))
    return np.frombuffer(b"".join(parts), np.uint8)
