"""GPU conversion of packed bases and marks to text; see join.cu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import launch, load_module
from gangsaw.codecs.dna.gpu_parts import DevicePart
from gangsaw.codecs.dna.letters.gpu_split import PIECE, THREADS
from gangsaw.codecs.dna.letters.numbers import most_runs

RUN_BYTES = 16  # `Run` of join.cu
NONE = -1  # index of a missing stream


class EncodedText(NamedTuple):
    """Block in device memory to convert to text: its bases in some form, and marks.

    Attributes
    ----------
    out : (n,) uint8, aligned, to fill with text
    packed : device address of packed bases, of raw text, or of base codes of a dense block
    form : form of the payload, which says what `packed` is
    exceptions, cases : stored runs of letters that are no bases, and of lower case
    rows : steps and stride of the lanes of a dense block
    """

    out: DeviceArray
    packed: int
    form: int
    exceptions: DevicePart
    cases: DevicePart
    rows: tuple[int, int] = (1, 1)


def join_text(blocks: Sequence[EncodedText], broken: DeviceArray) -> tuple[DeviceArray, object]:
    """Convert blocks to text on the GPU; return (n,) uint32, not 0 for blocks with invalid marks.

    The second result owns memory: keep it until the device is done.

    broken : (n,) uint32, not 0 for blocks to skip
    """
    cp, streams, rows = cupy(), _Streams(), []
    for block in blocks:
        n = block.out.shape[0]
        odd = streams.add(block.exceptions, n, has_values=True)
        low = streams.add(block.cases, n, has_values=False)
        rows.append((block.out.data.ptr, n, block.packed, block.form, odd, low, *block.rows))
    table, counts, memory = streams.read()
    pieces = max(1, -(-max(block.out.shape[0] for block in blocks) // PIECE))
    wrong: DeviceArray = cp.zeros(len(blocks), np.uint32)
    arguments = cp.asarray(np.array(rows, np.int64)), np.int32(pieces), table, counts, broken, wrong
    _launch("join_text", len(blocks) * pieces, *arguments)
    return wrong, memory


class _Streams:
    """Stored marks of blocks to parse on the GPU: a stream is one kind of marks of one block."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int, int]] = []

    def add(self, part: DevicePart, n: int, *, has_values: bool) -> int:
        """Add the marks of a block of n letters; return the stream's index, NONE without marks.

        has_values : True for exceptions, whose runs have a letter
        """
        if not part.size:
            return NONE
        self._rows.append((part.address, part.size, n, has_values))
        return len(self._rows) - 1

    def read(self) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
        """Parse the runs of all streams; return structs `Stream` of join.cu, counts, and memory."""
        cp, rows = cupy(), np.array(self._rows, np.int64).reshape(-1, 4)
        rooms = RUN_BYTES * most_runs(rows[:, 1], rows[:, 3])
        memory = cp.empty(max(1, int(rooms.sum())), np.uint8)
        places = memory.data.ptr + np.cumsum(rooms) - rooms
        table = cp.asarray(np.column_stack([rows, places]).reshape(-1))
        counts = cp.empty(max(1, len(rows)), np.int32)
        if len(rows):
            _launch("read_marks", len(rows), table, counts)
        return table, counts, memory


def _launch(name: str, grid: int, *arguments: object) -> None:
    kernel = load_module(__package__, "join.cu", {}).get_function(name)
    launch(kernel, grid, THREADS, arguments)
