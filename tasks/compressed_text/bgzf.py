"""BGZF, the gzip variant of bgzip, decompressed by several threads.

Its members have at most 64 KiB of text and contain their lengths (SAM specification, "The BGZF
compression format").
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.util import find_spec
from typing import IO, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.compressed_text.streams import until_damage

READ = 1 << 21  # bytes of the file per read
RUN = 1 << 22  # bytes of text per task of a thread, unless one member has more
MAGIC, FIXED, MOST_TEXT = b"\x1f\x8b\x08\x04", 12, 1 << 16
TAIL = 8  # bytes of a member after its data: CRC-32 and length of the text
GZIP = 31  # zlib's `wbits` for data with a gzip header

Inflate = Callable[[memoryview, int, int], bytes]
Text = npt.NDArray[np.uint8]
Inflated: TypeAlias = "tuple[Text, Exception | None]"


class NoEndBlockError(EOFError):
    """Error: the file lacks the empty member with which every BGZF file ends."""


class CutMemberError(EOFError):
    """Error: the file ends within a member; `rest` is its available part."""

    def __init__(self, rest: bytes) -> None:
        super().__init__()
        self.rest = rest


class MemberRun(NamedTuple):
    """Consecutive BGZF members, which one thread decompresses.

    Attributes
    ----------
    data : bytes of the file with these members
    ends : offset of the first member in `data`, then the end of each
    sizes : bytes of text of each member
    """

    data: memoryview
    ends: list[int]
    sizes: list[int]

    def text(self, inflate: Inflate) -> tuple[Text, Exception | None]:
        """Decompress all members; return their text, or the part before damage, and the error."""
        out, at = np.empty(sum(self.sizes), np.uint8), 0
        for begin, end, size in zip(self.ends[:-1], self.ends[1:], self.sizes, strict=True):
            try:
                found = inflate(self.data[begin:end], GZIP, max(1, size))
            except Exception as error:  # from zlib or isal
                return np.concatenate((out[:at], salvaged(self.data[begin:end]))), error
            if len(found) != size:
                return out[:at], zlib.error("a block has another length than it says")
            out[at : at + size] = np.frombuffer(found, np.uint8)
            at += size
        return out, None


def bgzf_block_bytes(data: bytes | memoryview, at: int = 0) -> int:
    """Return the length in bytes of the BGZF member at an offset; 0 if its header is not valid."""
    if bytes(data[at : at + len(MAGIC)]) != MAGIC or len(data) < at + FIXED:
        return 0
    end = at + FIXED + int.from_bytes(data[at + FIXED - 2 : at + FIXED], "little")
    at += FIXED
    while at + 6 <= end:  # fields of the header: two letters, length, data
        length = int.from_bytes(data[at + 2 : at + 4], "little")
        if bytes(data[at : at + 2]) == b"BC" and length == 2 and len(data) >= at + 6:
            return int.from_bytes(data[at + 4 : at + 6], "little") + 1
        at += 4 + length
    return 0


def texts(file: IO[bytes], threads: int) -> Iterator[Text | bytes]:
    """Yield the text of a BGZF file in (n,) uint8 blocks, decompressed by several threads.

    If a member other than BGZF follows, the last item is bytes: the part of the rest that was
    already read, for another reader.

    Text before an error is yielded first.

    Raises
    ------
    EOFError : the file ends within a member; `NoEndBlockError`, if after one
    zlib.error : a member is damaged
    """
    inflate, waiting = _inflate(), deque[Future[Inflated]]()
    with ThreadPoolExecutor(threads, thread_name_prefix="gangsaw-bgzf") as pool:
        try:
            for run in _tried(_runs(file)):
                if isinstance(run, MemberRun):
                    waiting.append(pool.submit(run.text, inflate))
                while waiting and (len(waiting) > threads or not isinstance(run, MemberRun)):
                    yield from _yielded(*waiting.popleft().result())
                if isinstance(run, CutMemberError):
                    yield salvaged(run.rest)
                if isinstance(run, Exception):
                    raise run
                if isinstance(run, bytes):
                    yield run
        finally:
            for future in waiting:
                future.cancel()


def _tried(runs: Iterator[MemberRun | bytes]) -> Iterator[MemberRun | bytes | Exception | None]:
    """Yield the items of an iterator, then the exception that it raised, or None."""
    try:
        yield from runs
    except (EOFError, zlib.error) as error:
        yield error
    else:
        yield None


def _yielded(text: Text, damage: Exception | None) -> Iterator[Text]:
    """Yield a text, then raise the error that followed it, if any."""
    yield text
    if damage is not None:
        raise damage


def _runs(file: IO[bytes]) -> Iterator[MemberRun | bytes]:
    """Yield the members of a BGZF file in groups; last, as bytes, any data of another kind."""
    rest, last_size = b"", 0
    while more := file.read(READ):
        data = memoryview(rest + more)
        at, ends, sizes = 0, [0], list[int]()
        while (n := bgzf_block_bytes(data, at)) and at + n <= len(data):
            size = int.from_bytes(data[at + n - 4 : at + n], "little")
            if size > MOST_TEXT or n < FIXED + TAIL:
                yield MemberRun(data, ends, sizes)
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
            # preallocated zeros of a file that was cut off
            if last_size and not (rest := _behind_zeros(rest, file)):
                break
            yield rest
            return
    else:
        if rest:
            raise CutMemberError(rest)
    if last_size:
        raise NoEndBlockError("the empty block that bgzip writes at its end is missing")


def _behind_zeros(data: bytes, file: IO[bytes]) -> bytes:
    """Return data without leading zeros, read on if all are zeros; b"" at the end of the file."""
    while not (data := data.lstrip(b"\0")) and (data := file.read(READ)):
        pass
    return data


def salvaged(data: bytes | memoryview) -> Text:
    """Return the text of a damaged or truncated gzip member, (n,) uint8, as far as it is intact."""
    return np.frombuffer(until_damage(zlib.decompressobj(GZIP), data), np.uint8)


def _is_other(data: bytes) -> bool:
    """Return True if a partly read gzip member is certainly not BGZF."""
    if not data.startswith(MAGIC[: len(data)]):
        return True
    head = FIXED + int.from_bytes(data[FIXED - 2 : FIXED], "little")
    return len(data) >= max(FIXED, head) and not bgzf_block_bytes(data)


def _inflate() -> Inflate:
    """Return the inflate function: ISA-L if installed, else zlib."""
    if find_spec("isal"):
        from isal import isal_zlib

        return cast(Inflate, isal_zlib.decompress)
    return cast(Inflate, zlib.decompress)
