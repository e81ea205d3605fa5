"""Decompressed bytes of a file; its first bytes, not its name, tell how it is compressed."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, Protocol

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.extras import extras_named

COMPRESSED_BYTES = 1 << 17  # read at a time
XZ_MEMORY = 1 << 28  # bytes: a header could ask for gigabytes; xz -9 needs 65 MB
GZIP, BZIP2, XZ, ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
PARQUET, ZIP = b"PAR1", b"PK\x03\x04"


class Damaged(BadParams):
    """Compressed data that end early or do not fit their checksum."""


class TextStream(Protocol):
    """What `opened` gives."""

    def read(self, size: int, /) -> bytes:
        """Return 1..size bytes, none at the end; raise Damaged after the last good ones."""


def magic(path: Path) -> bytes:
    """Return the first bytes of a file.

    Raises
    ------
    BadParams : there is no such file, or it cannot be read
    """
    try:
        with path.open("rb") as file:
            return file.read(8)
    except OSError as error:
        raise BadParams(f"{path}: {error.strerror or error}") from None


@contextmanager
def opened(path: Path) -> Iterator[TextStream]:
    """Open a file for reading its decompressed bytes.

    Raises
    ------
    BadParams : it cannot be read, or is an archive of files
    Damaged : by `read`, when compressed data are damaged
    """
    start = magic(path)
    if start.startswith(ZIP):
        raise BadParams(f"{path} is a zip archive or a workbook: unpack it, or save it as TSV")
    with path.open("rb") as file:
        yield next((new(file) for first, new in _STREAMS.items() if start.startswith(first)), file)


class Decompressor(Protocol):
    """One compressed stream, by zlib, bz2 or lzma; these say in other ways what they hold back."""

    @property
    def eof(self) -> bool:
        """Whether its end was seen."""

    @property
    def unused_data(self) -> bytes:
        """What follows the end."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Return at most so many bytes."""


class _Members:
    """Compressed streams one after the other, as bgzip, pbzip2 and `cat` write them.

    Python's GzipFile reads 8 KiB at a time and computes the checksum in a second pass. Its BZ2File
    ignores bytes after a stream that are no stream. Arrow's streams lose what they decoded before
    data that end early.

    Parameters
    ----------
    file : the compressed bytes
    kind : for messages
    new : makes the decompressor of one stream
    """

    def __init__(self, file: BinaryIO, kind: str, new: Callable[[], Decompressor]) -> None:
        self._file, self._kind, self._new = file, kind, new
        self._waiting, self._member = b"", new()
        self._begun = False  # a stream whose end has not been seen

    def read(self, size: int, /) -> bytes:
        while True:
            if not self._waiting and getattr(self._member, "needs_input", True):
                self._waiting = self._file.read(COMPRESSED_BYTES)
                if not self._waiting and not self._begun:
                    return b""
                if not self._waiting:
                    raise Damaged(f"{self._kind} data end early")
            if out := self._decompress(size):
                return out

    def _decompress(self, size: int) -> bytes:
        if not self._begun:
            self._waiting = self._waiting.lstrip(b"\0")  # padding between streams
            if not self._waiting:
                return b""
        self._begun = True
        try:
            out = self._member.decompress(self._waiting, size)
        except (zlib.error, lzma.LZMAError, OSError, ValueError, EOFError) as error:
            raise Damaged(f"{self._kind} data are damaged ({error})") from None
        self._waiting = getattr(self._member, "unconsumed_tail", b"")  # others keep their own
        if self._member.eof:
            self._waiting = self._member.unused_data
            self._member, self._begun = self._new(), False
        return out


class _Arrow:
    """Zstandard by Arrow, in small reads: what one read had decoded before an error is lost."""

    def __init__(self, file: BinaryIO) -> None:
        with extras_named():
            import pyarrow as pa
        if not pa.Codec.is_available("zstd"):
            raise BadParams("this pyarrow has no Zstandard: unpack the file first")
        self._file = pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")

    def read(self, size: int, /) -> bytes:
        try:
            out: bytes = self._file.read(min(size, COMPRESSED_BYTES))
        except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
            raise Damaged(f"zstd data are damaged ({error})") from None
        return out


def _gzip(file: BinaryIO) -> TextStream:
    return _Members(file, "gzip", partial(zlib.decompressobj, 31))


def _bzip2(file: BinaryIO) -> TextStream:
    return _Members(file, "bzip2", bz2.BZ2Decompressor)


def _xz(file: BinaryIO) -> TextStream:
    limited = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
    return _Members(file, "xz", limited)


_STREAMS: dict[bytes, Callable[[BinaryIO], TextStream]] = {
    GZIP: _gzip,
    BZIP2: _bzip2,
    XZ: _xz,
    ZSTD: _Arrow,
}
