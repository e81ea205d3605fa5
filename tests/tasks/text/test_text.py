"""Files of text and any bytes: in, and out to the byte; what is text, and what is not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine

from gangsaw import compress, decompress, verify
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.format import SourceOptions
from gangsaw.tasks.formats.contract.opening import find_format, open_paths
from gangsaw.tasks.sources.source import Source, Stream
from gangsaw.tasks.text.info import ATTRIBUTE, TextInfo
from gangsaw.tasks.text.text_detection import START, detect_encoding, is_text, line_ends_of

LOG = b"".join(b"%02d:07:11 host sshd[%d]: session opened\n" % (i % 24, i) for i in range(300))
CONTENTS = {
    "log": LOG,
    "empty": b"",
    "one-byte": b"x",
    "no-line-end": b"one\ntwo",
    "returns": b"one\r\ntwo\r\n",
    "mark": b"\xef\xbb\xbfname,value\n1,\xc3\xa9\n",
    "nul": b"\0" * 300,
    "all-bytes": bytes(range(256)) * 3,
    "bzip2-by-chance": b"BZh is how I begin\n",
    "fasta": b">chr1\nACGT\n",
}


@contextmanager
def stdin_of(data: bytes, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    """Standard input that is a pipe."""
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    with os.fdopen(reader) as file:
        monkeypatch.setattr("sys.stdin", file)
        yield


@pytest.mark.parametrize("name", CONTENTS)
def test_any_bytes_come_back(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a file, in chunks, and from a pipe; both give the same array."""
    data, path = CONTENTS[name], tmp_path / "a"
    path.write_bytes(data)
    compress(path, tmp_path / "a.zarr", format="text", chunks=(5000,))
    with stdin_of(data, monkeypatch, tmp_path):
        compress("-", tmp_path / "b.zarr", format="text")
    for store in (tmp_path / "a.zarr", tmp_path / "b.zarr"):
        decompress(store, tmp_path / "b.txt", overwrite=True)
        assert (tmp_path / "b.txt").read_bytes() == data
        assert not verify(store, against=path, format="text").problems
        array = zarr.open_group(store, mode="r")["text"]
        assert bytes(np.asarray(array)) == data
        assert "gangsaw.bwt" in str(array.metadata.to_dict())


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@pytest.mark.parametrize("suffix", PACKERS)
def test_what_is_compressed_is_stored_as_the_text_in_it(
    tmp_path: Path, gangsaw: CommandLine, suffix: str
) -> None:
    path, store = tmp_path / f"a.log{suffix}", tmp_path / "a.zarr"
    path.write_bytes(PACKERS[suffix](LOG))
    told = gangsaw.ok("compress", path, store, "--workers", 0).out
    assert "the text in it is stored" in " ".join(told.split())
    plain = tmp_path / "b.log"
    gangsaw.ok("decompress", store, plain)
    assert plain.read_bytes() == LOG
    for against in (path, plain):
        gangsaw.ok("verify", store, "--against", against, "--workers", 0)
    again = tmp_path / f"c.log{suffix}"
    gangsaw.ok("decompress", store, again)
    (piece,) = [piece["text"].tobytes() for piece in _stream(again).pieces()]
    assert piece == LOG


def _stream(path: Path) -> Stream:
    opened = open_paths([str(path)])
    assert isinstance(opened, Stream)
    return opened


def test_what_is_cut_off_is_named(tmp_path: Path, gangsaw: CommandLine) -> None:
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(LOG)[:-9])
    line = gangsaw("compress", path, tmp_path / "a.zarr", "--workers", 0).failed(2)
    assert "a.log.gz is cut off" in line
    assert not (tmp_path / "a.zarr").exists()


def test_the_commands(
    tmp_path: Path, gangsaw: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, store, here = tmp_path / "a.log", tmp_path / "a.zarr", ("--workers", 0)
    path.write_bytes(LOG)
    gangsaw.ok("compress", path, store, "--effort", "fast", *here)
    assert zarr.open_group(store)["text"].serializer.params.effort == "fast"  # type: ignore[union-attr]
    info = gangsaw.ok("info", store, "--json").figures
    assert info["text"]["bytes"] == len(LOG)
    assert (info["text"]["encoding"], info["text"]["line_ends"]) == ("ASCII", "LF")
    out = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(out))
    decompress(store, "-")
    assert out.getvalue() == LOG
    path.write_bytes(LOG[:-1] + b".")
    found = gangsaw("verify", store, "--against", path, *here)
    assert found.code == 1


def test_damage_is_found(tmp_path: Path, gangsaw: CommandLine) -> None:
    path, store = tmp_path / "a.log", tmp_path / "a.zarr"
    path.write_bytes(LOG)
    compress(path, store)
    chunk = store / "text" / "c" / "0"
    data = bytearray(chunk.read_bytes())
    data[-5] ^= 1
    chunk.write_bytes(data)
    assert gangsaw("verify", store, "--workers", 0).code == 1
    line = gangsaw("decompress", store, tmp_path / "b.log").failed(1)
    assert "block 0" in line
    assert not (tmp_path / "b.log").exists()


TAKEN = {  # by name, content and the format that takes it
    "a.txt": (b"", "text"),
    "a.csv": (b"1,2\n", "text"),
    "a.LOG": (b"\xff\0", "text"),
    "a.json.gz": (gzip.compress(b"{}"), "text"),
    "a": (b"any lines\nof text\n", "text"),
    "a.py": (b"import os\n", "text"),
    "b": ("Gr\u00fc\u00dfe\n".encode("utf-16"), "text"),
    "a.fa": (b">chr1\nACGT\n" * 3, "genome"),
    "a.fq": (b"no reads\n", "fastq"),
    "a.sam": (b"@HD\tVN:1.6\n", "bam"),
    "a.gb": (b"LOCUS       X\n", "genbank"),
    "a.hdr": (b"ENVI\nsamples = 1\n", "envi"),
}


@pytest.mark.parametrize("name", TAKEN)
def test_text_is_taken_where_no_other_format_takes_it(tmp_path: Path, name: str) -> None:
    data, kind = TAKEN[name]
    (tmp_path / name).write_bytes(data)
    assert find_format([str(tmp_path / name)]).name == kind


def test_text_in_place_of_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.h5").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(BadParams, match="of no known format"):
        find_format([str(tmp_path / "a.h5")])


def test_raw_samples_stay_raw(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(LOG)
    options = SourceOptions(own={"shape": "10", "dtype": "u1"})
    assert find_format([str(tmp_path / "a.txt")], options).name == "raw"


@pytest.mark.parametrize(
    "data", [b"", b"no line end", b"\0\n", b"\xff\n", gzip.compress(b"a\n", mtime=0)]
)
def test_what_is_no_text_beyond_doubt(data: bytes) -> None:
    assert not is_text(data)


def test_a_letter_that_is_cut_off_is_one() -> None:
    for n in range(4):
        text = b"\n" * n + "\u20ac".encode() * START
        assert detect_encoding(text[:START]) == "UTF-8"
    assert detect_encoding((b"\n" * START)[:-1] + b"\xbf") == "other bytes"


def test_line_ends_in_words() -> None:
    assert line_ends_of(b"a\r\nb\nc\rd") == "CR LF and LF and CR"
    assert line_ends_of(b"a") == "none"


def test_other_arrays_are_no_text(tmp_path: Path, gangsaw: CommandLine) -> None:
    zarr.create_array(tmp_path / "a.zarr", data=np.eye(3))
    line = gangsaw("decompress", tmp_path / "a.zarr", tmp_path / "a.txt").failed(2)
    assert "holds no text" in line


@pytest.mark.parametrize("said", [{}, {"version": 2}, {"version": 1}, 7])
def test_attributes_that_are_wrong_are_refused(said: object) -> None:
    with pytest.raises(BadParams, match=ATTRIBUTE):
        TextInfo.from_attrs({ATTRIBUTE: said})


def test_a_file_is_read_by_chunks_and_a_pipe_in_order(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(LOG)
    assert isinstance(open_paths([str(tmp_path / "a.txt")]), Source)
    assert isinstance(open_paths(["-"], SourceOptions(format="text")), Stream)


OTHERS = {
    "Z": b"\x1f\x9d\x90" + bytes(range(256)),
    "lz4": b"\x04\x22\x4d\x18" + bytes(range(256)),
    "lzip": b"LZIP\x01" + bytes(range(256)),
    "zip": b"PK\x03\x04" + bytes(range(256)),
    "zlib": zlib.compress(LOG),
    "zstd 0.7": b"\x27\xb5\x2f\xfd" + bytes(range(256)),
}


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("name", OTHERS)
def test_what_is_compressed_otherwise_is_text_only_where_that_is_said(
    gangsaw: CommandLine, tmp_path: Path, name: str
) -> None:
    path, store = tmp_path / "a.log", tmp_path / "a.zarr"
    path.write_bytes(OTHERS[name])
    line = gangsaw("compress", path, store).failed(2)
    assert str(path) in line
    assert "is compressed by" in line
    assert "--format text" in line
    assert not store.exists()
    gangsaw.ok("compress", path, store, "--format", "text", "--quiet")
    gangsaw.ok("decompress", store, tmp_path / "back", "--quiet")
    assert (tmp_path / "back").read_bytes() == OTHERS[name]


def test_a_log_of_pzstd_is_found(gangsaw: CommandLine, tmp_path: Path) -> None:
    """Its first frame is one that readers skip: the text is stored, and searched."""
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
    skipped = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + bytes(4)
    (tmp_path / "a.log").write_bytes(skipped + zstandard.ZstdCompressor().compress(LOG))
    gangsaw.ok("compress", tmp_path / "a.log", tmp_path / "a.zarr", "--quiet")
    gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "back", "--quiet")
    assert (tmp_path / "back").read_bytes() == LOG
    gangsaw.ok("index", tmp_path / "a.zarr", "--quiet")
    assert "300" in gangsaw.ok("search", tmp_path / "a.zarr", "session opened", "-c").out
