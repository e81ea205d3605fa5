"""`SequenceSet`, sequences as concatenated codes, and pairs of such sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.codecs.core.nucleotides.codes import CODES, LETTER_OF_CODE
from gangsaw.codecs.core.ragged import RaggedArray, offsets_of

_CODE_OF_BYTE = CODES.tobytes()
Codes: TypeAlias = NDArray[np.uint8]
Places: TypeAlias = NDArray[np.int64]


class SequenceSet(RaggedArray):
    """Set of sequences as base codes.

    Parameters
    ----------
    data : (bases,) uint8
        0..3 for A, C, G, T and 4 for anything else, which matches nothing, not even itself.
    offsets : (n + 1,) int64
        Start of each sequence and end of the last one, ascending, from 0 or more to at most
        `bases`.

    Examples
    --------
    >>> import numpy as np
    >>> from gangsaw.align import SequenceSet, edit_distance
    >>> sequences = SequenceSet(np.array([0, 1, 2, 3, 0, 0], "uint8"), np.array([0, 4, 6]))
    >>> edit_distance(sequences, ["ACGT", "AC"]).tolist()
    [0, 1]
    """

    @property
    def codes(self) -> Codes:
        """Codes of all sequences, (bases,) uint8: `data`."""
        return self.data


Text: TypeAlias = str | bytes | NDArray[np.uint8]
SequenceInput: TypeAlias = SequenceSet | tuple[Codes, Places] | Text | Sequence[Text]


def sequences_of(sequences: SequenceInput, name: str = "sequences") -> SequenceSet:
    """Convert sequences to codes.

    Parameters
    ----------
    sequences : one string (str, bytes or (bases,) uint8 ASCII), a list of strings, or a pair of
        codes and their offsets; strings are case-insensitive
    name : name of the argument in messages

    Raises
    ------
    BadParams : it is none of these, or codes and offsets are invalid for a `SequenceSet`
    """
    if isinstance(sequences, SequenceSet):
        return _checked((sequences.data, sequences.offsets), name)
    if isinstance(sequences, tuple):
        return _checked(sequences, name)
    texts = [sequences] if isinstance(sequences, str | bytes | np.ndarray) else list(sequences)
    letters = _joined(texts, name)
    offsets = offsets_of(np.fromiter(map(len, texts), np.int64, len(texts)))
    # a bytearray gives writable codes: a kernel is compiled for one array type
    return SequenceSet(np.frombuffer(letters.translate(_CODE_OF_BYTE), np.uint8), offsets)


def _joined(texts: Sequence[Text], name: str) -> bytearray:
    """Concatenate the bases of all strings.

    One array per string would take 20 times as long as its edit distance.
    """
    if set(map(type, texts)) == {str}:
        return bytearray("".join(cast("Sequence[str]", texts)).encode("ascii", "replace"))
    return bytearray().join(_encode_ascii(text, f"{name}[{i}]") for i, text in enumerate(texts))


def _encode_ascii(text: Text, name: str) -> bytes | memoryview:
    if isinstance(text, str):
        return text.encode("ascii", "replace")
    if isinstance(text, bytes):
        return text
    if not isinstance(text, np.ndarray) or text.dtype != np.uint8 or text.ndim != 1:
        kind = getattr(text, "dtype", type(text).__name__)
        raise BadParams(f"{name} must be str, bytes or a 1-D array of uint8 residues, got {kind}")
    return np.ascontiguousarray(text).data


def _checked(pair: tuple[Codes, Places], name: str) -> SequenceSet:
    if len(pair) != 2:
        raise BadParams(f"{name} must be codes and offsets, or a list of texts, got a tuple")
    codes, offsets = np.ascontiguousarray(pair[0]), np.ascontiguousarray(pair[1])
    if codes.dtype != np.uint8 or codes.ndim != 1 or (codes.size and codes.max() > NOT_A_BASE):
        raise BadParams(f"{name}: codes must be a 1-D array of uint8 in 0..{NOT_A_BASE}")
    if offsets.dtype != np.int64 or offsets.ndim != 1 or not offsets.size:
        raise BadParams(f"{name}: offsets must be a 1-D array of int64, one more than sequences")
    if offsets[0] < 0 or offsets[-1] > codes.size or (np.diff(offsets) < 0).any():
        raise BadParams(f"{name}: offsets must not fall, from 0 to at most {codes.size}")
    return SequenceSet(codes, offsets)


def decode_texts(sequences: SequenceSet) -> list[str]:
    """Return the bases of each sequence as a string, N for 4."""
    return [LETTER_OF_CODE[codes].tobytes().decode() for codes in sequences]


class SequencePairs(NamedTuple):
    """Pairs of queries and targets: pair i is query i and target i.

    Attributes
    ----------
    queries, targets : sets of equal size
    """

    queries: SequenceSet
    targets: SequenceSet


def pair_sequences(queries: SequenceInput, targets: SequenceInput) -> SequencePairs:
    """Return the pairs of queries and targets.

    Raises
    ------
    BadParams : an argument is no set of sequences, or their numbers differ
    """
    made = SequencePairs(sequences_of(queries, "queries"), sequences_of(targets, "targets"))
    n, m = map(len, made)
    if n != m:
        raise BadParams(f"pairs need as many queries as targets, got {n} and {m}")
    return made
