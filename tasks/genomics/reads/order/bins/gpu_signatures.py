"""Signatures of reads on a GPU: packed on the host, eight threads per read."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Run
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import in_runs, launch, load_module, pull
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.genomics.reads.order.bins.chain import Numbers
from gangsaw.tasks.genomics.reads.order.bins.packed import WORD, PackedReads, packed_reads
from gangsaw.tasks.genomics.reads.order.bins.signatures import BIN_BITS, HALVED, HASH, LENGTH

THREADS, SHARE = 128, 8  # threads per block and per read, as in signatures.cu
WORD_BYTES, READ_BYTES = 12, 32  # bytes on the device: bases and marks; first word, length and bins
RUN_BYTES = 5 << 9  # each of the five arrays of a launch is rounded up to 512 bytes
DEFINES: dict[str, int | str] = {
    "GS_LENGTH": LENGTH,
    "GS_HALVED": HALVED,
    "GS_BIN_BITS": BIN_BITS,
    "GS_HASH": f"{int(HASH)}u",
    "GS_HASH_BITS": 8 * HASH.dtype.itemsize,
}
MOST_READS = 1 << 26  # reads per launch: thread numbers have 32 bits


def bins_of_lines(text: Text, begins: Numbers, ends: Numbers) -> Numbers:
    """Return the bins of `signatures.sign_lines`, (n, 2) int64, computed on the current device.

    Parameters
    ----------
    text : (m,) uint8 in host memory
    begins, ends : (n,) int64, bases of each read, fewer than 2^31

    Raises
    ------
    DeviceError : the device has too little memory for one read, or it failed
    """
    parts = [np.empty((0, 2), np.int64)]
    for first in range(0, begins.size, MOST_READS):
        own = slice(first, first + MOST_READS)
        parts += _signed_lines(text, begins[own], ends[own])
    return np.concatenate(parts)


def _signed_lines(text: Text, begins: Numbers, ends: Numbers) -> list[Numbers]:
    """Return the bins of reads, in batches of consecutive reads that fit the device's memory."""

    def work(run: Run) -> Numbers:
        return _signed(packed_reads(text, begins[run], ends[run]))

    return in_runs(work, begins.size, lambda run: bound_launch_bytes(ends[run] - begins[run]))


def bound_launch_bytes(lengths: Numbers) -> int:
    """Return an upper bound of the device memory for reads of these lengths in one launch."""
    words = -(-lengths // WORD) + 1
    return WORD_BYTES * int(words.sum()) + READ_BYTES * lengths.size + RUN_BYTES


def _signed(reads: PackedReads) -> Numbers:
    cp, n = cupy(), reads.lengths.size
    bins = cp.empty((n, 2), np.int64)
    arguments = [cp.asarray(part) for part in reads]
    kernel = load_module(__package__, "signatures.cu", DEFINES).get_function("sign_lines")
    launch(kernel, -(-n * SHARE // THREADS), THREADS, [*arguments, np.int32(n), bins])
    return pull(bins)
