"""Zarr codec for variable-length strings, after Zarr's serializers for them."""

from __future__ import annotations

from dataclasses import dataclass

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.zarr.bytes_codec import BytesCodec
from gangsaw.codecs.strings import coding, memory
from gangsaw.codecs.strings.params import Params


@dataclass(frozen=True, init=False)
class Strings(BytesCodec):
    """Zarr codec `gangsaw.strings` for arrays of strings; its keywords are the fields of `Params`.

    zarr.create_array(store, ..., dtype=str, compressors=Strings())
    zarr.create_array(store, ..., dtype=str, compressors=Strings(inner=Bwt(effort="fast")))
    """

    params: Params
    codec_name = "gangsaw.strings"
    params_type = Params

    def encode_bytes(self, data: Bytes) -> Bytes:
        """Return the frame of a chunk's bytes; raise BadParams above 1 GiB.

        The bytes are those of Zarr's vlen-utf8 or vlen-bytes; any others are encoded, too.
        """
        return coding.encode_strings(data, self.params.inner)

    def decode_bytes(self, data: Bytes) -> Bytes:
        """Return a chunk's bytes from its frame; raise CorruptChunk or NewerFormat if invalid."""
        return coding.decode_strings(data, self.params.inner)

    def peak_bytes(self, n_bytes: int) -> int:
        """Return an upper bound of the bytes to encode or decode a chunk, without its bytes."""
        return memory.peak_bytes(n_bytes, self.params.inner)
