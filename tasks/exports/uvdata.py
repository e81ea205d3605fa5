"""From one format of visibilities to another, through pyuvdata, which holds all of it in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.sources.radio import radio_needed
from gangsaw.tasks.sources.uvdata import AS_IT_IS, quiet_and_offline

READ = {"uvh5": "uvh5", "ms": "ms"}
# the rest that these formats cannot hold is named by pyuvdata's own errors
COLUMNS = ("CORRECTED_DATA", "MODEL_DATA", "FLOAT_DATA")


def convert(source: Path, target: Path, from_kind: str, to_kind: str) -> None:
    """Read one file and write the other, with the same visibilities, flags and samples.

    Raises BadParams where the format cannot hold them bit for bit.
    """
    with radio_needed(str(target)), quiet_and_offline():
        try:
            uvdata = _read(source, from_kind)
            _check_exact(uvdata, to_kind)
            _write(uvdata, target, to_kind)
        except BadParams:
            raise
        except (ValueError, RuntimeError, KeyError, TypeError, NotImplementedError) as error:
            text = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise BadParams(
                f"pyuvdata cannot write this {from_kind} as {to_kind}: {text}"
            ) from error


def _read(path: Path, kind: str) -> Any:
    from pyuvdata import UVData

    if kind == "ms":
        _check_columns(path)
    uvdata = UVData()
    uvdata.read(str(path), file_type=READ[kind], **AS_IT_IS)
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


def _check_exact(uvdata: Any, kind: str) -> None:
    """Refuse what would come back as other bits: ms and uvfits are of single precision."""
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


def _write(uvdata: Any, path: Path, kind: str) -> None:
    if kind == "ms":
        uvdata.write_ms(str(path), clobber=True, run_check=False)
    elif kind == "uvfits":
        uvdata.write_uvfits(str(path), run_check=False, use_miriad_convention=False)
    else:
        uvdata.write_uvh5(str(path), clobber=True, run_check=False)
