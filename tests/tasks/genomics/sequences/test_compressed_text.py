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
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text import bgzf
from gangsaw.tasks.compressed_text.streams import LZMA, SIGN_BYTES, packed_sign
from gangsaw.tasks.compressed_text.text import read_blocks

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
            blocks = list(read_blocks(str(tmp_path / "a") if request.param else "-"))
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
            list(read_blocks(str(tmp_path / "a")))


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
    with pytest.raises(BadParams, match="other bytes follow its compressed data"):
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
        list(read_blocks(str(tmp_path / "a")))


@pytest.mark.parametrize("pack", [gzip.compress, bgzip], ids=["gzip", "bgzip"])
def test_damage_is_named(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    whole = bytearray(pack(TEXT))
    for place in (len(whole) // 2, len(whole) - 40):
        data = bytes([*whole[:place], whole[place] ^ 255, *whole[place + 1 :]])
        (tmp_path / "a").write_bytes(data)
        with pytest.raises(BadParams, match=r"a: its compressed data are damaged|a is cut off"):
            list(read_blocks(str(tmp_path / "a")))


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
        assert b"".join(block.tobytes() for block in read_blocks(str(path))) == TEXT


def test_texts_that_begin_nearly_as_compressed_ones_are_text() -> None:
    for text in (b"BZh9 is how I begin", b"]\0\0 is no LZMA here", b"PK", b"P*M is a plus", b"x"):
        assert packed_sign(text) is None


def lzma_with(text: bytes, **settings: int) -> bytes:
    """Return text as `xz --format=lzma --lzma1=...` writes it."""
    return lzma.compress(
        text, lzma.FORMAT_ALONE, filters=[{"id": lzma.FILTER_LZMA1, "preset": 6, **settings}]
    )


@pytest.mark.parametrize("size", [1 << 12, 3 << 11, 1 << 16, 1 << 20, 3 << 20, 1 << 26])
@pytest.mark.parametrize("lc", range(5))
@pytest.mark.parametrize("lp", range(5))
@pytest.mark.parametrize("pb", [0, 2, 4])
def test_lzma_of_all_properties_is_recognised(size: int, lc: int, lp: int, pb: int) -> None:
    if lc + lp > 4:
        pytest.skip("xz allows no more than 4 bits")
    for text in (b"a", TEXT[:3000], bytes(5000)):
        packed = lzma_with(text, dict_size=size, lc=lc, lp=lp, pb=pb)
        assert packed_sign(packed) == packed_sign(packed[:SIGN_BYTES]) == LZMA
        known = packed[:5] + len(text).to_bytes(8, "little") + packed[13:]  # as LZMA Utils writes
        assert packed_sign(known[:SIGN_BYTES]) == LZMA


@pytest.mark.parametrize("settings", [{"lc": 0}, {"lp": 1}, {"pb": 0}, {"dict_size": 1 << 12}])
def test_lzma_of_unusual_properties_is_read(
    found: Callable[[bytes], bytes], settings: dict[str, int]
) -> None:
    packed = lzma_with(TEXT, **settings)
    assert not packed.startswith(LZMA)
    assert found(packed) == TEXT


@given(st.one_of(st.text(max_size=200).map(str.encode), st.binary(max_size=100)))
def test_random_bytes_are_not_lzma(data: bytes) -> None:
    assert packed_sign(data) != LZMA or data.startswith(LZMA)


@given(st.text(st.characters(max_codepoint=0x10FFFF, exclude_categories=["Cs"]), min_size=4))
def test_texts_of_any_encoding_are_not_lzma(text: str) -> None:
    for encoding in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        assert packed_sign(text.encode(encoding)) is not LZMA


@given(
    st.integers(0, 255),
    st.integers(12, 31),
    st.one_of(st.integers(0, 1 << 20), st.just((1 << 64) - 1)),
    st.binary(min_size=60, max_size=60),
)
def test_a_header_before_random_bytes_is_not_lzma(
    properties: int, power: int, size: int, data: bytes
) -> None:
    head = bytes((properties,)) + (1 << power).to_bytes(4, "little") + size.to_bytes(8, "little")
    start = head + b"\1" + data
    assert packed_sign(start) != LZMA or start.startswith(LZMA)


def test_a_wrong_checksum_is_damage_and_not_a_cut(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(TEXT[:500]))
    data[-8] ^= 1
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(BadParams, match="compressed data are damaged"):
        list(read_blocks(str(tmp_path / "a")))
