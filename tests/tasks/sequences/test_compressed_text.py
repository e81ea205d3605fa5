"""Text of files that are compressed in any way, and of standard input; damage is named."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.bgzipped import bgzip, member

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.sequences.files import bgzf
from gangsaw.tasks.sequences.files.text import text_of

TEXT = b"".join(b"@%d\n%s\n" % (i, bytes([65 + i * i % 7]) * (i % 90)) for i in range(3000))


def zstd(text: bytes) -> bytes:
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
    packed = [zstandard.ZstdCompressor().compress(part) for part in (text[:999], text[999:])]
    return b"".join(packed)


def mixed(text: bytes) -> bytes:
    """Return members of BGZF, and one of another program behind them."""
    return bgzip(text[:9000])[:-28] + gzip.compress(text[9000:])


WAYS = [bytes, gzip.compress, bgzip, mixed, bz2.compress, lzma.compress, zstd]


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


@pytest.mark.parametrize("pack", WAYS[1:-1], ids=lambda pack: pack.__name__)
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
