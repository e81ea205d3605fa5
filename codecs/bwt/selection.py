"""Codec selection for bytes: capabilities of the Burrows-Wheeler codec for an array.

Formats declare their text; for other arrays, a sample shows whether they are text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gangsaw.codecs.bwt.params import EFFORTS
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.alphabet import BASES, both_cases
from gangsaw.codecs.core.plugins.contents import TEXT
from gangsaw.codecs.core.plugins.selection import (
    ArrayFacts,
    Capabilities,
    Extents,
    Grade,
    Option,
    Refusal,
)

if TYPE_CHECKING:
    from gangsaw.codecs.core.arrays import Dtype, NumpyArray

CHUNK = 1 << 26
LEAST = 1000  # least bytes of a sample
LINES = 8  # least lines of a sample that is text
GAIN = 0.95  # required size ratio to the general codec for a sample
# Numbers, which other codecs decode in less time: least bytes of an array, required size ratio.
LEAST_ARRAY, ARRAY_GAIN = 1 << 16, 0.8
WIDEST = 4  # bytes of the widest integers that image codecs support
# control characters that text does not contain
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
NUCLEOTIDE_LETTERS, SHARE = both_cases(BASES + b"N"), 0.95  # other codecs are for these


class _Capabilities(Capabilities):
    options = (Option("effort", "fast or dense.", "dense", choices=EFFORTS[::-1]),)

    def refusal(self, array: ArrayFacts) -> Refusal | None:
        from gangsaw.codecs.core.container.byte_grid import ByteGrid

        try:
            ByteGrid.of(array.shape, array.dtype, 1)
        except BadParams:
            return Refusal(f"holds {array.dtype.name} items", "codes items that are plain bytes")
        return None

    def grade(self, array: ArrayFacts) -> Grade:
        if not _is_plain(array.shape, array.dtype):
            is_proven = _is_untaken(array) and _is_repetitive(array)
            return Grade.PROVEN if is_proven else Grade.ON_REQUEST
        if array.content == TEXT:
            return Grade.MADE_FOR
        is_coordinate = array.dims == (array.name,)
        if array.sample is None or array.content is not None or is_coordinate:
            return Grade.ON_REQUEST
        return Grade.PROVEN if _is_proven(array, array.sample()) else Grade.ON_REQUEST

    def least_chunks(self, array: ArrayFacts) -> Mapping[int, int] | None:
        return {0: CHUNK} if _is_plain(array.shape, array.dtype) else None

    def summary(
        self, params: Mapping[str, object], usual: Mapping[str, object]
    ) -> Mapping[str, object]:
        return {"effort": params["effort"], **super().summary(params, usual)}


CAPABILITIES = _Capabilities()


def _is_plain(shape: Extents, dtype: Dtype) -> bool:
    """Return True for an array of uint8 on one axis."""
    return len(shape) == 1 and dtype.str[1:] == "u1"


def _is_untaken(array: ArrayFacts) -> bool:
    """Return True for a large array of integers or booleans that no other codec is designed for."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    is_untaken = kind == "b" or (kind in "iu" and (len(array.shape) == 1 or size > WIDEST))
    is_coordinate = array.dims == (array.name,)
    n_bytes = math.prod(array.shape) * size
    return is_untaken and not is_coordinate and array.content is None and n_bytes >= LEAST_ARRAY


def _is_repetitive(array: ArrayFacts) -> bool:
    """Return True if a sample gets much shorter with this codec than with the general codec.

    Python's bz2, with the same transform, is tried first: kernels are compiled only if it gains.
    """
    import bz2

    if array.sample is None or array.general_bytes is None:
        return False
    sample, most = array.sample(), ARRAY_GAIN * array.general_bytes()
    if len(bz2.compress(sample.tobytes())) > most:
        return False
    from gangsaw.codecs.bwt.codec import Bwt

    return len(Bwt().encode_chunk(sample)) <= most


def _is_proven(array: ArrayFacts, sample: NumpyArray) -> bool:
    """Return True if a sample is text, or gets shorter than with the general codec."""
    text = sample.tobytes()
    if len(text) < LEAST or _is_nucleotides(text):
        return False
    if is_text_sample(text):
        return True
    from gangsaw.codecs.bwt.codec import Bwt

    most = 0 if array.general_bytes is None else GAIN * array.general_bytes()
    return len(Bwt().encode_chunk(sample)) <= most


def is_text_sample(sample: bytes) -> bool:
    """Return True if bytes are lines of ASCII or UTF-8 text, possibly cut at both ends."""
    if sample.count(b"\n") < LINES or len(sample.translate(None, CONTROLS)) < len(sample):
        return False
    whole = sample[sample.index(b"\n") : sample.rindex(b"\n")]
    try:
        whole.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_nucleotides(sample: bytes) -> bool:
    known = sum(sample.count(bytes([letter])) for letter in NUCLEOTIDE_LETTERS + b"\n")
    return known >= SHARE * len(sample)
