"""Signatures of reads on a GPU: packed on the host, eight threads for each read."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Run
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import in_runs, launch, load, pull
from gangsaw.tasks.reads.order.bins.chain import Numbers
from gangsaw.tasks.reads.order.bins.packed import WORD, PackedReads, packed_reads
from gangsaw.tasks.reads.order.bins.signatures import BIN_BITS, HALVED, HASH, LENGTH
from gangsaw.tasks.sequences.files.text import Text

THREADS, SHARE = 128, 8  # of a thread block, of a read: as in signatures.cu
WORD_BYTES, READ_BYTES = 12, 32  # on the device: letters and marks; places, length, bins
RUN_BYTES = 5 << 9  # what the five arrays of a launch are rounded up by: to 512 bytes
DEFINES: dict[str, int | str] = {
    "GS_LENGTH": LENGTH,
    "GS_HALVED": HALVED,
    "GS_BIN_BITS": BIN_BITS,
    "GS_HASH": f"{int(HASH)}u",
    "GS_HASH_BITS": 8 * HASH.dtype.itemsize,
}
MOST_READS = 1 << 26  # of a launch: threads are counted in 32 bits


def bins_of_lines(text: Text, begins: Numbers, ends: Numbers) -> Numbers:
    """Return (n, 2) int64, the bins that `signatures.sign_lines` finds, on the current device.

    Parameters
    ----------
    text : (m,) uint8 in host memory
    begins, ends : (n,) int64, the letters of each read, less than 2^31 of them

    Raises
    ------
    DeviceError : there is too little memory on the device for one read, or it failed
    """
    parts = [np.empty((0, 2), np.int64)]
    for first in range(0, begins.size, MOST_READS):
        own = slice(first, first + MOST_READS)
        parts += _signed_lines(text, begins[own], ends[own])
    return np.concatenate(parts)


def _signed_lines(text: Text, begins: Numbers, ends: Numbers) -> list[Numbers]:
    """Return the bins of runs of lines that fit the device."""

    def work(run: Run) -> Numbers:
        return _signed(packed_reads(text, begins[run], ends[run]))

    return in_runs(work, begins.size, lambda run: run_bytes(ends[run] - begins[run]))


def run_bytes(lengths: Numbers) -> int:
    """Bytes of device memory that reads of these lengths take at most, in one launch."""
    words = -(-lengths // WORD) + 1
    return WORD_BYTES * int(words.sum()) + READ_BYTES * lengths.size + RUN_BYTES


def _signed(reads: PackedReads) -> Numbers:
    cp, n = cupy(), reads.lengths.size
    bins = cp.empty((n, 2), np.int64)
    arguments = [cp.asarray(part) for part in reads]
    kernel = load(__package__, "signatures.cu", DEFINES).get_function("sign_lines")
    launch(kernel, -(-n * SHARE // THREADS), THREADS, [*arguments, np.int32(n), bins])
    return pull(bins)
