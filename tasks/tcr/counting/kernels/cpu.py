"""CPU backend: slices of a batch in threads, with Numba kernels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.tasks.tcr.counting.kernels.batch import CALLS, Batch, Counts, check_lengths, shapes_of
from gangsaw.tasks.tcr.counting.kernels.reference import References
from gangsaw.tasks.tcr.counting.kernels.stages.dp1 import count_exact_rows
from gangsaw.tasks.tcr.counting.kernels.stages.ends import WAYS
from gangsaw.tasks.tcr.counting.kernels.stages.kernel import count_rows
from gangsaw.tasks.tcr.counting.kernels.stages.scratch import (
    KernelModel,
    make_counting_scratch,
    make_outputs,
)
from gangsaw.tasks.tcr.counting.kernels.stages.vddj import count_pair_rows, make_chain
from gangsaw.tasks.tcr.counting.kernels.tables import WORD_D, make_tables
from gangsaw.tasks.tcr.model import Model

SLICE = 2048  # references of a thread's task: it takes milliseconds, its counts megabytes
# types of rows and of terms; paths/bounds.py shows that 16 and 32 bits are enough
NARROW = (np.uint16, np.uint32)
WIDE = (np.uint64, np.uint64)


def count(batch: Batch, model: Model) -> Counts:
    """Count the paths to each reference of a batch in host memory, with several threads.

    The counts must fit 64 bits; `bounds.countable` checks this.

    Parameters
    ----------
    batch : NumPy arrays
    model : limits of the paths

    Returns
    -------
    Counts : NumPy arrays, in the order of the references

    Raises
    ------
    BadParams : a reference is longer than MAX_LENGTH
    """
    check_lengths(batch.references.offsets)  # longer references would overflow buffers
    n, n_d = len(batch.references), len(batch.d)
    shapes = shapes_of(n, n_d, model)
    arrays = {
        name: np.empty(shape or 0, np.int16 if name in CALLS else np.uint64)
        for name, shape in shapes.items()
    }
    outputs = make_outputs(arrays)
    tables = make_tables(batch, model)
    all_limits, has_words = KernelModel.of(model, n_d), len(tables.words.ends) > 0
    longest_d = int(batch.d.lengths.max(initial=0))
    wild = with_wildcards(batch) | (longest_d > WORD_D)
    references = References.of(batch)

    def count_slice(i: int) -> None:
        rows = np.arange(i * SLICE, min(n, (i + 1) * SLICE))
        for some, (narrow, wide) in ((rows[~wild[rows]], NARROW), (rows[wild[rows]], WIDE)):
            if len(some):
                scratch = make_counting_scratch(narrow, wide, longest_d, n_d)
                limits = all_limits._replace(by_words=narrow is NARROW[0] and has_words)
                count_rows(some, references, tables, limits, scratch, outputs)
                if model.dp1:
                    count_exact_rows(some, references, tables, limits, scratch, outputs)
                if model.d_segments == 2 and n_d:
                    chain = make_chain(wide, n_d)
                    count_pair_rows(some, references, tables, limits, scratch, chain, outputs)

    run_blocks(count_slice, -(-n // SLICE))
    return Counts(**{name: arrays[name] if shape else None for name, shape in shapes.items()})


def with_wildcards(batch: Batch) -> npt.NDArray[np.bool_]:
    """Return a mask (n,) of references: True if one has an IUPAC code of several nucleotides."""
    references = batch.references
    if not len(references):
        return np.zeros(0, np.bool_)
    several = (WAYS > 1)[references.data]
    return np.logical_or.reduceat(several, references.offsets[:-1])
