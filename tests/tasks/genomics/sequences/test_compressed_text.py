"""Text of files that are compressed in any way, and of standard input; damage is named."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.bgzipped import bgzip, member
from helpers.zstd_frames import pzstd, skippable, zstd

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text import bgzf
from gangsaw.tasks.compressed_text.streams import packed_sign
from gangsaw.tasks.compressed_text.text import text_of

TEXT = b"".join(b"@%d\n%s\n" % (i, bytes([65 + i * i % 7]) * (i % 90)) for i in range(3000))


def mixed(text: bytes) -> bytes:
    """Return members of BGZF, and one of another program behind them."""
    return bgzip(text[:9000])[:-28] + gzip.compress(text[9000:])


def lzma_alone(text: bytes) -> bytes:
    """Return text as `xz --format=lzma` writes it."""
    return lzma.compress(text, lzma.FORMAT_ALONE)


WAYS = [bytes, gzip.compress, bgzip, mixed, bz2.compress, lzma.compress, lzma_alone, zstd, pzstd]


@pytest.fixture(params=[True, False], ids=["file", "stdin"])
def found(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[bytes], bytes]:
    """Read bytes as text: those of a file, or those that come by a pipe."""
    monkeypatch.setattr(bgzf, "READ", 3000)  # several runs
    monkeypatch.setattr(bgzf, "RUN", 9000)

    def read(data: bytes) -> bytes:
        (tmp_path / "a").write_bytes(data)
        with (tmp_path / "a").open("rb") as file:
            monkeypatch.setattr(sys, "stdin", file)
            blocks = list(text_of(str(tmp_path / "a") if request.param else "-"))
        assert all(block.size for block in blocks)
        return np.concatenate([np.empty(0, np.uint8), *blocks]).tobytes()

    return read


@pytest.mark.parametrize("pack", WAYS, ids=lambda pack: pack.__name__)
def test_text_comes_back(found: Callable[[bytes], bytes], pack: Callable[[bytes], bytes]) -> None:
    assert found(pack(TEXT)) == TEXT


@pytest.mark.parametrize("pack", WAYS[1:], ids=lambda pack: pack.__name__)
def test_cut_off_text_is_named(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    whole = pack(TEXT)
    for n in (len(whole) - 3, len(whole) // 2, len(whole) // 3):
        (tmp_path / "a").write_bytes(whole[:n])
        with pytest.raises(BadParams, match=r"a is cut off: "):
            list(text_of(str(tmp_path / "a")))


@pytest.mark.parametrize("pack", WAYS[1:], ids=lambda pack: pack.__name__)
@pytest.mark.parametrize("zeros", [1, 5, 512, 20_000])
def test_zeros_behind_the_end_are_padding(
    found: Callable[[bytes], bytes], pack: Callable[[bytes], bytes], zeros: int
) -> None:
    assert found(pack(TEXT) + bytes(zeros)) == TEXT


@pytest.mark.parametrize("pack", WAYS[1:], ids=lambda pack: pack.__name__)
@pytest.mark.parametrize("more", [b"x", b"not gz", b"\0\0x", b"more than the head of a member"])
def test_bytes_behind_the_end_are_named(
    found: Callable[[bytes], bytes], pack: Callable[[bytes], bytes], more: bytes
) -> None:
    with pytest.raises(BadParams, match="behind its compressed data are bytes that are none"):
        found(pack(TEXT) + more)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_a_second_stream_is_not_lost(
    found: Callable[[bytes], bytes], pack: Callable[[bytes], bytes]
) -> None:
    assert found(pack(TEXT) + bytes(8) + pack(TEXT)) == 2 * TEXT
    second = bytearray(pack(TEXT))
    second[1] ^= 255  # in its sign
    with pytest.raises(BadParams, match=r"damaged"):
        found(pack(TEXT) + bytes(second))


def test_zeros_in_place_of_the_last_block_are_a_cut(found: Callable[[bytes], bytes]) -> None:
    """Room was made for the file, and then it was not written to its end."""
    with pytest.raises(BadParams, match="is cut off: the empty block that bgzip writes"):
        found(bgzip(TEXT)[: -len(member(b""))] + bytes(100))


def test_bgzf_without_its_last_block_is_cut_off(tmp_path: Path) -> None:
    whole = bgzip(TEXT)
    (tmp_path / "a").write_bytes(whole[: -len(member(b""))])
    with pytest.raises(BadParams, match="a is cut off: the empty block that bgzip writes at its"):
        list(text_of(str(tmp_path / "a")))


@pytest.mark.parametrize("pack", [gzip.compress, bgzip], ids=["gzip", "bgzip"])
def test_damage_is_named(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    whole = bytearray(pack(TEXT))
    for place in (len(whole) // 2, len(whole) - 40):
        data = bytes([*whole[:place], whole[place] ^ 255, *whole[place + 1 :]])
        (tmp_path / "a").write_bytes(data)
        with pytest.raises(BadParams, match=r"a: its compressed data are damaged|a is cut off"):
            list(text_of(str(tmp_path / "a")))


@pytest.mark.parametrize("low", range(0x50, 0x60))
def test_all_skippable_frames_are_zstandard(found: Callable[[bytes], bytes], low: int) -> None:
    assert found(skippable(b"x" * 300, low) + zstd(TEXT)) == TEXT
    assert found(skippable(b"", low)) == b""


def test_a_pipe_may_give_few_bytes_at_once(tmp_path: Path) -> None:
    """The first byte comes alone: it does not tell how the rest is compressed."""
    for number, pack in enumerate(WAYS):
        path, data = tmp_path / f"a{number}", pack(TEXT)
        os.mkfifo(path)

        def write(path: Path = path, data: bytes = data) -> None:
            with path.open("wb", buffering=0) as file:
                file.write(data[:1])
                time.sleep(0.05)
                file.write(data[1:])

        threading.Thread(target=write, daemon=True).start()
        assert b"".join(block.tobytes() for block in text_of(str(path))) == TEXT


def test_texts_that_begin_nearly_as_compressed_ones_are_text() -> None:
    for text in (b"BZh9 is how I begin", b"]\0\0 is no LZMA here", b"PK", b"P*M is a plus", b"x"):
        assert packed_sign(text) is None


def test_a_wrong_checksum_is_damage_and_not_a_cut(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(TEXT[:500]))
    data[-8] ^= 1
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(BadParams, match="compressed data are damaged"):
        list(text_of(str(tmp_path / "a")))
