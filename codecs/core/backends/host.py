"""Block coding on the host: a codec's `cpu.py` is a table of its codings.

This module does the rest: threads, runs of blocks of the same form, output buffers, contiguous
copies, and checksums. It also handles kinds of blocks, blocks that do not get shorter, and block
numbers in errors.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.backends.batch import (
    Encoded,
    EncodedBlock,
    Numbers,
    ParamsT,
    Sources,
    Targets,
    encoded_block,
    groups_of,
    runs_of,
)
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Payload, Runs
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.aligned import address_of
from gangsaw.codecs.core.memory.threads import run_blocks

OUT_OF_PLACE = np.empty(0, np.uint8)  # buffer for a payload of unpredictable length

Plain: TypeAlias = Callable[[NumpyArray], Encoded]  # encoder of blocks that do not get shorter


class Coding(Protocol[ParamsT]):
    """Interface of encoder and decoder for one kind of payload; they code several blocks per call.

    Only `HostBackend` calls them, in threads.
    """

    @property
    def together(self) -> int:
        """Largest number of blocks per call."""

    @property
    def shares_threads(self) -> bool:
        """True if the coding divides a block among threads; then blocks are coded one by one."""

    def capacity(self, batch: Sources[ParamsT]) -> int | None:
        """Return the bytes to reserve for all payloads; None if they cannot be predicted."""

    def encode(self, batch: Sources[ParamsT], first: int, end: int, plain: Plain | None) -> None:
        """Encode blocks first to end, all of one form; use `plain` if a block gets no shorter."""

    def decode(self, batch: Targets[ParamsT], numbers: Numbers) -> int:
        """Decode blocks `numbers` up to the first payload of another kind; return their number.

        The blocks have one form (shape, strides, dtype), and the first has this kind. A
        CorruptChunk without a block number refers to the first block.
        """


@dataclass(frozen=True)
class BlockCoding(Generic[ParamsT]):
    """`Coding` that calls two functions for one block each, which suffices for most codecs.

    Attributes
    ----------
    encode_block : function from a block, parameters and a buffer to the encoded block. The buffer
        is empty or has at least `likely` bytes. The payload is in the buffer, in other memory or,
        if the coding `lends`, in memory of the thread.
    decode_block : function that fills a block from its payload; raises CorruptChunk, without a
        block number
    dtype : dtype of contiguous copies of blocks for these functions; None for the blocks themselves
    likely : function from the bytes of a block to the usual bytes of its payload; None if
        unpredictable
    lends : True if payloads are in memory that the thread's next call overwrites
    shares_threads : see `Coding`
    """

    encode_block: Callable[[NumpyArray, ParamsT, Payload], Encoded]
    decode_block: Callable[[EncodedBlock, NumpyArray, ParamsT], None]
    dtype: Callable[[ParamsT], Dtype] | None = None
    likely: Callable[[int], int] | None = None
    lends: bool = False
    shares_threads: bool = False
    together: int = 1

    def capacity(self, batch: Sources[ParamsT]) -> int | None:
        """Return the likely bytes of all payloads."""
        if self.likely is None:
            return None
        return sum(self.likely(block.nbytes) for block in batch.blocks)

    def encode(self, batch: Sources[ParamsT], first: int, end: int, plain: Plain | None) -> None:
        """Encode one block after the other."""
        for number in range(first, end):
            self._encode_one(batch, number, plain)

    def _encode_one(self, batch: Sources[ParamsT], number: int, plain: Plain | None) -> None:
        block, output = batch.blocks[number], batch.output
        source, buffer, memory = block, None, OUT_OF_PLACE
        if self.dtype is not None:
            source = np.ascontiguousarray(block, self.dtype(batch.params))
        if self.likely is not None and not self.lends:
            least = self.likely(block.nbytes)
            buffer = output.free_buffer(number, least)
            memory = np.empty(least, np.uint8) if buffer is None else buffer
        found = self.encode_block(source, batch.params, memory)
        if plain is not None and found.size > block.nbytes:
            found = plain(block)
        if self.lends:
            output.put(number, *found.parts)
        else:
            _give(output, number, found, buffer)

    def decode(self, batch: Targets[ParamsT], numbers: Numbers) -> int:
        """Decode the block `numbers[0]` only; return 1."""
        number = numbers[0]
        block = batch.blocks[number]
        out = block if self.dtype is None else _in_one_piece(block, self.dtype(batch.params))
        self.decode_block(encoded_block(batch.runs, number), out, batch.params)
        if out is not block:
            block[...] = out
        return 1


def _give(output: Output, number: int, found: Encoded, buffer: Payload | None) -> None:
    """Register a payload with the output, in its reserved buffer or in separate memory."""
    payload = found.payload
    checksum = crc32c(payload)  # computed while the payload is in a cache
    if buffer is not None and address_of(payload) == address_of(buffer):
        output.settle(number, [payload.size], [checksum], found.lane_bits)
    else:
        output.give(number, payload, checksum, found.lane_bits)


def _in_one_piece(block: NumpyArray, dtype: Dtype) -> NumpyArray:
    """Return an array to decode into: the block, or a new one unless contiguous and of `dtype`."""
    is_plain = block.flags.c_contiguous and block.dtype == dtype
    return block if is_plain else np.empty(block.shape, dtype)


@dataclass(frozen=True)
class HostBackend(Generic[ParamsT]):
    """Backend of a codec for blocks in host memory.

    Attributes
    ----------
    codings : encoder and decoder for each kind of payload, such as dense or raw
    requested_kind : function from parameters to the kind of payload that they request
    by_first_byte : True if a payload's first byte is its kind; else the parameters determine it
    plain : encoder of blocks that do not get shorter; None if `codings` handle these themselves
    """

    codings: Mapping[Hashable, Coding[ParamsT]]
    requested_kind: Callable[[ParamsT], Hashable]
    by_first_byte: bool = False
    plain: Plain | None = None

    @classmethod
    def of(cls, coding: Coding[ParamsT]) -> HostBackend[ParamsT]:
        """Return the backend of a codec whose payloads are all of one kind."""
        return cls({None: coding}, lambda params: None)

    def encode(self, sources: Sequence[NumpyArray], params: ParamsT, output: Output) -> None:
        """Encode every block, several in parallel, and store the payloads in `output`.

        Parameters
        ----------
        sources : blocks, any byte order and strides
        params : parameters of the encoder
        output : destination of the payloads and the bit lengths of lanes

        Raises
        ------
        BadParams : a block contains values that the parameters do not allow
        """
        coding, batch = self.codings[self.requested_kind(params)], Sources(sources, params, output)
        if (capacity := coding.capacity(batch)) is not None:
            output.reserve(capacity)
        if coding.together > 1:
            runs = runs_of(batch.addresses.forms, coding.together)
            run_blocks(lambda i: coding.encode(batch, *runs[i], self.plain), len(runs))
        # not within `run_blocks`, which would use one thread
        elif coding.shares_threads and len(sources) == 1:
            coding.encode(batch, 0, 1, self.plain)
        else:
            run_blocks(lambda i: coding.encode(batch, i, i + 1, self.plain), len(sources))

    def decode(self, runs: Runs, targets: Sequence[NumpyArray], params: ParamsT) -> None:
        """Decode every block into its target, several in parallel.

        Parameters
        ----------
        runs : the encoded blocks, not verified
        targets : views to fill, any byte order and strides
        params : parameters that the blocks were encoded with

        Raises
        ------
        CorruptChunk : names the first corrupt block
        """
        batch, coding = Targets(runs, targets, params), self.codings[self.requested_kind(params)]
        if coding.together > 1:
            self._decode_groups(batch, groups_of(batch.addresses.forms, coding.together))
        elif coding.shares_threads:
            for number in range(len(targets)):
                self._decode_group(batch, [number])
        else:
            run_blocks(lambda number: self._decode_group(batch, [number]), len(targets))

    def _decode_groups(self, batch: Targets[ParamsT], groups: Sequence[Numbers]) -> None:
        try:
            run_blocks(lambda i: self._decode_group(batch, groups[i]), len(groups))
        except CorruptChunk as error:  # an earlier block of another group may be corrupt, too
            for number in range(error.block or 0):
                self._decode_group(batch, [number])
            raise

    def _decode_group(self, batch: Targets[ParamsT], numbers: Numbers) -> None:
        """Decode blocks of one shape and dtype, in one call per run of payloads of one kind."""
        while numbers:
            try:
                done = self._coding_of(batch, numbers[0]).decode(batch, numbers)
            except CorruptChunk as error:
                block = numbers[0] if error.block is None else error.block
                raise CorruptChunk(error.reason, block=block) from error
            numbers = numbers[done:]

    def _coding_of(self, batch: Targets[ParamsT], number: int) -> Coding[ParamsT]:
        if not self.by_first_byte:
            return self.codings[self.requested_kind(batch.params)]
        coding = self.codings.get(self.kind(batch.runs.payloads[number], batch.params))
        if coding is None:
            payload = batch.runs.take(number)  # a wrong checksum is reported first
            begin = bytes(payload[:1]).hex()
            raise CorruptChunk(f"no kind of block is known that begins with {begin}")
        return coding

    def kind(self, payload: Payload, params: ParamsT) -> Hashable:
        """Return a payload's kind, a key of `codings`, by its first byte or by the parameters.

        The kind of an empty payload is None if the first byte would determine it.
        """
        if not self.by_first_byte:
            return self.requested_kind(params)
        return int(payload[0]) if payload.size else None
