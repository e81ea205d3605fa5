"""Samples that every codec's `samples.py` lists for the test suite of all codecs."""

from __future__ import annotations

from dataclasses import dataclass

from gangsaw.codecs.core.arrays import NumpyArray


@dataclass(frozen=True)
class Sample:
    """Array to be encoded with one set of parameters.

    Attributes
    ----------
    name : unique within its codec
    array : a chunk, in any memory order and byte order; never written to
    params : the codec's frozen parameters
    grows : axes along which the array may be repeated and stays valid for these parameters
    """

    name: str
    array: NumpyArray
    params: object
    grows: tuple[int, ...] = (0,)
