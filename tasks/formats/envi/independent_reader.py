"""Independent reader of ENVI images by the package spectral, which parses the header itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader, library
from gangsaw.tasks.sources.source import Described, Region


@dataclass(frozen=True, kw_only=True)
class SpectralArray(Described):
    """Image in the axis order of its file."""

    header: str
    data: str

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        return np.asarray(_samples(self.header, self.data)[region])


def open_envi_reader(header: str, data: str) -> IndependentReader | None:
    """Return a reader of the image that a header describes; None if spectral cannot read it."""
    header, data = str(Path(header).absolute()), str(Path(data).absolute())
    try:
        samples = _samples(header, data)
    except Exception:  # the library checks little and raises many types
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
    return IndependentReader(library("spectral"), (image,))


def _samples(header: str, data: str) -> NumpyArray:
    """Return the mapped samples of an image or spectral library, in the axis order of the file."""
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
