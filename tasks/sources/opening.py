"""From what a user names to a source: the format is told from content, then from the suffix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.sources.base import Source

TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
NETCDF = (b"\x89HDF", b"CDF\x01", b"CDF\x02", b"CDF\x05")


@dataclass(frozen=True)
class SourceOptions:
    """What a user says of a source that its content does not.

    Attributes
    ----------
    variables : arrays to take; none is all
    group : group of a Zarr store or HDF5 file
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
    if "://" in path or place.is_dir():
        from gangsaw.tasks.sources.zarr import open_zarr

        return open_zarr(path, chosen.group, chosen.variables)
    return _open_file(place, chosen)


def _open_file(path: Path, options: SourceOptions) -> Source:
    if options.is_raw:
        from gangsaw.tasks.sources.raw import open_raw

        layout = (options.shape, options.dtype, options.interleave)
        return open_raw(str(path), *layout, options.byte_order, options.offset)
    with path.open("rb") as file:
        start = file.read(4)
    if start in NETCDF or start in TIFF:
        from gangsaw.tasks.sources.xarrays import open_geotiff, open_netcdf

        if start in TIFF:
            return open_geotiff(str(path), options.variables)
        return open_netcdf(str(path), options.group, options.variables)
    return _open_envi(path, start)


def _open_envi(path: Path, start: bytes) -> Source:
    from gangsaw.tasks.sources.envi import open_envi
    from gangsaw.tasks.sources.envi_header import find_header

    if start == b"ENVI" or path.suffix.lower() == ".hdr":
        return open_envi(str(path))
    if (header := find_header(path)) is not None:
        return open_envi(str(header))
    raise BadParams(
        f"{path} is of no known format (ENVI, Zarr, NetCDF, HDF5, GeoTIFF); "
        "if it holds raw samples, say --shape and --dtype"
    )
