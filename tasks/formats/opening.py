"""From what a user names to a source: the format is told from content, then from the suffix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.radio.radio import pick
from gangsaw.tasks.source import Source

TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
HDF5 = b"\x89HDF"
NETCDF = (HDF5, b"CDF\x01", b"CDF\x02", b"CDF\x05")
FITS = b"SIMP"


@dataclass(frozen=True)
class SourceOptions:
    """What a user says of a source that its content does not.

    Attributes
    ----------
    variables : arrays to take; none is all
    group : group of a Zarr store or HDF5 file; data description of a MeasurementSet
    shape, dtype, interleave, byte_order, offset : of a raw file, see `open_raw`
    """

    variables: tuple[str, ...] = ()
    group: str = ""
    shape: Sequence[int] | None = None
    dtype: str | None = None
    interleave: str = "bsq"
    byte_order: str | None = None
    offset: int = 0

    @property
    def is_raw(self) -> bool:
        """Whether the user describes a raw file."""
        return self.shape is not None or self.dtype is not None


def open_source(path: str, options: SourceOptions | None = None) -> Source:
    """Return the source at `path`; nothing but headers and small coordinates is read.

    Raises BadParams, in one line, for a path that is missing or of no known format.
    """
    chosen = options or SourceOptions()
    place = Path(path)
    if "://" not in path and not place.exists():
        raise BadParams(f"{path}: no such file or directory")
    if "://" not in path and place.is_dir() and (found := _open_folder(path, chosen)) is not None:
        return found
    if "://" in path or place.is_dir():
        from gangsaw.tasks.formats.zarr import open_zarr

        return open_zarr(path, chosen.group, chosen.variables)
    return _open_file(place, chosen)


def _open_folder(path: str, options: SourceOptions) -> Source | None:
    """Return the source of a folder that is of a radio format; None lets it be Zarr."""
    from gangsaw.tasks.radio.measurement_set import is_measurement_set, open_measurement_set
    from gangsaw.tasks.radio.uvdata import is_miriad, open_miriad

    if is_measurement_set(Path(path)):
        return pick(open_measurement_set(path, options.group), options.variables)
    if is_miriad(Path(path)):
        return pick(open_miriad(path), options.variables)
    return None


def _open_file(path: Path, options: SourceOptions) -> Source:
    if options.is_raw:
        from gangsaw.tasks.formats.raw import open_raw

        layout = (options.shape, options.dtype, options.interleave)
        return open_raw(str(path), *layout, options.byte_order, options.offset)
    with path.open("rb") as file:
        start = file.read(4)
    if start == HDF5 and not options.group:
        from gangsaw.tasks.radio.hdf5_radio import open_radio_hdf5

        if (radio := open_radio_hdf5(str(path))) is not None:
            return pick(radio, options.variables)
    if start == FITS:
        from gangsaw.tasks.radio.uvdata import open_uvfits

        return pick(open_uvfits(str(path)), options.variables)
    if start in NETCDF or start in TIFF:
        from gangsaw.tasks.formats.xarrays import open_geotiff, open_netcdf

        if start in TIFF:
            return open_geotiff(str(path), options.variables)
        return open_netcdf(str(path), options.group, options.variables)
    return _open_envi(path, start)


def _open_envi(path: Path, start: bytes) -> Source:
    from gangsaw.tasks.formats.envi import open_envi
    from gangsaw.tasks.formats.envi_header import find_header

    if start == b"ENVI" or path.suffix.lower() == ".hdr":
        return open_envi(str(path))
    if (header := find_header(path)) is not None:
        return open_envi(str(header))
    raise BadParams(
        f"{path} is of no known format (ENVI, Zarr, NetCDF, HDF5, GeoTIFF, MeasurementSet, uvh5, "
        "uvfits, miriad); "
        "if it holds raw samples, say --shape and --dtype"
    )
