"""Zarr codec for variable-length strings, after Zarr's serializers for them."""

from __future__ import annotations

from dataclasses import dataclass

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.zarr.bytes_codec import BytesCodec
from gangsaw.codecs.strings import coding, memory
from gangsaw.codecs.strings.params import Params


@dataclass(frozen=True, init=False)
class Strings(BytesCodec):
    """Zarr codec `gangsaw.strings` of arrays of strings of any length.

    It follows Zarr's serializer `vlen-utf8` or `vlen-bytes`, as a compressor. It takes the strings
    out of their bytes and encodes them by another codec [1]_. Any other bytes are encoded, too.

    Parameters
    ----------
    inner : codec, str or dict, default "gangsaw.bwt"
        Codec of the strings' bytes, uint8 on one axis, given as a codec, by its name, or as JSON.

    Raises
    ------
    BadParams
        The inner codec does not encode bytes.

    See Also
    --------
    Bwt : The default inner codec.

    References
    ----------
    .. [1] M. Burrows and D. J. Wheeler, "A Block-sorting Lossless Data Compression Algorithm", SRC
       Research Report 124, 1994: the transform of the default inner codec.

    Examples
    --------
    >>> import zarr
    >>> from gangsaw.codecs import Bwt, Strings
    >>> stored = zarr.create_array(
    ...     {}, shape=3, chunks=3, dtype=str, compressors=Strings(inner=Bwt(effort="fast"))
    ... )
    >>> stored[:] = ["one", "two", "three"]
    >>> str(stored[2])
    'three'
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
