"""Samples of the kind "name" for the test suite of all codecs."""

from __future__ import annotations

import uuid

import numpy as np

from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.sample_lines import any_bytes, join_lines


def samples() -> list[Sample]:
    """Return all samples; they are the same on every machine."""
    params = Params(kind="name", lane=256)
    cases = {
        "illumina": _illumina(60),
        "uuid": _uuids(24),
        "numbers": _numbers(),
        "odd": _odd(),
    }
    named = [Sample(f"name-{name}", join_lines(lines), params) for name, lines in cases.items()]
    open_end = join_lines(cases["illumina"])[:-4]
    return [
        *any_bytes(Params(kind="name", lane=64)),
        *named,
        Sample("name-open", open_end, params),
        Sample("name-blocks", open_end, Params(kind="name", block=1024, lane=128)),
    ]


def _illumina(n: int) -> list[bytes]:
    """Return names of mates with a counter, a flow cell, and coordinates, some of which grow."""
    rng = np.random.default_rng(13)
    y = np.cumsum(rng.integers(0, 90, n))
    places = zip(rng.integers(1000, 21000, n), y, strict=True)
    return [
        b"SRR77.%d M0:5:FC1DABEAD12:1:%d:%d:%d %d:N:0" % (i, 1101 + i // 40, x, y, mate)
        for i, (x, y) in enumerate(places, 1)
        for mate in (1, 2)
    ]


def _uuids(n: int) -> list[bytes]:
    """Return random names of nanopore runs, and a hexadecimal word."""
    rng = np.random.default_rng(14)
    plain = [str(uuid.UUID(bytes=rng.bytes(16), version=4)).encode() for _ in range(n)]
    upper = [name.upper() for name in plain[: n // 2]]
    return [b"%s ch=%d" % (name, i) for i, name in enumerate(upper + plain)] + [b"c0ffee12345"] * 2


def _numbers() -> list[bytes]:
    """Return rising and falling numbers of all sizes, with and without leading zeros."""
    sizes = [0, 9, 10, 255, 256, 65535, 65536, 1 << 24, 1 << 32, (1 << 40) - 1, 1 << 40, 10**18]
    plain = [b"%d_%d" % (value, value) for value in sizes]
    padded = [b"x%08d" % value for value in sizes[:8]]
    edges = [b"x007", b"x08", b"9" * 19, b"1" + b"0" * 18]
    return [*plain, *plain[::-1], *padded, *padded[::-1], *edges]


def _odd() -> list[bytes]:
    """Return unusual names: many tokens, zeros, all byte values, empty names, same names."""
    every = bytes(byte for byte in range(256) if byte != 10)
    tokens = b"".join(b"%d:" % i for i in range(50))
    lines = [tokens, tokens + b"1", tokens[:-1], b"", b"", every, every]
    return [*lines, b"\0\0a\0", b"a", b"a1", b"a"]
