"""GPU decoder of `fast`: checks on the host, then one launch for all blocks of a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.backends.batch import EncodedBlock
from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import launch, load_module, pinned
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility.fast.cpu import plane_ends
from gangsaw.codecs.visibility.fast.gpu_encode import PLANE_BYTES, payload_offsets, specialised
from gangsaw.codecs.visibility.fast.tiling.modes import WITH_GRIDS
from gangsaw.codecs.visibility.lanes.gpu_table import THREADS, block_table, word_bytes
from gangsaw.codecs.visibility.lanes.table import ROWS, Lanes
from gangsaw.codecs.visibility.params import Params


def decode_blocks(
    encoded: Sequence[EncodedBlock], targets: Sequence[DeviceArray], params: Params
) -> dict[int, CorruptChunk]:
    """Decode payloads of kind `fast`; return the errors of invalid ones by index.

    targets : CuPy views (time, frequency, ...) of one dtype that `has_kernel`
    """
    parts = [one.data for one in encoded]
    ends: dict[int, npt.NDArray[np.int64]] = {}
    errors: dict[int, CorruptChunk] = {}
    for i, (part, target) in enumerate(zip(parts, targets, strict=True)):
        try:
            ends[i] = plane_ends(part, Lanes.of_block(target), word_bytes(target))
        except CorruptChunk as error:
            errors[i] = error
    if ends:
        _launch([parts[i] for i in ends], [targets[i] for i in ends], list(ends.values()))
    return errors


def _launch(
    parts: Sequence[Payload], targets: Sequence[DeviceArray], ends: Sequence[npt.NDArray[np.int64]]
) -> None:
    """Decode checked payloads to their targets on the device.

    ends : end offsets of the bit planes of each tile
    """
    cp, table = cupy(), block_table(targets)
    sizes = np.array([part.size for part in parts])
    places, total = payload_offsets(sizes, sizes)
    # referenced until the device is done, as the copy is asynchronous
    host = pinned((total,), np.uint8)
    for part, place in zip(parts, places, strict=True):
        host[place : place + part.size] = part
    data = cp.empty(total, np.uint8)
    data.set(host)
    firsts = np.concatenate([np.insert(one[:-1], 0, 0) // PLANE_BYTES for one in ends])
    runs = np.concatenate([row_runs(i, of, int(parts[i][1])) for i, of in enumerate(table.lanes)])
    tables = runs.astype(np.uint32), table.rows, table.axes, places, firsts.astype(np.uint32)
    module = load_module(__package__, "decode.cu", specialised(targets[0]))
    arguments = [*(cp.asarray(one) for one in tables), data]
    launch(module.get_function("decode_tiles"), len(runs), THREADS, arguments)
    cp.cuda.get_current_stream().synchronize()


def row_runs(block: int, lanes: Lanes, mode: int) -> npt.NDArray[np.int64]:
    """Return the ranges of rows that one warp each decodes, (n, 3) `Run` of decode.cu.

    A range is a strip, as a predicted word needs the words before it. Without a predictor it ends
    at each tile, too.
    """
    n_rows = lanes.shape[0]
    cuts = np.arange(0, n_rows, lanes.n_rows)
    if mode % WITH_GRIDS == 0:
        cuts = np.union1d(cuts, np.arange(0, n_rows, ROWS))
    return np.stack([np.full(cuts.size, block), cuts, np.append(cuts[1:], n_rows)], axis=1)
