"""Decompressed byte streams of tables; the first bytes, not the name, determine the compression."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.text import CutAtBlockError, Text, head_of, read_blocks

PARQUET, ZIP = b"PAR1", b"PK\x03\x04"


class Damaged(BadParams):
    """Error: compressed data are truncated or have a wrong checksum."""


class TextStream(Protocol):
    """Interface of the streams that `open_decompressed` returns."""

    def read(self, size: int, /) -> bytes:
        """Return 1..size bytes, or b"" at the end; raise `Damaged` after the last valid bytes."""


def magic(path: Path) -> bytes:
    """Return the first bytes of a file.

    Raises
    ------
    BadParams : the file does not exist, or cannot be read
    """
    try:
        with path.open("rb") as file:
            return file.read(8)
    except OSError as error:
        raise BadParams(f"{path}: {error.strerror or error}") from None


def text_head(path: Path, n: int) -> bytes:
    """Return the first bytes of a file's text, at most n, or those before damage.

    Raises
    ------
    BadParams : the file cannot be read, or is an archive of files
    Damaged : compressed data are damaged before there is any text
    """
    _refuse_archive(path)
    try:
        return head_of(str(path), n)
    except BadParams as error:
        raise Damaged(str(error)) from None
    except OSError as error:
        raise BadParams(f"{path}: {error.strerror or error}") from None


@contextmanager
def open_decompressed(path: Path) -> Iterator[TextStream]:
    """Open a file for reading its decompressed bytes.

    Raises
    ------
    BadParams : the file cannot be read, or is an archive of files
    Damaged : raised by `read` if compressed data are damaged
    """
    _refuse_archive(path)
    with closing(read_blocks(str(path))) as blocks:
        yield _BlockStream(str(path), blocks)


def _refuse_archive(path: Path) -> None:
    if magic(path).startswith(ZIP):
        raise BadParams(f"{path} is a zip archive or a workbook: unpack it, or save it as TSV")


class _BlockStream:
    """Stream over blocks of text, readable in any size."""

    def __init__(self, path: str, blocks: Iterator[Text]) -> None:
        self._path, self._blocks = path, blocks
        self._block, self._last = memoryview(b""), b"\n"

    def read(self, size: int, /) -> bytes:
        """Return 1..size bytes, or b"" at the end; raise `Damaged` after the last valid bytes."""
        if not self._block:
            self._block = self._next()
        out = self._block[:size].tobytes()
        self._block, self._last = self._block[size:], out[-1:] or self._last
        return out

    def _next(self) -> memoryview:
        try:
            return next(self._blocks, np.empty(0, np.uint8)).data
        except CutAtBlockError as error:
            # the last block of bgzip is missing, as in files that tools concatenate from blocks
            if self._last == b"\n":
                return memoryview(b"")
            raise Damaged(_without(self._path, error)) from None
        except BadParams as error:
            raise Damaged(_without(self._path, error)) from None


def _without(path: str, error: BadParams) -> str:
    """Return the message of an error without the path, which the caller adds."""
    return str(error).removeprefix(f"{path}: ").removeprefix(f"{path} is cut off: ")
