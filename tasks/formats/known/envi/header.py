"""ENVI headers: what they say of the data file, where that file is, and their text form.

Source: NV5 Geospatial, "ENVI Header Files" and "ENVI Image Files" (the format's documentation).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.layouts import INTERLEAVES

Fields = dict[str, str | list[str]]

DTYPES = {1: "u1", 2: "i2", 3: "i4", 4: "f4", 5: "f8", 6: "c8", 9: "c16", 12: "u2", 13: "u4"}
DTYPES |= {14: "i8", 15: "u8"}
DATA_SUFFIXES = ("dat", "img", "raw", "bsq", "bil", "bip", "bin", "sli", "hyspex")
LAYOUT_FIELDS = ("samples", "lines", "bands", "header offset", "data type")
BYTE_ORDERS = {"0": "<", "1": ">"}


@dataclass(frozen=True)
class EnviHeader:
    """A header read and checked.

    Attributes
    ----------
    shape : (bands, lines, samples)
    dtype : of the samples, byte order included
    interleave : "bsq", "bil" or "bip"
    offset : bytes before the first sample of the data file
    fields : every other field unchanged: text, or a list of texts for {a, b}
    """

    shape: tuple[int, int, int]
    dtype: Dtype
    interleave: str
    offset: int
    fields: Fields


def read_header(path: Path) -> EnviHeader:
    """Read and check a header file; raise BadParams for what is missing or not supported."""
    fields = _parse(path)
    shape = tuple(_count(path, fields, name) for name in ("bands", "lines", "samples"))
    offset = _count(path, fields, "header offset", least=0) if "header offset" in fields else 0
    interleave = str(fields.get("interleave", "bsq")).lower()
    if interleave not in INTERLEAVES:
        raise BadParams(f"{path}: interleave must be bsq, bil or bip, got {interleave!r}")
    _refuse_unsupported(path, fields)
    dtype = _dtype(path, fields)
    rest = {key: value for key, value in fields.items() if key not in LAYOUT_FIELDS}
    return EnviHeader(shape, dtype, interleave, offset, rest)  # type: ignore[arg-type]


def _parse(path: Path) -> Fields:
    from spectral import settings  # slow import, and only ENVI needs it
    from spectral.io import envi

    kept = settings.envi_support_nonlowercase_params
    settings.envi_support_nonlowercase_params = True  # unknown names keep their capitals
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # its parser leaks on broken headers
            raw = envi.read_envi_header(str(path))
    except FileNotFoundError:
        raise BadParams(f"{path}: no such file") from None
    except (envi.EnviException, UnicodeDecodeError, IndexError):
        raise BadParams(
            f"{path} is not an ENVI header: it must be text that starts with ENVI"
        ) from None
    finally:
        settings.envi_support_nonlowercase_params = kept
    return {_standard_name(key): value for key, value in raw.items()}


def _standard_name(key: str) -> str:
    known = (*LAYOUT_FIELDS, *BAND_FIELDS, *OTHER_FIELDS)
    return key.lower() if key.lower() in known else key


BAND_FIELDS = (  # one entry per band, numbers; band names are text and go into attributes
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
    "wavelength units",
)


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


def find_data(header: Path) -> Path:
    """Return the data file of a header; BadParams where there is none."""
    if (found := existing_data(header)) is not None:
        return found
    stem, known = header.stem, ", ".join(f".{suffix}" for suffix in DATA_SUFFIXES)
    raise BadParams(f"{header} has no data file: looked for {stem} alone and with {known}")


def existing_data(header: Path) -> Path | None:
    """Return the file with the header's name and another suffix or none, or None."""
    stem = header.with_suffix("")
    suffixes = [s for suffix in DATA_SUFFIXES for s in (f".{suffix}", f".{suffix.upper()}")]
    candidates = (stem, *(stem.with_name(stem.name + s) for s in suffixes))
    return next((path for path in candidates if path.is_file()), None)


def find_header(data: Path) -> Path | None:
    """Return the header of a data file, or None."""
    names = (data.name + ".hdr", data.name + ".HDR", data.stem + ".hdr", data.stem + ".HDR")
    return next((h for name in names if (h := data.with_name(name)).is_file()), None)


def header_text(fields: Mapping[str, str | list[str]]) -> str:
    """Return the text of a header file with these fields, in their order."""
    lines = ["ENVI"]
    for key, value in fields.items():
        if key == "description":
            lines.append(f"description = {{{value}}}")
        elif isinstance(value, list):
            lines.append(f"{key} = {{{', '.join(value)}}}")
        else:
            lines.append(f"{key} = {value}")
    return "\n".join(lines) + "\n"
