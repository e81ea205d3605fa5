"""Conversion between formats of visibilities by pyuvdata, which reads all data into memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.radio.libraries.quiet import AS_IT_IS, silence_pyuvdata
from gangsaw.tasks.radio.radio import describe_error
from gangsaw.tasks.radio.uvdata.uvfits import read_visibilities

if TYPE_CHECKING:
    from pyuvdata import UVData

READ = {"uvh5": "uvh5", "ms": "ms", "uvfits": "uvfits"}
# pyuvdata's own errors name all other items that these formats cannot represent
COLUMNS = ("CORRECTED_DATA", "MODEL_DATA", "FLOAT_DATA")


def convert(source: Path, target: Path, from_kind: str, to_kind: str) -> None:
    """Convert a file to another format, with the same visibilities, flags and samples.

    Raises BadParams if the format cannot represent them bit for bit.
    """
    with extras_named(str(target)), silence_pyuvdata():
        try:
            uvdata = _read(source, from_kind)
            _check_exact(uvdata, to_kind)
            _write(uvdata, target, to_kind)
        except BadParams:
            raise
        except (ValueError, RuntimeError, KeyError, TypeError, NotImplementedError) as error:
            raise BadParams(
                f"pyuvdata cannot write this {from_kind} as {to_kind}: {describe_error(error)}"
            ) from error


def _read(path: Path, kind: str) -> UVData:
    from pyuvdata import UVData

    options: dict[str, object] = dict(AS_IT_IS)
    if kind == "ms":
        _check_columns(path)
        _drop_windows(path)
        options["ignore_single_chan"] = False  # pyuvdata's default ignores them as averages
    uvdata = UVData()
    uvdata.read(str(path), file_type=READ[kind], **options)
    if kind == "uvfits" and (exact := read_visibilities(str(path))) is not None:
        uvdata.data_array = exact
    return uvdata


def _check_columns(path: Path) -> None:
    from casacore.tables import table

    with table(str(path), ack=False) as main:
        others = [c for c in COLUMNS if c in main.colnames() and main.iscelldefined(c, 0)]
    if others:
        raise BadParams(
            f"uvh5 and uvfits hold one data column, the store holds DATA and {', '.join(others)}: "
            "decompress to .ms, or compress a MeasurementSet with DATA alone"
        )


def _drop_windows(path: Path) -> None:
    """Remove data descriptions and spectral windows without rows: pyuvdata expects rows of each.

    A template has those of all data descriptions.
    """
    from casacore.tables import table

    options = {"ack": False, "readonly": False}
    with (
        table(str(path), **options) as main,
        table(f"{path}/DATA_DESCRIPTION", **options) as described,
        table(f"{path}/SPECTRAL_WINDOW", **options) as windows,
    ):
        used, numbers = np.unique(main.getcol("DATA_DESC_ID"), return_inverse=True)
        if used.size == described.nrows():
            return
        window_ids = described.getcol("SPECTRAL_WINDOW_ID")[used]
        used_windows, window_numbers = np.unique(window_ids, return_inverse=True)
        described.removerows(np.setdiff1d(range(described.nrows()), used))
        windows.removerows(np.setdiff1d(range(windows.nrows()), used_windows))
        described.putcol("SPECTRAL_WINDOW_ID", window_numbers.astype(np.int32))
        main.putcol("DATA_DESC_ID", numbers.astype(np.int32))


def _check_exact(uvdata: UVData, kind: str) -> None:
    """Raise BadParams if the format would change bits: ms and uvfits have single precision."""
    if kind == "uvh5":
        return
    for name in ("data_array", "nsample_array"):
        values = getattr(uvdata, name)
        narrow = values.astype(np.complex64 if values.dtype.kind == "c" else np.float32)
        if not np.array_equal(narrow, values, equal_nan=True):
            raise BadParams(
                f"{kind} holds single precision, and values of {name} need double: "
                "decompress to .uvh5"
            )
    is_phased = kind != "ms" or not np.any(uvdata._check_for_cat_type("unprojected"))
    if not is_phased:
        raise BadParams(
            "a MeasurementSet holds phased visibilities, and phasing would change these: "
            "decompress to .uvh5"
        )


def _write(uvdata: UVData, path: Path, kind: str) -> None:
    if kind == "ms":
        uvdata.write_ms(str(path), clobber=True, run_check=False)
    elif kind == "uvfits":
        uvdata.write_uvfits(str(path), run_check=False, use_miriad_convention=False)
    else:
        uvdata.write_uvh5(str(path), clobber=True, run_check=False)
