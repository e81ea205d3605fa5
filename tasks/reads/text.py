"""Text of files that may be compressed, block by block, read ahead in a thread."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import queue
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import IO, cast

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.reads.measured import MeasuredFile

Text = npt.NDArray[np.uint8]

BLOCK = 1 << 23  # bytes of text
AHEAD = 2  # blocks that wait to be parsed
STDIN = "-"
GZIP, BZIP2, XZ, ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
SIGN_BYTES = 6


def text_of(path: str) -> Iterator[Text]:
    """Yield the text of a file, (n,) uint8 blocks, of which none is empty.

    Raises
    ------
    BadParams : the compressed data are damaged or end too early; a library is missing
    OSError : the file cannot be read
    """
    return ahead(lambda: _blocks(path), AHEAD)


def _blocks(path: str) -> Iterator[Text]:
    with _plain(path) as raw:
        buffered = io.BufferedReader(raw, BLOCK)
        with opened(buffered, path) as file:
            while (block := _read(file, path)).size:
                yield block


def _plain(path: str) -> io.FileIO:
    if path == STDIN:
        return io.FileIO(sys.stdin.fileno(), closefd=False)
    return MeasuredFile(path)


def opened(file: io.BufferedReader[io.FileIO], path: str) -> IO[bytes]:
    """Return what decompresses a file, by its first bytes; the file itself where it is text."""
    start = file.peek(SIGN_BYTES)[:SIGN_BYTES]
    if start.startswith(GZIP):
        return _gzip(file)
    if start.startswith(BZIP2):
        return cast(IO[bytes], bz2.BZ2File(file))
    if start.startswith(XZ):
        return cast(IO[bytes], lzma.LZMAFile(file))
    if start.startswith(ZSTD):
        return _zstd(file, path)
    return file


def _gzip(file: io.BufferedReader[io.FileIO]) -> IO[bytes]:
    """Return a reader of gzip members: by ISA-L, which is faster, where it is there."""
    if find_spec("isal"):
        from isal import igzip

        return cast(IO[bytes], igzip.IGzipFile(fileobj=file, mode="rb"))
    return cast(IO[bytes], gzip.GzipFile(fileobj=file, mode="rb"))


def _zstd(file: io.BufferedReader[io.FileIO], path: str) -> IO[bytes]:
    if find_spec("zstandard") is None:
        raise BadParams(
            f'{path} is compressed by Zstandard: zstandard is missing: pip install "gangsaw[reads]"'
        )
    import zstandard

    decoder = zstandard.ZstdDecompressor(max_window_size=1 << 31)
    return cast(IO[bytes], decoder.stream_reader(file, read_across_frames=True))


def _read(file: IO[bytes], path: str) -> Text:
    """Return the next bytes of the text, none at its end."""
    block = np.empty(BLOCK, np.uint8)
    try:
        return block[: cast(io.BufferedIOBase, file).readinto(block.data)]
    except EOFError as error:
        raise BadParams(f"{path} is cut off: its compressed data end too early") from error
    except (zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise BadParams(f"{path}: its compressed data are damaged: {error}") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise BadParams(f"{path}: its compressed data are damaged: {error}") from error
    except Exception as error:  # those of isal and zstandard, which need not be installed
        if type(error).__module__.split(".")[0] not in ("isal", "zstandard"):
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
