"""Text of possibly compressed files, in blocks, read ahead in a thread."""

from __future__ import annotations

import io
import lzma
import queue
import sys
import threading
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.memory.threads import thread_limit
from gangsaw.tasks.compressed_text import bgzf
from gangsaw.tasks.compressed_text.measured import MeasuredFile
from gangsaw.tasks.compressed_text.streams import (
    GZIP,
    SIGN_BYTES,
    BytesBehindError,
    gzip_text,
    packed_sign,
    text_behind,
)

Text = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.int64]

BLOCK = 1 << 23  # bytes of text
AHEAD = 2  # blocks that wait to be parsed
STDIN = "-"
LIBRARIES = ("igzip_lib", "isal", "zstandard")  # modules of errors
HEAD_BYTES = 64


class CutAtBlockError(BadParams):
    """Error: a bgzip file ends with a whole block, but without the empty one at its end."""


def read_blocks(path: str, notes: list[str] | None = None) -> Generator[Text, None, None]:
    """Yield the decompressed text of a file as nonempty (n,) uint8 blocks.

    Messages for the user are appended to `notes` until the last block is yielded.

    Raises
    ------
    BadParams : the compressed data are damaged or end too early, after all text before is yielded
        (`CutAtBlockError`, if after a whole block of bgzip); a library is missing
    OSError : the file cannot be read
    """
    return read_ahead(lambda: _blocks(path, [] if notes is None else notes), AHEAD)


class BegunText:
    """Text of a file or pipe that is opened once, with its first block available before the rest.

    Reading starts at once, in a thread, as needed for a program that writes to several pipes in
    turn.

    Attributes
    ----------
    notes : messages, as in `read_blocks`
    """

    def __init__(self, path: str) -> None:
        notes: list[str] = []
        self.notes = notes  # the thread must not keep a reference to `self`
        self._reading = _TextReading(lambda: _blocks(path, notes), AHEAD)
        self._blocks = self._reading.blocks()

    @cached_property
    def first(self) -> Text:
        """The first block, (n,) uint8, empty for an empty text; raises as `read_blocks`."""
        return next(self._blocks, np.empty(0, np.uint8))

    def __iter__(self) -> Iterator[Text]:
        """Yield all blocks, from the first."""
        if self.first.size:
            yield self.first
        yield from self._blocks

    def __del__(self) -> None:
        """Stop the thread if the text was not read."""
        self._reading.is_over.set()


def beginning(path: str, n: int) -> bytes:
    """Return at most the first n bytes of a file's decompressed text; b"" if it cannot be read."""
    try:
        return head_of(path, n)
    except (BadParams, OSError):
        return b""


def head_of(path: str, n: int) -> bytes:
    """Return at most the first n bytes of a file's decompressed text, or those before damage.

    Raises
    ------
    BadParams, OSError : as `read_blocks`, if there is no text before the damage
    """
    found = bytearray()
    try:
        with _plain(path) as raw, _damage_named(path):
            file = open_text(_begun(raw)[1], path)
            while len(found) < n and (part := file.read1(n - len(found))):  # type: ignore[attr-defined]
                found += part
    except (BadParams, OSError):
        if not found:
            raise
    return bytes(found)


def _begun(raw: io.FileIO) -> tuple[bytes, io.BufferedReader[io.RawIOBase]]:
    """Return the first bytes of a file, and a reader of all; a pipe may give few at once."""
    buffered: io.BufferedReader[io.RawIOBase] = io.BufferedReader(raw, BLOCK)
    start = buffered.peek(HEAD_BYTES)[:HEAD_BYTES]
    if not start or len(start) == HEAD_BYTES:
        return start, buffered
    start = buffered.read(HEAD_BYTES)
    return start, io.BufferedReader(_Behind(start, buffered), BLOCK)


def _blocks(path: str, notes: list[str]) -> Iterator[Text]:
    with _plain(path) as raw:
        start, buffered = _begun(raw)
        if bgzf.bgzf_block_bytes(start):
            yield from _bgzf_blocks(buffered, path, notes)
            return
        is_gzip = packed_sign(start[:SIGN_BYTES]) == GZIP
        with open_text(buffered, path) as file:
            yield from _read_blocks(file, path)
            if is_gzip:  # xz has padding of its own
                notes.extend(_report_zeros(file, path))


def _report_zeros(file: IO[bytes], path: str) -> Iterator[str]:
    """Yield a message if zeros follow the compressed data."""
    if zeros := getattr(getattr(file, "raw", None), "zeros", 0):
        yield f"{path}: {zeros:,} zeros follow its compressed data; they were left out"


def _bgzf_blocks(file: IO[bytes], path: str, notes: list[str]) -> Iterator[Text]:
    """Yield the text of a bgzip file, and of members of other programs after it."""
    found = bgzf.texts(file, thread_limit())
    while True:
        with _damage_named(path):
            block = next(found, None)
        if block is None:
            return
        if isinstance(block, bytes):
            with gzip_text(io.BufferedReader(_Behind(block, file))) as rest:
                yield from _read_blocks(rest, path)
                notes.extend(_report_zeros(rest, path))
        elif block.size:
            yield block


class _Behind(io.RawIOBase):
    """File to which bytes are prepended that were already read from it."""

    def __init__(self, start: bytes, file: IO[bytes]) -> None:
        self._start, self._file = start, file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        taken = self._start[: len(buffer)] or self._file.read(len(buffer))
        self._start = self._start[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)


def _plain(path: str) -> io.FileIO:
    if path == STDIN:
        return io.FileIO(sys.stdin.fileno(), closefd=False)
    if Path(path).is_dir():
        raise BadParams(f"{path} is a directory: name a file")
    return MeasuredFile(path)


def open_text(file: io.BufferedReader[io.RawIOBase], path: str) -> IO[bytes]:
    """Return a decompressing reader by the file's first bytes; the file itself if plain."""
    sign = packed_sign(file.peek(SIGN_BYTES)[:SIGN_BYTES])
    return file if sign is None else text_behind(sign, file, path)


def _read_blocks(file: IO[bytes], path: str) -> Iterator[Text]:
    """Yield the text of an open file in blocks; before an error, the text read so far."""
    while True:
        block, n, damage = np.empty(BLOCK, np.uint8), 0, None
        try:
            with _damage_named(path):
                while n < BLOCK and (more := file.readinto1(block.data[n:])):  # type: ignore[attr-defined]
                    n += more
        except BadParams as error:
            damage = error
        if n:
            yield block[:n]
        if damage is not None:
            raise damage
        if n < BLOCK:
            return


@contextmanager
def _damage_named(path: str) -> Iterator[None]:
    """Convert library exceptions for damaged compressed data to BadParams."""
    try:
        yield
    except bgzf.NoEndBlockError as error:
        raise CutAtBlockError(f"{path} is cut off: {error}") from error
    except EOFError as error:
        raise BadParams(f"{path} is cut off: its compressed data end too early") from error
    except BytesBehindError as error:
        raise BadParams(f"{path}: {error}") from error
    except (zlib.error, lzma.LZMAError) as error:
        raise BadParams(f"{path}: its compressed data are damaged: {error}") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise BadParams(f"{path}: its compressed data are damaged: {error}") from error
    except Exception as error:  # those of isal and zstandard, which may not be installed
        if type(error).__module__.split(".")[0] not in LIBRARIES:
            raise
        raise BadParams(f"{path}: its compressed data are damaged: {error}") from error


def read_ahead(blocks: Callable[[], Iterator[Text]], n: int) -> Generator[Text, None, None]:
    """Yield the items of an iterator that runs in its own thread, up to n items ahead."""
    yield from _TextReading(blocks, n).blocks()


class _TextReading:
    """Thread that reads blocks of text ahead into a queue.

    Attributes
    ----------
    is_over : event that stops the thread
    """

    def __init__(self, blocks: Callable[[], Iterator[Text]], n: int) -> None:
        self.is_over = threading.Event()
        self._items: queue.Queue[Text | BaseException | None] = queue.Queue(n)
        own = (blocks, self._items, self.is_over)
        threading.Thread(target=_read, args=own, name="gangsaw-read", daemon=True).start()

    def blocks(self) -> Iterator[Text]:
        """Yield the blocks; raise any exception of the reading thread."""
        try:
            while (item := self._items.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self.is_over.set()


def _read(
    blocks: Callable[[], Iterator[Text]],
    items: queue.Queue[Text | BaseException | None],
    is_over: threading.Event,
) -> None:
    def offer(item: Text | BaseException | None) -> None:
        while not is_over.is_set():
            try:
                items.put(item, timeout=0.1)
                return
            except queue.Full:
                continue

    try:
        for block in blocks():
            offer(block)
            if is_over.is_set():
                return
        offer(None)
    except BaseException as error:
        offer(error)
