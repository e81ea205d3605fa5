"""From a store to another format: which one is told by the target's suffix."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.progress import OnProgress
from gangsaw.tasks.formats.axes import image_dims
from gangsaw.tasks.formats.envi import header_fields
from gangsaw.tasks.formats.envi_export import EnviLayout, export_envi, kept_byte_order
from gangsaw.tasks.formats.flat import INTERLEAVES
from gangsaw.tasks.formats.flat_export import export_raw
from gangsaw.tasks.formats.netcdf_export import export_netcdf
from gangsaw.tasks.jobs.compress import decompress
from gangsaw.tasks.radio.radio import find_kept
from gangsaw.tasks.radio.radio_export import export_radio
from gangsaw.tasks.source import Source, SourceArray

if TYPE_CHECKING:
    from distributed import Client

FORMATS = {
    ".hdr": "envi",
    ".img": "envi",
    ".dat": "envi",
    ".bsq": "envi",
    ".bil": "envi",
    ".bip": "envi",
    ".nc": "netcdf",
    ".nc4": "netcdf",
    ".h5": "netcdf",
    ".hdf5": "netcdf",
    ".zarr": "zarr",
    ".raw": "raw",
    ".bin": "raw",
    ".ms": "ms",
    ".uvh5": "uvh5",
    ".uvfits": "uvfits",
}
RADIO = ("ms", "uvh5", "uvfits", "hdf5")
HDF5 = (".h5", ".hdf5")  # of a correlator, where the store was made of its file


NAMES = "envi, netcdf, zarr, raw, ms, uvh5, uvfits or hdf5"


@dataclass(frozen=True)
class ExportOptions:
    """How to write; None is as the suffix says or the source was.

    Attributes
    ----------
    format : "envi", "netcdf", "zarr", "raw", "ms", "uvh5", "uvfits" or "hdf5"
    interleave : "bsq", "bil" or "bip", for ENVI and raw
    byte_order : "little" or "big", for ENVI and raw
    """

    format: str | None = None
    interleave: str | None = None
    byte_order: str | None = None


def export(
    source: Source,
    target: str,
    options: ExportOptions,
    *,
    overwrite: bool = False,
    resume: bool = False,
    client: Client | None = None,
    on_progress: OnProgress | None = None,
) -> None:
    """Write all of a source; raise BadParams for what the format cannot hold."""
    kind, path = _format(target, options), Path(target)
    if resume and kind != "zarr":
        raise BadParams(f"{target}: only a Zarr store can be resumed; leave --resume out")
    if kind == "zarr":
        decompress(
            source,
            target,
            overwrite=overwrite,
            resume=resume,
            client=client,
            on_progress=on_progress,
        )
    elif kind in RADIO or (path.suffix.lower() in HDF5 and find_kept(source) is not None):
        radio = kind if kind in RADIO else "hdf5"
        export_radio(source, path, radio, overwrite=overwrite, on_progress=on_progress)
    elif kind == "netcdf":
        export_netcdf(source, path, overwrite=overwrite, client=client, on_progress=on_progress)
    elif kind == "envi":
        suffix = path.suffix.lower().lstrip(".")
        layout = EnviLayout(
            options.interleave or (suffix if suffix in INTERLEAVES else None), options.byte_order
        )
        export_envi(
            _only(source),
            source.coords,
            path,
            layout,
            overwrite=overwrite,
            client=client,
            on_progress=on_progress,
        )
    else:
        array = _only(source)
        export_raw(
            array,
            path,
            dims=_raw_dims(array, options.interleave),
            byte_order=options.byte_order or kept_byte_order(header_fields(array.attrs, (), None)),
            overwrite=overwrite,
            client=client,
            on_progress=on_progress,
        )


def _format(target: str, options: ExportOptions) -> str:
    kind = options.format or FORMATS.get(Path(target).suffix.lower())
    if kind in {*FORMATS.values(), *RADIO}:
        return str(kind)
    if kind is not None:
        raise BadParams(f"format must be {NAMES}, got {kind!r}")
    raise BadParams(f"the suffix of {target} tells no format: say --format {NAMES}")


def _only(source: Source) -> SourceArray:
    if len(source.arrays) == 1:
        return source.arrays[0]
    names = ", ".join(array.name for array in source.arrays)
    raise BadParams(f"{source.name} holds several arrays, say which by --variable: {names}")


def _raw_dims(array: SourceArray, interleave: str | None) -> tuple[str, ...] | None:
    if interleave is None:
        return None
    if interleave not in INTERLEAVES:
        raise BadParams(f"interleave must be bsq, bil or bip, got {interleave!r}")
    band, y, x = image_dims(array)
    names = {"band": band, "y": y, "x": x}
    return tuple(name for key in INTERLEAVES[interleave] if (name := names[key]) is not None)
