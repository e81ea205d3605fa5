"""Columns of strings: bytes of each and speeds of one core, beside what Zarr puts behind them.

Columns are the lines of real text, and made ones as tables have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from bench_bwt import Text, shared
from numcodecs import Zstd

from gangsaw.codecs import Bwt, Strings
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.codecs.strings.items import FIELD, concatenate_items, lengths_of
from gangsaw.tasks.bench.table import Row, call_seconds, say

FILES = "alice29.txt", "lcet10.txt", "apache_logs", "silesia_xml"
N_MADE = 30_000
ROUNDS = 3
USERS = "root", "admin", "guest", "bob"


class Coder(NamedTuple):
    """What codes the bytes of `vlen-utf8`."""

    encode: Callable[[Text], Text]
    decode: Callable[[Text, int], bytes]


def rows() -> Iterator[Row]:
    """Yield bytes of each column and coder, and of all columns speeds."""
    set_thread_limit(1)
    columns = {name: as_zarr(items) for name, items in _columns().items()}
    for name, data in columns.items():
        yield Row(f"{name}, lengths apart by bwt dense", _lengths_apart(data), "bytes")
    for name, coder in coders().items():
        say(name)
        yield from _of(name, coder, columns)


def coders() -> dict[str, Coder]:
    """Return ours, and what Zarr has."""
    ours = {f"strings {e}": _strings(Strings(inner=Bwt(effort=e))) for e in ("dense", "fast")}
    plain = {"bwt dense over all bytes": _bwt(Bwt())}
    return {**ours, **plain, **{f"zstd -{n}": _zstd(Zstd(n)) for n in (3, 19)}}


def as_zarr(items: list[bytes]) -> Text:
    """Return items as Zarr's serializers write them."""
    parts = [len(items).to_bytes(FIELD, "little")]
    parts += (part for item in items for part in (len(item).to_bytes(FIELD, "little"), item))
    return np.frombuffer(b"".join(parts), np.uint8)


def _columns() -> Mapping[str, list[bytes]]:
    files = {name: text for name, text in shared().items() if name in FILES}
    real = {f"lines of {name}": text.tobytes().splitlines() for name, text in files.items()}
    return {**real, **_made()}


def _made() -> dict[str, list[bytes]]:
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 1 << 30, (5, N_MADE)).tolist()
    rows = list(enumerate(zip(*numbers, strict=True)))
    log = "%02d:%02d:%02d host sshd[%d]: Failed password for %s from 10.0.%d.%d port %d"
    words = "alpha", "be", "gamma", "", "delta-x"
    made = {
        "made log": [
            log
            % (
                i // 3600,
                i // 60 % 60,
                i % 60,
                400 + i // 50,
                USERS[a % 4],
                i % 3,
                b % 256,
                c % 9999,
            )
            for i, (a, b, c, *_) in rows
        ],
        "made names of reads": [
            f"SRR123456.{i} HWI-ST{a % 4}:{b % 2000}:{c % 100000}" for i, (a, b, c, *_) in rows
        ],
        "made JSON": [
            f'{{"id": {i}, "user": "u{a % 500}", "ok": {b % 2}, "v": {c % 1000 / 1000}}}'
            for i, (a, b, c, *_) in rows
        ],
        "made identifiers of 32": ["".join(f"{n:08x}" for n in four) for _, (*four, _) in rows],
        "made words of five": [words[a % 5] for _, (a, *_) in rows],
    }
    return {name: [item.encode() for item in items] for name, items in made.items()}


def _clock(second: int) -> tuple[int, int, int]:
    return second // 3600, second // 60 % 60, second % 60


def _lengths_apart(data: Text) -> int:
    """Return the bytes of items back to back and, apart, of their lengths."""
    lengths = lengths_of(data)
    assert lengths is not None
    body = np.empty(data.size - FIELD * (1 + lengths.size), np.uint8)
    concatenate_items(data[FIELD:], lengths, 0, 0, body)
    narrow = lengths.astype(np.min_scalar_type(int(lengths.max())))
    return sum(len(Bwt().encode_chunk(part)) for part in (body, narrow))


def _strings(codec: Strings) -> Coder:
    return Coder(codec.encode_bytes, lambda data, _: codec.decode_bytes(data).tobytes())


def _bwt(codec: Bwt) -> Coder:
    def decode(data: Text, n: int) -> bytes:
        out = np.empty(n, np.uint8)
        codec.decode_chunk(data, out)
        return out.tobytes()

    return Coder(lambda data: np.frombuffer(codec.encode_chunk(data), np.uint8), decode)


def _zstd(codec: Zstd) -> Coder:
    return Coder(
        lambda data: np.frombuffer(codec.encode(data), np.uint8),
        lambda data, _: bytes(codec.decode(data)),
    )


def _of(name: str, coder: Coder, columns: Mapping[str, Text]) -> Iterator[Row]:
    rounds = 1 if name == "zstd -19" else ROUNDS
    total, spans = 0, np.zeros((2, rounds))
    for column, data in columns.items():
        coder.decode(coder.encode(data[:FIELD]), FIELD)  # compiles
        for i in range(rounds):
            frame, into = call_seconds(coder.encode, data)
            back, out_of = call_seconds(lambda f, n=data.size: coder.decode(f, n), frame)
            assert back == data.tobytes()
            spans[:, i] += into, out_of
        total += len(frame)
        yield Row(f"{column}, {name}", len(frame), "bytes", note=f"{data.size / len(frame):.3f}")
    size = sum(data.size for data in columns.values())
    yield Row(f"all, {name}", total, "bytes", note=f"{size / total:.3f}")
    for word, of_rounds in zip(("encode", "decode"), spans, strict=True):
        yield Row(f"all, {name}, {word}", size / 1e6 / float(np.median(of_rounds)), "MB/s")
