"""Small ENVI files as other programs write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ORDERS = {"bsq": (0, 1, 2), "bil": (1, 0, 2), "bip": (1, 2, 0)}  # of a (bands, rows, columns) cube
CODES = {"uint8": 1, "int16": 2, "int32": 3, "float32": 4, "uint16": 12, "uint32": 13}

METADATA = """description = {Radiance of flight line 7,
  calibrated}
sensor type = AVIRIS-NG
wavelength units = Nanometers
wavelength = {
 400.5, 410.25, 420.0,
 430.125, 440.0}
fwhm = {5.1, 5.2, 5.3, 5.4, 5.5}
bbl = {1, 1, 0, 1, 1}
band names = {B1, B2, B3, water vapour, B5}
map info = {UTM, 1.0, 1.0, 500000.0, 4000000.0, 15.0, 15.0, 33, North, WGS-84, units=Meters}
coordinate system string = {PROJCS["WGS_1984_UTM_Zone_33N",GEOGCS["GCS_WGS_1984"]]}
data ignore value = -9999
reflectance scale factor = 10000.0
default bands = {4, 2, 1}
Flight Line = f100520
"""


def cube(dtype: str = "uint16", shape: tuple[int, int, int] = (5, 7, 6)) -> NDArray[Any]:
    """Return seeded samples (bands, rows, columns) that use the whole range of an integer dtype."""
    rng = np.random.default_rng(5)
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def write_envi(
    header: Path,
    samples: NDArray[Any],
    *,
    interleave: str = "bsq",
    byte_order: int = 0,
    offset: int = 0,
    suffix: str = ".img",
    metadata: str = "",
) -> Path:
    """Write header and data file; return the header's path."""
    kind = samples.dtype.newbyteorder("<" if byte_order == 0 else ">")
    data = np.ascontiguousarray(samples.transpose(ORDERS[interleave])).astype(kind)
    header.with_suffix(suffix).write_bytes(b"\xaa" * offset + data.tobytes())
    bands, lines, columns = samples.shape
    header.write_text(
        f"ENVI\nsamples = {columns}\nlines   = {lines}\nbands   = {bands}\n"
        f"header offset = {offset}\nfile type = ENVI Standard\n"
        f"data type = {CODES[samples.dtype.name]}\ninterleave = {interleave}\n"
        f"byte order = {byte_order}\n{metadata}"
    )
    return header
