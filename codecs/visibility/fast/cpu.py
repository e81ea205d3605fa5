"""Host coding of blocks of kind 2, `fast` (SPEC.md): bit planes of groups, one width per group."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.backends.batch import Numbers, Sources, Targets
from gangsaw.codecs.core.backends.host import Plain
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.container.folding import CAN_FOLD
from gangsaw.codecs.core.container.runs import WRONG_CHECKSUM, Payload, RunAddresses, run_addresses
from gangsaw.codecs.core.container.views import block_addresses
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility.fast import blocks as kernels
from gangsaw.codecs.visibility.fast.blocks import (
    KIND as KIND,
)
from gangsaw.codecs.visibility.fast.blocks import (
    OTHER_KIND,
    WRONG_SUM,
    Addresses,
    Payloads,
    Written,
)
from gangsaw.codecs.visibility.fast.plan import (
    FormPlan,
    head_bytes,
    plan_form,
    release_buffer,
    reuse_buffer,
    tile_count,
    work_for,
)
from gangsaw.codecs.visibility.fast.tiling.modes import MODES
from gangsaw.codecs.visibility.fast.tiling.tiles import (
    HEAD_BYTES,
    WRONG_END,
    WRONG_KIND,
    WRONG_MODE,
    WRONG_SIZE,
    WRONG_WIDTH,
    allowed,
)
from gangsaw.codecs.visibility.lanes.table import LANES, ROWS, Lanes
from gangsaw.codecs.visibility.params import Params

# blocks per call: the reused memory of a thread holds no more of the usual size
TOGETHER = 7
NO_SUMS = np.empty(0, np.uint32)
FIRST = np.zeros(1, np.int64)


class FastCoding:
    """Coding of several blocks of one form (shape, strides, dtype) in one call, without the GIL."""

    together, shares_threads = TOGETHER, False

    def capacity(self, batch: Sources[Params]) -> int:
        """Return an upper bound of the bytes of all payloads, including spare bytes after them."""
        addresses = batch.addresses
        forms = {id(form): form for form in addresses.forms}.values()
        spare = max((plan_form(form).spare for form in forms), default=0)
        return addresses.n_bytes + len(addresses.forms) + spare

    def encode(self, batch: Sources[Params], first: int, end: int, plain: Plain | None) -> None:
        """Encode blocks `first` to end - 1; those that do not get shorter are stored raw."""
        assert plain is not None
        addresses, output = batch.addresses, batch.output
        plan = plan_form(addresses.forms[first])
        while first < end:
            n, buffer = end - first, output.free_buffer(first)
            out = reuse_buffer(plan, n) if buffer is None else buffer
            blocks = Addresses(addresses.base, addresses.offsets[first:end])
            ends, sums = encode_some(plan, blocks, plan.n_bytes, out)
            if buffer is not None:
                output.settle(first, ends, sums)
            elif ends and not output.put_run(first, out[: ends[-1]], ends, sums):
                release_buffer()
            first += len(ends)
            if len(ends) < n:
                output.put(first, *plain(batch.blocks[first]).parts)
                first += 1

    def decode(self, batch: Targets[Params], numbers: Numbers) -> int:
        """Decode blocks of one form while they are of this kind; return the number decoded."""
        sums = batch.runs.checksums
        if sums is not None and not CAN_FOLD:  # kernels cannot verify checksums
            numbers, sums = numbers[:1], None
            batch.runs.take(numbers[0])
        plan = plan_form(batch.addresses.forms[numbers[0]])
        blocks = Addresses(batch.addresses.base, batch.addresses.offsets)
        which = np.array(numbers, np.int64)
        filled, wrong = decode_some(plan, batch.payloads, sums, blocks, which)
        if wrong and (wrong != OTHER_KIND or not filled):
            number, rows = numbers[filled], plan.extents.n_rows
            data = batch.runs.payloads[number]
            raise CorruptChunk(reason(wrong, data, rows, plan.word_bytes), block=number)
        return filled


CODING = FastCoding()


def encode_fast(block: NumpyArray) -> Payload:
    """Encode a block as kind `fast`; return its payload with the kind byte, (n,) uint8.

    Parameters
    ----------
    block : (time, frequency, ...) of floats or complex numbers, any byte order and strides
    """
    places = block_addresses([block])
    plan = plan_form(places.forms[0])
    most = plan.spare + plan.n_tiles * ROWS * LANES * plan.word_bytes
    out = np.empty(most + plan.spare, np.uint8)
    (end,), _ = encode_some(plan, Addresses(places.base, places.offsets), most, out)
    return out[:end]


def encode_some(
    plan: FormPlan, blocks: Addresses, most: int, out: Payload
) -> tuple[list[int], npt.NDArray[np.uint32]]:
    """Encode blocks of one form (shape, strides, dtype) until a payload is longer than `most`.

    Parameters
    ----------
    blocks : addresses of the blocks
    most : maximum bytes of a payload
    out : buffer of n * most + plan.spare bytes, filled with payloads back to back

    Returns
    -------
    end offsets of the payloads
    CRC-32C of each payload
    """
    n = blocks.offsets.size
    assert out.size >= n * most + plan.spare
    written = Written(out, np.empty(n, np.int64), np.empty(n, np.uint32))
    done = kernels.encode_blocks(plan, work_for(plan), blocks, most, written)
    ends, sums = written.ends[:done].tolist(), written.sums[:done]
    if not CAN_FOLD:
        sums[:] = [crc32c(out[a:b]) for a, b in itertools.pairwise([0, *ends])]
    return ends, sums


def decode_fast(data: Payload, block: NumpyArray) -> None:
    """Fill a block (time, frequency, ...) of any byte order and strides from a payload.

    Raises
    ------
    CorruptChunk : the payload is not a block of this kind, shape and dtype
    """
    places = block_addresses([block])
    plan = plan_form(places.forms[0])
    blocks = Addresses(places.base, places.offsets)
    _, wrong = decode_some(plan, run_addresses([data]), None, blocks, FIRST)
    if wrong:
        raise CorruptChunk(reason(wrong, data, plan.extents.n_rows, plan.word_bytes))


def decode_some(
    plan: FormPlan,
    payloads: RunAddresses,
    checksums: npt.NDArray[np.uint32] | None,
    blocks: Addresses,
    numbers: npt.NDArray[np.int64],
) -> tuple[int, int]:
    """Decode blocks of one form, up to the first payload not of this kind, shape and dtype.

    Parameters
    ----------
    checksums : (n,) uint32, CRC-32C to verify, only if CAN_FOLD; None if verified before
    blocks : addresses of the blocks
    numbers : (n,) int64, indices of the blocks to decode

    Returns
    -------
    number of blocks decoded
    error code of the next one for `reason`, OTHER_KIND or 0
    """
    sums = (NO_SUMS if checksums is None else checksums).view()
    sums.flags.writeable = False  # so that kernels are compiled for one type
    verified = Payloads(*payloads, sums)
    filled, wrong = kernels.decode_blocks(plan, work_for(plan), verified, blocks, numbers)
    return filled, wrong


def plane_ends(data: Payload, lanes: Lanes, word_bytes: int) -> npt.NDArray[np.int64]:
    """Return the end offset of each tile's bit planes, (n_tiles,), relative to the first plane.

    Raises
    ------
    CorruptChunk : as `decode_fast` does
    """
    rows, _ = lanes.shape
    wrong, ends = _checked(data, rows, word_bytes)
    if wrong:
        raise CorruptChunk(reason(wrong, data, rows, word_bytes))
    return ends


def _checked(data: Payload, n_rows: int, word_bytes: int) -> tuple[int, npt.NDArray[np.int64]]:
    """Return the result of `tiles.check`, and the ends of tiles' planes, without compilation."""
    n_tiles = tile_count(n_rows)
    ends, head = np.zeros(n_tiles, np.int64), head_bytes(n_tiles, word_bytes)
    if data.size < head:
        return WRONG_SIZE, ends
    if data[1] >= MODES:
        return WRONG_MODE, ends
    headers = data[HEAD_BYTES:head].reshape(n_tiles, -1, LANES)
    is_wide = word_bytes == 8
    widths = headers[:, 0] if is_wide else headers[:, 0] & 63
    kinds = np.uint8(1) << (headers[:, -1 if is_wide else 0] >> 6)
    ends[:] = np.cumsum(4 * widths.sum(axis=1, dtype=np.int64))
    if (widths > 8 * word_bytes).any():
        return WRONG_WIDTH, ends
    if (kinds & ~np.uint8(allowed(int(data[1])))).any():
        return WRONG_KIND, ends
    return 0 if head + ends[-1] == data.size else WRONG_END, ends


def reason(wrong: int, data: Payload, n_rows: int, word_bytes: int) -> str:
    """Return the message for an error code of the kernels, for a table of `n_rows` rows."""
    if wrong == WRONG_SUM:
        return WRONG_CHECKSUM
    _, ends = _checked(data, n_rows, word_bytes)
    head = head_bytes(ends.size, word_bytes)
    reasons = {
        OTHER_KIND: "it is of another kind",
        WRONG_SIZE: f"{data.size} bytes are too few for the headers of {ends.size} tiles",
        WRONG_MODE: f"no mode {data[1]} is known" if data.size > 1 else "",
        WRONG_WIDTH: "a group has a width that it cannot have in its mode",
        WRONG_KIND: "a group has a kind that it cannot have in its mode",
        WRONG_END: f"its planes end at byte {head + ends[-1]}, there are {data.size}",
    }
    return reasons[wrong]
