"""What the codec answers of itself: formats name their text, and it knows text by a sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gangsaw.codecs.bwt.params import EFFORTS
from gangsaw.codecs.core.contents import TEXT
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.letters import BASES, both_cases
from gangsaw.codecs.core.suits import Answers, ArrayFacts, Extents, Grade, Option, Refusal

if TYPE_CHECKING:
    from gangsaw.codecs.core.arrays import Dtype, NumpyArray

CHUNK = 1 << 26
LEAST = 1000  # bytes of a sample
LINES = 8  # of a sample that is text, at least
GAIN = 0.95  # of what the general codec makes of a sample
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))  # that text does not have
NUCLEOTIDE_LETTERS, SHARE = both_cases(BASES + b"N"), 0.95  # other codecs are for these


class _Answers(Answers):
    options = (Option("effort", "fast or dense.", "dense", choices=EFFORTS[::-1]),)

    def refusal(self, array: ArrayFacts) -> Refusal | None:
        from gangsaw.codecs.core.container.byte_grid import ByteGrid

        try:
            ByteGrid.of(array.shape, array.dtype, 1)
        except BadParams:
            return Refusal(f"holds {array.dtype.name} items", "codes items that are plain bytes")
        return None

    def suits(self, array: ArrayFacts) -> Grade:
        if not _is_plain(array.shape, array.dtype):
            return Grade.ON_REQUEST
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


ANSWERS = _Answers()


def _is_plain(shape: Extents, dtype: Dtype) -> bool:
    """Whether an array is bytes on one axis."""
    return len(shape) == 1 and dtype.str[1:] == "u1"


def _is_proven(array: ArrayFacts, sample: NumpyArray) -> bool:
    """Whether a sample is text, or gets shorter than the general codec makes it."""
    text = sample.tobytes()
    if len(text) < LEAST or _is_nucleotides(text):
        return False
    if is_text(text):
        return True
    from gangsaw.codecs.bwt.codec import Bwt

    most = 0 if array.general_bytes is None else GAIN * array.general_bytes()
    return len(Bwt().encode_chunk(sample)) <= most


def is_text(sample: bytes) -> bool:
    """Whether these are lines of text, of ASCII or UTF-8, perhaps cut at both ends."""
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
