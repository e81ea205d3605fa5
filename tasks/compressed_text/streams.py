"""Text of concatenated compressed streams, such as gzip members, with damage and truncation checks.

Other readers handle trailing data in different ways. ISA-L's reader reports a truncated file for a
few bytes after the end. Those of bz2 and lzma end silently at a stream with a damaged header. That
of zstandard accepts a truncated frame.
"""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from typing import IO, Protocol, cast

from gangsaw.codecs.core.plugins.extras import missing_module

GZIP, BZIP2, XZ, ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
# skippable frames of Zstandard, with which pzstd starts: RFC 8878, 3.1.2; LZ4 has the same
SKIPPABLE = tuple(bytes((low,)) + b"\x2a\x4d\x18" for low in range(0x50, 0x60))
# header of xz --format=lzma: the usual properties, and low bytes of the dictionary size
LZMA = b"\x5d\0\0"
# bytes of its header, and most bytes of text that it may declare
LZMA_HEAD, MOST_LZMA = 13, 1 << 38
SIGN_BYTES = 64  # first bytes of a file that identify compression
MOST_PROPERTIES = 225  # 9 * 5 * 5 combinations of LZMA's lc, lp and pb
LZMA_CODER = 5  # first bytes of LZMA's range coder; the first one is 0
BEHIND_BZIP2 = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")  # after a digit; text may begin with "BZh"
WITH_HEAD = 31  # zlib's `wbits` for data with a gzip header
READ_BYTES = 1 << 14  # compressed bytes per step, which may expand many times
PIECE = 1 << 12  # bytes lost around damage, if the library cannot copy its state
STEP = 16  # bytes per step in damaged data
MOST = 1 << 20  # most bytes of text per step, for libraries that take such a limit


def packed_sign(start: bytes) -> bytes | None:
    """Return the magic bytes of a file's compression: GZIP, BZIP2, XZ, ZSTD, LZMA or None.

    `start` is its first SIGN_BYTES bytes, or all if it has fewer.
    """
    if start.startswith(SKIPPABLE):
        return ZSTD
    if start.startswith(LZMA):
        return LZMA if _is_lzma(start) else None
    if _is_unusual_lzma(start):
        return LZMA
    if start.startswith(BZIP2):
        return BZIP2 if start[3:4].isdigit() and start[4:].startswith(BEHIND_BZIP2) else None
    return next((sign for sign in (GZIP, XZ, ZSTD) if start.startswith(sign)), None)


def may_be_packed(start: bytes) -> bool:
    """Return True if a file with these first 8 bytes is most likely compressed."""
    return start.startswith((GZIP, BZIP2, XZ, ZSTD, LZMA, *SKIPPABLE))


def _is_lzma(start: bytes) -> bool:
    """Return True if bytes begin with a usual LZMA Utils header: dictionary size and text size."""
    if len(start) < LZMA_HEAD:
        return False
    dictionary, n = (int.from_bytes(start[i:j], "little") for i, j in ((1, 5), (5, LZMA_HEAD)))
    low = dictionary & -dictionary
    is_power = dictionary in (low, 3 * low) and dictionary >= 1 << 12
    return is_power and (n < MOST_LZMA or n == (1 << 64) - 1)


def _is_unusual_lzma(start: bytes) -> bool:
    """Return True if bytes begin with an unusual LZMA Utils header and can be decoded.

    The header alone has too few fixed bits: a table of binary numbers may begin like it.
    """
    if not _is_lzma(start) or len(start) < LZMA_HEAD + LZMA_CODER:
        return False
    if start[0] >= MOST_PROPERTIES or start[LZMA_HEAD] != 0:
        return False
    try:
        lzma.LZMADecompressor(lzma.FORMAT_ALONE).decompress(start, MOST)
    except (lzma.LZMAError, MemoryError):
        return False
    return True


class BytesBehindError(Exception):
    """Error: other data follow the last compressed stream of a file."""

    def __init__(self) -> None:
        super().__init__(
            "other bytes follow its compressed data: it is damaged there, or something was appended"
        )


class StreamDecompressor(Protocol):
    """Decompressor of one compressed stream, as in zlib, bz2, lzma, isal and zstandard."""

    @property
    def eof(self) -> bool:
        """True at the end of the stream."""
        ...

    @property
    def unused_data(self) -> bytes:
        """Data after the end of the stream."""
        ...


def until_damage(stream: StreamDecompressor, data: bytes | memoryview) -> bytes:
    """Decompress data of a stream as far as they are intact; return the text."""
    found = bytearray()
    with suppress(Exception):  # each library has its own exceptions
        for at in range(0, len(data), STEP):
            found += stream.decompress(bytes(data[at : at + STEP]))  # type: ignore[attr-defined]
    return bytes(found)


class StreamsText(io.RawIOBase):
    """File object with the text of all compressed streams of a file, one after the other.

    Zeros between and after the streams are padding. While it is read, it raises the library's
    errors for damage, EOFError for a truncated stream, and `BytesBehindError`.

    Parameters
    ----------
    file : file, read from its current position
    signs : possible first bytes of a stream, all of one length
    new : function that returns a decompressor of one stream; if that has `needs_input`, it takes
        the data and the most bytes to return

    Attributes
    ----------
    zeros : bytes of padding after the last stream; valid at the end
    """

    def __init__(
        self, file: IO[bytes], signs: tuple[bytes, ...], new: Callable[[], StreamDecompressor]
    ) -> None:
        self._file, self._signs, self._new = file, signs, new
        self._stream, self._text, self._data = new(), memoryview(b""), b""
        self._is_begun, self._damage = False, cast(Exception | None, None)
        self.zeros = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a part of a buffer; return the number of bytes, 0 at the end."""
        while not self._text and (self._damage is not None or self._has_more()):
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
        """Return True if a stream continues or begins, with its next data loaded."""
        if not self._is_begun:
            return self._begins()
        if not self._data and getattr(self._stream, "needs_input", True):
            self._data = self._file.read(READ_BYTES)
            if not self._data:
                raise EOFError
        return True

    def _begins(self) -> bool:
        """Return True if another compressed stream begins here, after any padding."""
        self._skip_zeros()
        while len(self._data) < len(self._signs[0]) and (more := self._file.read(READ_BYTES)):
            self._data += more
            self._skip_zeros()
        if not any(sign.startswith(self._data[: len(sign)]) for sign in self._signs):
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
    """Return a file object with the text of gzip members: by ISA-L if installed, else by zlib."""
    if find_spec("isal"):
        from isal import isal_zlib

        return _text(file, (GZIP,), lambda: isal_zlib.decompressobj(WITH_HEAD))
    return _text(file, (GZIP,), lambda: zlib.decompressobj(WITH_HEAD))


def text_behind(sign: bytes, file: io.BufferedReader[io.RawIOBase], path: str) -> IO[bytes]:
    """Return a file object with the decompressed text of a file.

    Parameters
    ----------
    sign : magic bytes of its compression, as detected by `packed_sign`
    file, path : file at its start, and its path for messages
    """
    if sign == GZIP:
        return gzip_text(file)
    if sign == BZIP2:
        return _text(file, (sign,), bz2.BZ2Decompressor)
    if sign == XZ:
        return _text(file, (sign,), lzma.LZMADecompressor)
    if sign == LZMA:
        own = file.peek(len(LZMA))[: len(LZMA)]  # the properties may be unusual
        return _text(file, (own,), partial(lzma.LZMADecompressor, lzma.FORMAT_ALONE))
    return _zstd(file, path)


def _zstd(file: IO[bytes], path: str) -> IO[bytes]:
    if find_spec("zstandard") is None:
        raise missing_module("zstandard", f"{path} is compressed by Zstandard")
    import zstandard

    new = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj
    return _text(file, (ZSTD, *SKIPPABLE), new)


def _text(
    file: IO[bytes], signs: tuple[bytes, ...], new: Callable[[], StreamDecompressor]
) -> IO[bytes]:
    return io.BufferedReader(StreamsText(file, signs, new), READ_BYTES)
