"""ENVI images by the package spectral, which reads header and samples by itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.formats.witness import Witness, library
from gangsaw.tasks.source import Described, Region


@dataclass(frozen=True, kw_only=True)
class SpectralArray(Described):
    """An image in the order of axes that its file has."""

    header: str
    data: str

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        return np.asarray(_samples(self.header, self.data)[region])


def envi_witness(header: str, data: str) -> Witness | None:
    """Return the image that a header describes; None where spectral cannot read it."""
    header, data = str(Path(header).absolute()), str(Path(data).absolute())
    try:
        samples = _samples(header, data)
    except Exception:  # of many kinds, of a library that checks little
        return None
    image = SpectralArray(
        name="data",
        shape=samples.shape,
        dtype=samples.dtype,
        dims=("",) * samples.ndim,
        chunks=None,
        header=header,
        data=data,
    )
    return Witness(library("spectral"), (image,))


def _samples(header: str, data: str) -> NumpyArray:
    """Return the samples of an image or spectral library, mapped; its own order of axes."""
    from spectral.io import envi

    opened = envi.open(header, data)
    if hasattr(opened, "spectra"):
        if opened.params.offset:
            raise ValueError("spectral reads libraries from their first byte on")
        return np.asarray(opened.spectra)
    mapped = opened.open_memmap(interleave="source")
    if mapped is None:
        raise ValueError("spectral maps no such file")
    return np.asarray(mapped)
