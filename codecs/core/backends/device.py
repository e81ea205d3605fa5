"""Block coding on a device: a codec's `gpu.py` is a table of encoders and decoders for it.

This module divides blocks into batches that fit the memory, and makes contiguous targets. It leaves
blocks without a kernel to the host, and reports the first corrupt block.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeAlias

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock, ParamsT, encoded_block
from gangsaw.codecs.core.backends.host import HostBackend
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Payload, Runs
from gangsaw.codecs.core.cuda.batches import in_batches
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks

Errors: TypeAlias = dict[int, CorruptChunk]  # errors of corrupt blocks by number
Decode: TypeAlias = Callable[[Sequence[EncodedBlock], Sequence[DeviceArray], ParamsT], Errors]


def any_block(block: DeviceArray, params: object) -> bool:
    """Return True: default of `DeviceEncoder.takes` and `DeviceDecoder.takes`."""
    return True


def as_it_lies(target: DeviceArray) -> bool:
    """Return True: default of `DeviceDecoder.is_plain`, for kernels that write to any layout."""
    return True


@dataclass(frozen=True)
class DeviceEncoder(Generic[ParamsT]):
    """Encoder of blocks on a device, many in one call, for one kind of payload.

    Attributes
    ----------
    encode : function from blocks and parameters to their encodings; None for blocks that do not get
        shorter
    needed : function that returns an upper bound on the bytes of device memory for a block
    takes : function that returns True if kernels accept a block; the host encodes the others
    """

    encode: Callable[[Sequence[DeviceArray], ParamsT], Sequence[Encoded | None]]
    needed: Callable[[DeviceArray, ParamsT], int]
    takes: Callable[[DeviceArray, ParamsT], bool] = any_block


@dataclass(frozen=True)
class DeviceDecoder(Generic[ParamsT]):
    """Decoder of blocks on a device, many in one call, for one kind of payload.

    Attributes
    ----------
    decode : function that fills targets from payloads and returns the errors of corrupt blocks
    needed : function from payload bytes, target and parameters to an upper bound on device memory
    takes : function that returns True if kernels accept a target; the host decodes the others
    is_plain : function that returns True if kernels can write to a target directly; else they write
        to a contiguous copy
    """

    decode: Decode[ParamsT]
    needed: Callable[[int, DeviceArray, ParamsT], int]
    takes: Callable[[DeviceArray, ParamsT], bool] = any_block
    is_plain: Callable[[DeviceArray], bool] = as_it_lies

    def decode_all(
        self, blocks: Sequence[EncodedBlock], targets: Sequence[DeviceArray], params: ParamsT
    ) -> Errors:
        """Decode blocks into targets, contiguous or not; return the errors."""
        outs = [
            one if self.is_plain(one) else cupy().empty(one.shape, one.dtype) for one in targets
        ]
        errors = self.decode(blocks, outs, params)
        for i, (target, out) in enumerate(zip(targets, outs, strict=True)):
            if out is not target and i not in errors:
                target[...] = out
        return errors


@dataclass(frozen=True)
class DeviceBackend(Generic[ParamsT]):
    """Backend of a codec for blocks in device memory; blocks without a kernel go to the host.

    Attributes
    ----------
    host : the codec's host backend, which determines the kind of blocks
    encoders, decoders : by kind of payload, such as dense or raw
    plain : encoder of blocks that do not get shorter; None if `encoders` handle these themselves
    """

    host: HostBackend[ParamsT]
    encoders: Mapping[Hashable, DeviceEncoder[ParamsT]]
    decoders: Mapping[Hashable, DeviceDecoder[ParamsT]]
    plain: Callable[[DeviceArray], Encoded] | None = None

    def encode(self, sources: Sequence[DeviceArray], params: ParamsT, output: Output) -> None:
        """Encode every block to the same bytes as on the host; see `HostBackend.encode`.

        Raises
        ------
        DeviceError : a single block is too large for the device's memory, or the device failed
        """
        encoder = self.encoders.get(self.host.requested_kind(params))
        if encoder is None:
            self.host.encode([to_host(source) for source in sources], params, output)
            return
        needed = [encoder.needed(source, params) for source in sources]
        encode_run = partial(self._encode_run, encoder=encoder, params=params)
        found = [own for run in in_batches(encode_run, needed, sources) for own in run]
        for number, own in enumerate(found):
            output.give(number, own.payload, lane_bits=own.lane_bits)

    def _encode_run(
        self, sources: Sequence[DeviceArray], encoder: DeviceEncoder[ParamsT], params: ParamsT
    ) -> list[Encoded]:
        """Encode consecutive blocks that fit the device's memory together."""
        taken = [encoder.takes(source, params) for source in sources]
        here = [source for source, own in zip(sources, taken, strict=True) if own]
        there = [to_host(source) for source, own in zip(sources, taken, strict=True) if not own]
        on_device = iter(encoder.encode(here, params) if here else ())
        on_host = iter(self._encode_on_host(there, params) if there else ())
        return [
            next(on_host) if not own else next(on_device) or self._plain(source)
            for source, own in zip(sources, taken, strict=True)
        ]

    def _plain(self, source: DeviceArray) -> Encoded:
        assert self.plain is not None, "encoders of this codec see to blocks that get no shorter"
        return self.plain(source)

    def _encode_on_host(self, sources: Sequence[NumpyArray], params: ParamsT) -> list[Encoded]:
        output = Output(len(sources))
        self.host.encode(sources, params, output)
        runs = output.runs()
        lanes = [None] * len(sources) if runs.lane_bits is None else list(runs.lane_bits)
        return [Encoded((own,), bits) for own, bits in zip(runs.payloads, lanes, strict=True)]

    def decode(self, runs: Runs, targets: Sequence[DeviceArray], params: ParamsT) -> None:
        """Verify and decode every block into its target; see `HostBackend.decode`.

        Raises
        ------
        CorruptChunk : names the first corrupt block; the others are decoded
        DeviceError : a single block is too large for the device's memory, or the device failed
        """
        needed = []
        for payload, target in zip(runs.payloads, targets, strict=True):
            decoder = self._decoder_of(payload, target, params)
            needed.append(decoder.needed(payload.size, target, params) if decoder else 0)
        in_batches(partial(self._decode_run, params=params), needed, runs, targets)

    def _decoder_of(
        self, payload: Payload, target: DeviceArray, params: ParamsT
    ) -> DeviceDecoder[ParamsT] | None:
        decoder = self.decoders.get(self.host.kind(payload, params))
        return decoder if decoder is not None and decoder.takes(target, params) else None

    def _decode_run(self, runs: Runs, targets: Sequence[DeviceArray], params: ParamsT) -> None:
        """Decode blocks that fit the device together; raise the error of the first corrupt one."""
        pairs = zip(runs.payloads, targets, strict=True)
        decoders = [self._decoder_of(payload, target, params) for payload, target in pairs]
        wrong: Errors = {}
        for decoder in dict.fromkeys(decoders):
            numbers = [i for i, own in enumerate(decoders) if own is decoder]
            outs = [targets[i] for i in numbers]
            if decoder is None:
                errors = self._decode_on_host([runs[i : i + 1] for i in numbers], outs, params)
            else:
                blocks = [encoded_block(runs, i) for i in numbers]
                errors = decoder.decode_all(blocks, outs, params)
            wrong.update({numbers[i]: error for i, error in errors.items()})
        if wrong:
            first = min(wrong)
            raise CorruptChunk(wrong[first].reason, block=first) from wrong[first]

    def _decode_on_host(
        self, blocks: Sequence[Runs], targets: Sequence[DeviceArray], params: ParamsT
    ) -> Errors:
        host = [np.empty(target.shape, target.dtype) for target in targets]
        errors: Errors = {}

        def decode_one(i: int) -> None:
            try:
                self.host.decode(blocks[i], [host[i]], params)
            except CorruptChunk as error:
                errors[i] = error

        run_blocks(decode_one, len(blocks))
        for i, (target, block) in enumerate(zip(targets, host, strict=True)):
            if i not in errors:
                target[...] = cupy().asarray(block)
        return errors
