"""Text of files that may be compressed, block by block, read ahead in a thread."""

from __future__ import annotations

import io
import lzma
import queue
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.memory.threads import thread_limit
from gangsaw.tasks.sequences.files import bgzf
from gangsaw.tasks.sequences.files.measured import MeasuredFile
from gangsaw.tasks.sequences.files.streams import (
    GZIP,
    SIGN_BYTES,
    BytesBehindError,
    gzip_text,
    packed_sign,
    text_behind,
)

Text = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]

BLOCK = 1 << 23  # bytes of text
AHEAD = 2  # blocks that wait to be parsed
STDIN = "-"
LIBRARIES = ("igzip_lib", "isal", "zstandard")  # modules of errors
HEAD_BYTES = 64


class CutAtBlockError(BadParams):
    """A file of bgzip ends with a whole block, and not with the empty one that ends such files."""


def text_of(path: str, notes: list[str] | None = None) -> Iterator[Text]:
    """Yield the text of a file, (n,) uint8 blocks, of which none is empty.

    `notes` gets, until the last one was yielded, what a user should know of the file.

    Raises
    ------
    BadParams : the compressed data are damaged or end too early, all text until there was yielded
        (CutAtBlockError, if behind a whole block of bgzip); a library is missing
    OSError : the file cannot be read
    """
    return ahead(lambda: _blocks(path, [] if notes is None else notes), AHEAD)


def beginning(path: str, n: int) -> bytes:
    """Return the first bytes of a file's text, n at most; b"" where it cannot be read."""
    try:
        with io.BufferedReader(io.FileIO(path)) as raw, _damage_named(path):
            return _taken(opened(raw, path), n)
    except (BadParams, OSError):
        return b""


def _taken(file: IO[bytes], n: int) -> bytes:
    """Return the next bytes of a file that may give fewer than it is asked for."""
    found = bytearray()
    while len(found) < n and (part := file.read(n - len(found))):
        found += part
    return bytes(found)


def _blocks(path: str, notes: list[str]) -> Iterator[Text]:
    with _plain(path) as raw:
        buffered = io.BufferedReader(raw, BLOCK)
        if bgzf.block_bytes(buffered.peek(HEAD_BYTES)[:HEAD_BYTES]):
            yield from _bgzf_blocks(buffered, path, notes)
            return
        is_gzip = packed_sign(buffered.peek(SIGN_BYTES)[:SIGN_BYTES]) == GZIP
        with opened(buffered, path) as file:
            yield from _read_blocks(file, path)
            if is_gzip:  # xz has padding of its own
                notes.extend(_zeros_told(file, path))


def _zeros_told(file: IO[bytes], path: str) -> Iterator[str]:
    """Yield that zeros follow the compressed data, where some do."""
    if zeros := getattr(getattr(file, "raw", None), "zeros", 0):
        yield f"{path}: {zeros:,} zeros follow its compressed data; they were left out"


def _bgzf_blocks(file: io.BufferedReader[io.FileIO], path: str, notes: list[str]) -> Iterator[Text]:
    """Yield the text of a file of bgzip, and of members of other programs behind it."""
    found = bgzf.texts(file, thread_limit())
    while True:
        with _damage_named(path):
            block = next(found, None)
        if block is None:
            return
        if isinstance(block, bytes):
            with gzip_text(io.BufferedReader(_Behind(block, file))) as rest:
                yield from _read_blocks(rest, path)
                notes.extend(_zeros_told(rest, path))
        elif block.size:
            yield block


class _Behind(io.RawIOBase):
    """A file, with some bytes that were read of it before it."""

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


def opened(file: io.BufferedReader[io.FileIO], path: str) -> IO[bytes]:
    """Return what decompresses a file, by its first bytes; the file itself where it is text."""
    sign = packed_sign(file.peek(SIGN_BYTES)[:SIGN_BYTES])
    return file if sign is None else text_behind(sign, file, path)


def _read_blocks(file: IO[bytes], path: str) -> Iterator[Text]:
    """Yield the text of an open file; before an error what was read until then."""
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
    """Raise BadParams for what the libraries raise where compressed data are damaged."""
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
    except Exception as error:  # those of isal and zstandard, which need not be installed
        if type(error).__module__.split(".")[0] not in LIBRARIES:
            raise
        raise BadParams(f"{path}: its compressed data are damaged: {error}") from error


def ahead(blocks: Callable[[], Iterator[Text]], n: int) -> Iterator[Text]:
    """Yield what an iterator yields, which runs in a thread of its own and is n items ahead."""
    items: queue.Queue[Text | BaseException | None] = queue.Queue(n)
    is_over = threading.Event()

    def offer(item: Text | BaseException | None) -> None:
        while not is_over.is_set():
            try:
                items.put(item, timeout=0.1)
                return
            except queue.Full:
                continue

    def run() -> None:
        try:
            for block in blocks():
                offer(block)
                if is_over.is_set():
                    return
            offer(None)
        except BaseException as error:
            offer(error)

    thread = threading.Thread(target=run, name="gangsaw-read", daemon=True)
    thread.start()
    try:
        while (item := items.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        is_over.set()
