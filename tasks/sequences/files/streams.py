"""Compressed streams one behind the other, as gzip's members: damage, cuts and what follows.

The readers of Python's and other libraries take what follows in several ways. ISA-L's says of a few
bytes behind the end that the file ends too early; bz2's and lzma's end without a word at a stream
whose head is damaged; zstandard's takes a frame that is cut off for whole.
"""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import IO, Protocol, cast

from gangsaw.codecs.core.extras import missing

GZIP, BZIP2, XZ, ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
SIGNS = (GZIP, BZIP2, XZ, ZSTD)
SIGN_BYTES = 10  # of a file that tell whether it is compressed
BEHIND_BZIP2 = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")  # after a digit; text may begin with "BZh"
WITH_HEAD = 31  # what zlib calls data with the head of gzip
READ_BYTES = 1 << 14  # that are decompressed at once: they may become many times as many
PIECE = 1 << 12  # of which nothing is had where some are damaged and the library makes no copies
STEP = 16  # bytes that are decompressed at once where some are damaged
MOST = 1 << 20  # bytes of text at once, of the libraries that take such a limit


def packed_sign(start: bytes) -> bytes | None:
    """Return the sign of SIGNS by which a file that begins so is compressed; None of others."""
    sign = next((sign for sign in SIGNS if start.startswith(sign)), None)
    if sign == BZIP2 and not start[4:].startswith(BEHIND_BZIP2):
        return None
    return sign


class BytesBehindError(Exception):
    """Something that is no stream follows the last one."""

    def __init__(self) -> None:
        super().__init__(
            "behind its compressed data are bytes that are none: it is damaged there, or something "
            "was appended"
        )


class StreamDecompressor(Protocol):
    """One stream, as zlib, bz2, lzma, isal and zstandard decompress it."""

    @property
    def eof(self) -> bool:
        """Whether the stream is at its end."""
        ...

    @property
    def unused_data(self) -> bytes:
        """What follows it."""
        ...


def until_damage(stream: StreamDecompressor, data: bytes | memoryview) -> bytes:
    """Return the text of a stream's data up to where they are damaged or end."""
    found = bytearray()
    with suppress(Exception):  # each library has its own
        for at in range(0, len(data), STEP):
            found += stream.decompress(bytes(data[at : at + STEP]))  # type: ignore[attr-defined]
    return bytes(found)


class StreamsText(io.RawIOBase):
    """The text of all streams of a file. Zeros between and behind them are padding.

    Raises, while it is read, what the library says of damage, EOFError where a stream is cut off,
    and BytesBehindError.

    Parameters
    ----------
    file : read from where it is
    sign : what each stream begins with; b"" leaves that to the library
    new : makes what decompresses one stream: of data, or where it has `needs_input`, of data and
        the most bytes that it may return

    Attributes
    ----------
    zeros : bytes of padding behind the last stream; known at the end
    """

    def __init__(self, file: IO[bytes], sign: bytes, new: Callable[[], StreamDecompressor]) -> None:
        self._file, self._sign, self._new = file, sign, new
        self._stream, self._text, self._data = new(), memoryview(b""), b""
        self._is_begun, self._damage = False, cast(Exception | None, None)
        self.zeros = 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill some of a buffer; 0 bytes at the end."""
        while not self._text and self._has_more():
            if self._damage is not None:
                raise self._damage
            self._text = memoryview(self._decompressed())
            if self._stream.eof:
                self._data = self._stream.unused_data + self._data
                self._stream = self._new()
                self._is_begun = False
        n = min(len(buffer), len(self._text))
        buffer[:n], self._text = self._text[:n], self._text[n:]
        return n

    def _has_more(self) -> bool:
        """Whether a stream goes on or begins; its next data are there."""
        if not self._is_begun:
            return self._begins()
        if not self._data and getattr(self._stream, "needs_input", True):
            self._data = self._file.read(READ_BYTES)
            if not self._data:
                raise EOFError
        return True

    def _begins(self) -> bool:
        """Whether another stream begins here."""
        self._skip_zeros()
        while len(self._data) < max(1, len(self._sign)) and (more := self._file.read(READ_BYTES)):
            self._data += more
            self._skip_zeros()
        if not self._sign.startswith(self._data[: len(self._sign)]):
            raise BytesBehindError
        self._is_begun = bool(self._data)
        self.zeros = 0 if self._is_begun else self.zeros
        return self._is_begun

    def _skip_zeros(self) -> None:
        n, self._data = len(self._data), self._data.lstrip(b"\0")
        self.zeros += n - len(self._data)

    def _decompressed(self) -> bytes:
        n = PIECE if not hasattr(self._stream, "needs_input") else len(self._data)
        data, self._data = self._data[:n], self._data[n:]
        if hasattr(self._stream, "needs_input"):
            return self._stream.decompress(data, MOST)  # type: ignore[attr-defined, no-any-return]
        before = self._stream.copy() if hasattr(self._stream, "copy") else None
        try:
            return self._stream.decompress(data)  # type: ignore[attr-defined, no-any-return]
        except Exception as error:
            self._damage = error
            return b"" if before is None else until_damage(before, data)


def gzip_text(file: IO[bytes]) -> IO[bytes]:
    """Return the text of gzip members: by ISA-L where it is there, else by zlib."""
    if find_spec("isal"):
        from isal import isal_zlib

        return _text(file, GZIP, lambda: isal_zlib.decompressobj(WITH_HEAD))
    return _text(file, GZIP, lambda: zlib.decompressobj(WITH_HEAD))


def text_behind(sign: bytes, file: IO[bytes], path: str) -> IO[bytes]:
    """Return the text of a file that begins with one of SIGNS."""
    if sign == GZIP:
        return gzip_text(file)
    if sign == BZIP2:
        return _text(file, sign, bz2.BZ2Decompressor)
    if sign == XZ:
        return _text(file, sign, lzma.LZMADecompressor)
    return _zstd(file, path)


def _zstd(file: IO[bytes], path: str) -> IO[bytes]:
    if find_spec("zstandard") is None:
        raise missing("zstandard", f"{path} is compressed by Zstandard")
    import zstandard

    new = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj
    return _text(file, b"", new)  # its frames may also be such as are skipped


def _text(file: IO[bytes], sign: bytes, new: Callable[[], StreamDecompressor]) -> IO[bytes]:
    return io.BufferedReader(StreamsText(file, sign, new), READ_BYTES)
