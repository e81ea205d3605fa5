"""Parsed and checked ENVI headers.

Source: NV5 Geospatial, "ENVI Header Files" and "ENVI Image Files" (the format's documentation).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.layouts import INTERLEAVES
from gangsaw.tasks.formats.envi.text import Fields, HeaderEntry, HeaderText, read_header_text

DTYPES = {1: "u1", 2: "i2", 3: "i4", 4: "f4", 5: "f8", 6: "c8", 9: "c16", 12: "u2", 13: "u4"}
DTYPES |= {14: "i8", 15: "u8"}
LAYOUT_FIELDS = ("samples", "lines", "bands", "header offset", "data type")
BYTE_ORDERS = {"0": "<", "1": ">"}
STANDARD, LIBRARY = "ENVI Standard", "ENVI Spectral Library"
# file types whose data file is not flat, or not as the header describes it
NOT_FLAT = re.compile(r"(geo)?tiff|jpe?g|hdf|nitf|png|virtual|\bmeta\b", re.IGNORECASE)
BAND_FIELDS = (  # fields with a number per band; band names are text and go into attributes
    "wavelength",
    "fwhm",
    "bbl",
    "data gain values",
    "data offset values",
    "data reflectance gain values",
    "data reflectance offset values",
)
OTHER_FIELDS = (
    "band names",
    "byte order",
    "coordinate system string",
    "data ignore value",
    "description",
    "file compression",
    "file type",
    "interleave",
    "major frame offsets",
    "map info",
    "minor frame offsets",
    "projection info",
    "reflectance scale factor",
    "sensor type",
    "spectra names",
    "wavelength units",
)


@dataclass(frozen=True)
class EnviHeader:
    """Parsed and checked ENVI header.

    Attributes
    ----------
    shape : (bands, lines, samples); (1, spectra, bands) for a spectral library
    dtype : dtype of the samples, byte order included
    interleave : "bsq", "bil" or "bip"
    offset : bytes before the first sample of the data file
    fields : all other fields unchanged: text, or a list of texts for {a, b}
    text : text of the header file
    """

    shape: tuple[int, int, int]
    dtype: Dtype
    interleave: str
    offset: int
    fields: Fields
    text: HeaderText

    @property
    def is_library(self) -> bool:
        """True for a spectral library: each line is a spectrum, each sample one of its bands."""
        return is_library(self.fields)

    @property
    def n_bands(self) -> int:
        """Number of bands."""
        return self.shape[2] if self.is_library else self.shape[0]

    @property
    def nbytes(self) -> int:
        """Size of the data file up to the last sample, in bytes."""
        return self.offset + prod(self.shape) * self.dtype.itemsize


def read_header_file(path: Path) -> EnviHeader:
    """Return the parsed header file; raise BadParams for missing or unsupported fields."""
    text = read_header_text(path)
    fields: Fields = {standard_name(entry): entry.value for entry in text.entries}
    _refuse_unsupported(path, fields)
    bands, lines, samples = (_count(path, fields, name) for name in ("bands", "lines", "samples"))
    if is_library(fields) and bands != 1:
        raise BadParams(f"{path}: a spectral library has 1 band, a spectrum a line, not {bands}")
    offset = _count(path, fields, "header offset", least=0) if "header offset" in fields else 0
    interleave = str(fields.get("interleave", "bsq")).lower()
    if interleave not in INTERLEAVES:
        raise BadParams(f"{path}: interleave must be bsq, bil or bip, got {interleave!r}")
    dtype = _dtype(path, fields)
    rest = {key: value for key, value in fields.items() if key not in LAYOUT_FIELDS}
    return EnviHeader((bands, lines, samples), dtype, interleave, offset, rest, text)


def standard_name(entry: HeaderEntry) -> str:
    """Return the documented, lower-case name of a field; an unknown name is returned unchanged."""
    known = (*LAYOUT_FIELDS, *BAND_FIELDS, *OTHER_FIELDS)
    return entry.name.lower() if entry.name.lower() in known else entry.name


def is_library(fields: Fields) -> bool:
    """Return True for the header fields of a spectral library."""
    return str(fields.get("file type", "")).lower() == LIBRARY.lower()


def _count(path: Path, fields: Fields, name: str, least: int = 1) -> int:
    if name not in fields:
        raise BadParams(f"{path}: the header has no {name!r}")
    try:
        value = int(str(fields[name]))
    except ValueError:
        value = least - 1
    if value < least:
        raise BadParams(f"{path}: {name!r} must be a whole number from {least}, got {fields[name]}")
    return value


def _refuse_unsupported(path: Path, fields: Fields) -> None:
    kind = fields.get("file type", "")
    if NOT_FLAT.search(str(kind)):
        raise BadParams(f"{path}: {kind!r} is no flat file of samples: name the data file itself")
    if str(fields.get("file compression", "0")) != "0":
        raise BadParams(f"{path}: the data file is compressed by ENVI; save it uncompressed")
    for name in ("major frame offsets", "minor frame offsets"):
        value = fields.get(name, "0")
        if any(part not in ("0", "") for part in (value if isinstance(value, list) else [value])):
            raise BadParams(f"{path}: {name} are not supported; save the image without them")


def _dtype(path: Path, fields: Fields) -> Dtype:
    code = _count(path, fields, "data type")
    if code not in DTYPES:
        raise BadParams(f"{path}: unknown data type {code}; known are {sorted(DTYPES)}")
    order = str(fields.get("byte order", "0"))
    if order not in BYTE_ORDERS:
        raise BadParams(f"{path}: byte order must be 0 or 1, got {order!r}")
    return np.dtype(BYTE_ORDERS[order] + DTYPES[code])
