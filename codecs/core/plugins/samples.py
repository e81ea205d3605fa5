"""Samples that every codec's `samples.py` lists for the test suite of all codecs."""

from __future__ import annotations

from dataclasses import dataclass

from gangsaw.codecs.core.arrays import NumpyArray


@dataclass(frozen=True)
class Sample:
    """Test array of a codec: a chunk to encode with one set of parameters.

    Attributes
    ----------
    name : unique within its codec
    array : a chunk, in any memory order and byte order; never written to
    params : the codec's frozen parameters
    grows : axes along which tests may repeat the array so that it stays valid for the parameters
    """

    name: str
    array: NumpyArray
    params: object
    grows: tuple[int, ...] = (0,)
