"""Losses of a conversion between visibility formats: items that pyuvdata does not convert."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.tasks.radio.radio import Template
from gangsaw.tasks.sources.source import Coordinate, Source, SourceArray

if TYPE_CHECKING:
    from astropy.io import fits

BLOCK, CARD = 2880, 80  # bytes of a FITS block, and of a header card

# columns that pyuvdata reads, and columns that it computes from them
COLUMNS = {
    *("DATA", "CORRECTED_DATA", "MODEL_DATA", "FLOAT_DATA"),  # all except DATA are refused
    *("FLAG", "UVW", "TIME", "EXPOSURE", "ANTENNA1", "ANTENNA2", "FIELD_ID", "SCAN_NUMBER"),
    *("DATA_DESC_ID", "ARRAY_ID", "WEIGHT_SPECTRUM", "WEIGHT"),
}
SUBTABLES = {
    *("ANTENNA", "DATA_DESCRIPTION", "FEED", "FIELD", "HISTORY", "OBSERVATION", "POLARIZATION"),
    *("SOURCE", "SPECTRAL_WINDOW"),
}
SAME = {"INTERVAL": "EXPOSURE", "TIME_CENTROID": "TIME"}  # no loss if the values are equal
DATASETS = {"visdata", "flags", "nsamples"}
GROUPS = {"Data", "Header"}
TABLES = {"AIPS AN", "AIPS FQ", "AIPS SU"}
PARAMETERS = {"UU", "VV", "WW", "DATE", "_DATE", "BASELINE", "SOURCE", "FREQSEL", "INTTIM"}
PARAMETERS |= {"ANTENNA1", "ANTENNA2", "SUBARRAY", "LST"}


def list_losses(source: Source, template: Template, kind: str) -> Iterator[str]:
    """Yield a phrase for each item that a data set would lose in another format."""
    yield from {"ms": _of_ms, "uvfits": _of_uvfits}.get(template.format, _of_uvh5)(source, template)
    if kind == "uvfits" and template.format != "uvfits":
        yield "double precision of UVW"
    if template.format != "ms" and kind == "uvfits" and _has(template, "Header/scan_number_array"):
        yield "scan_number_array of the header"


def _of_ms(source: Source, template: Template) -> Iterator[str]:
    from gangsaw.tasks.radio.measurement_sets.template import CELLS_FOLDER, extract_template

    coords = {str(c.attrs.get("item")): c for c in source.coords}
    variables: list[SourceArray | Coordinate] = [*source.arrays, *source.coords]
    for item in sorted({str(v.attrs["item"]) for v in variables if "item" in v.attrs} - COLUMNS):
        if not _is_uninformative(item, coords):
            yield f"column {item}"
    with TemporaryDirectory() as folder:
        extract_template(template.data, Path(folder))
        for name, rows in _rows_of_tables(Path(folder)).items():
            if name == CELLS_FOLDER:
                yield from (f"column {column}" for column in _columns(Path(folder) / name))
            elif name not in SUBTABLES and rows:
                yield f"subtable {name}"
    yield from (f"subtable {name.partition('/')[0]}" for name in template.files)


def _is_uninformative(item: str, coords: Mapping[str, Coordinate]) -> bool:
    """Return True if a column can be lost: constant and not positive, or equal to its `SAME`."""
    column, other = coords.get(item), coords.get(SAME.get(item, ""))
    if column is None or not column.values.size:
        return False
    values = np.asarray(column.values)
    if other is not None:
        kept = np.asarray(other.values)
        return np.array_equal(
            values,
            np.broadcast_to(
                kept.reshape(*kept.shape, *[1] * (values.ndim - kept.ndim)), values.shape
            ),
        )
    is_one = np.array_equal(values, np.broadcast_to(values.flat[0], values.shape))
    return is_one and not np.any(np.sign(values.astype("f8")) > 0)


def _rows_of_tables(folder: Path) -> dict[str, int]:
    """Return the number of rows of each subtable; 0 if casacore cannot open it."""
    from casacore.tables import table

    found = {}
    for place in sorted(p.parent for p in folder.glob("*/table.dat")):
        try:
            with table(str(place), ack=False, lockoptions="usernoread") as sub:
                found[place.name] = int(sub.nrows())
        except RuntimeError:
            found[place.name] = 0
    return found


def _columns(folder: Path) -> list[str]:
    from casacore.tables import table

    with table(str(folder), ack=False, lockoptions="usernoread") as kept:
        return list(kept.colnames())


def _of_uvh5(_: Source, template: Template) -> Iterator[str]:
    import h5py

    with h5py.File(io.BytesIO(template.data.tobytes()), "r") as file:
        yield from (f"group {name}" for name in file if name not in GROUPS)
        yield from (f"dataset Data/{name}" for name in file["Data"] if name not in DATASETS)
        yield from (f"attribute {name}" for name in file.attrs)


def _has(template: Template, item: str) -> bool:
    import h5py

    with h5py.File(io.BytesIO(template.data.tobytes()), "r") as file:
        return item in file


def _of_uvfits(_: Source, template: Template) -> Iterator[str]:
    from astropy.io import fits

    data = template.data.tobytes()
    header = fits.Header.fromstring(data[: _end_of_header(data)].decode("latin-1"))
    names = [str(header.get(f"PTYPE{i + 1}", "")).strip() for i in range(header["PCOUNT"])]
    for name in dict.fromkeys(names):
        if name not in PARAMETERS and name[:2] not in PARAMETERS:
            yield f"parameter {name}"
    rest = data[_end_of_header(data) + -_bytes_of_groups(header) % BLOCK :]
    with fits.open(io.BytesIO(_empty_primary() + rest), lazy_load_hdus=False) as file:
        yield from (f"table {hdu.name}" for hdu in file[1:] if hdu.name not in TABLES)
    yield "the signs of flagged weights"


def _end_of_header(data: bytes) -> int:
    for at in range(0, len(data), CARD):
        if data[at : at + CARD].rstrip() == b"END":
            return -(-(at + CARD) // BLOCK) * BLOCK
    return len(data)


def _bytes_of_groups(header: fits.Header) -> int:
    cell = prod(header[f"NAXIS{i}"] for i in range(2, header["NAXIS"] + 1))
    return int(header["GCOUNT"] * (header["PCOUNT"] + cell) * abs(header["BITPIX"]) // 8)


def _empty_primary() -> bytes:
    from astropy.io import fits

    buffer = io.BytesIO()
    fits.PrimaryHDU().writeto(buffer)
    return buffer.getvalue()
