"""BGZF, the gzip of bgzip, inflated by several threads.

Its members have 64 KiB of text at most and say how long they are (SAM specification, "The BGZF
compression format").
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.util import find_spec
from typing import IO, NamedTuple, cast

import numpy as np
import numpy.typing as npt

READ = 1 << 21  # bytes of the file at once
RUN = 1 << 22  # bytes of text that one thread inflates at once, unless one member has more
MAGIC, FIXED, MOST_TEXT = b"\x1f\x8b\x08\x04", 12, 1 << 16
TAIL = 8  # bytes of a member behind its data: CRC-32 and length of the text
GZIP = 31  # what zlib calls data with the head of gzip

Inflate = Callable[[memoryview, int, int], bytes]
Text = npt.NDArray[np.uint8]


class NoEndBlockError(EOFError):
    """The empty member that ends each such file is missing."""


class MemberRun(NamedTuple):
    """Members one behind the other.

    Attributes
    ----------
    data : bytes of a file
    ends : where each member ends, before them where the first one begins
    sizes : bytes of text of each
    """

    data: memoryview
    ends: list[int]
    sizes: list[int]

    def text(self, inflate: Inflate) -> Text:
        """Return the text of all members; zlib.error where one is damaged."""
        out, at = np.empty(sum(self.sizes), np.uint8), 0
        for begin, end, size in zip(self.ends[:-1], self.ends[1:], self.sizes, strict=True):
            found = inflate(self.data[begin:end], GZIP, max(1, size))
            if len(found) != size:
                raise zlib.error("a block has another length than it says")
            out[at : at + size] = np.frombuffer(found, np.uint8)
            at += size
        return out


def block_bytes(data: bytes | memoryview, at: int = 0) -> int:
    """Return the bytes of the member at a place; 0 where its head is not BGZF's, or not whole."""
    if bytes(data[at : at + len(MAGIC)]) != MAGIC or len(data) < at + FIXED:
        return 0
    end = at + FIXED + int.from_bytes(data[at + FIXED - 2 : at + FIXED], "little")
    at += FIXED
    while at + 6 <= end:  # fields of the head: two letters, length, data
        length = int.from_bytes(data[at + 2 : at + 4], "little")
        if bytes(data[at : at + 2]) == b"BC" and length == 2 and len(data) >= at + 6:
            return int.from_bytes(data[at + 4 : at + 6], "little") + 1
        at += 4 + length
    return 0


def texts(file: IO[bytes], threads: int) -> Iterator[Text | bytes]:
    """Yield the text of a file, (n,) uint8 blocks in order.

    Where another member than BGZF's follows, the last item is bytes: those that were read of what
    is left, to go on with.

    Raises
    ------
    EOFError : the file ends within a member; NoEndBlockError, if behind one
    zlib.error : a member is damaged
    """
    inflate, waiting = _inflate(), deque[Future[Text]]()
    with ThreadPoolExecutor(threads, thread_name_prefix="gangsaw-bgzf") as pool:
        try:
            for run in _runs(file):
                if isinstance(run, bytes):
                    yield from (future.result() for future in waiting)
                    waiting.clear()
                    yield run
                    return
                waiting.append(pool.submit(run.text, inflate))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            yield from (future.result() for future in waiting)
        finally:
            for future in waiting:
                future.cancel()


def _runs(file: IO[bytes]) -> Iterator[MemberRun | bytes]:
    """Yield members in runs; last, as bytes, what is left where another member follows."""
    rest, last_size = b"", 0
    while more := file.read(READ):
        data = memoryview(rest + more)
        at, ends, sizes = 0, [0], list[int]()
        while (n := block_bytes(data, at)) and at + n <= len(data):
            size = int.from_bytes(data[at + n - 4 : at + n], "little")
            if size > MOST_TEXT or n < FIXED + TAIL:
                raise zlib.error("a block says that it holds more than 64 KiB")
            if sum(sizes) + size > RUN:
                yield MemberRun(data, ends, sizes)
                ends, sizes = [at], []
            at, last_size = at + n, size
            ends.append(at)
            sizes.append(size)
        if sizes:
            yield MemberRun(data, ends, sizes)
        rest = bytes(data[at:])
        if _is_other(rest):
            if last_size and rest[0] == 0:  # room that was made for a file which then was cut off
                break
            yield rest
            return
    else:
        if rest:
            raise EOFError
    if last_size:
        raise NoEndBlockError("the empty block that bgzip writes at its end is missing")


def _is_other(data: bytes) -> bool:
    """Whether a member, of which some bytes may not be read yet, is surely not BGZF's."""
    if not data.startswith(MAGIC[: len(data)]):
        return True
    head = FIXED + int.from_bytes(data[FIXED - 2 : FIXED], "little")
    return len(data) >= max(FIXED, head) and not block_bytes(data)


def _inflate() -> Inflate:
    """Return what inflates a member: ISA-L where it is there, else zlib."""
    if find_spec("isal"):
        from isal import isal_zlib

        return cast(Inflate, isal_zlib.decompress)
    return cast(Inflate, zlib.decompress)
