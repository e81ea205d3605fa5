"""Optional packages, with one-line errors that name what to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gangsaw.codecs.core.errors import BadParams

_OF = {
    "bam": "pysam",
    "cli": "rich typer",
    "dashboard": "bokeh",
    "dask": "dask distributed pandas tornado xarray yaml",
    "envi": "spectral",
    "io": "netCDF4 rasterio rioxarray",
    "netcdf": "h5netcdf h5py",
    "plot": "matplotlib",
    "radio": "astropy casacore hdf5plugin pyuvdata",
    "reads": "isal zstandard",
    "s3": "fsspec s3fs",
    "tcr": "olga pyarrow scipy sklearn threadpoolctl",
}
EXTRAS = {module: extra for extra, modules in _OF.items() for module in modules.split()}
_OR = dict.fromkeys(("dask", "distributed"), ", or work in this process (--workers 0)")


def missing_module(module: str, what: str = "", install: str = "") -> BadParams:
    """Return the error for an optional module that is not installed, with the package to install.

    `what` is the thing that needs the module, such as a path; `install` is by default the extra of
    `EXTRAS`.
    """
    begin = f"{what}: " if what else ""
    install = install or f"gangsaw[{EXTRAS[module]}]"
    return BadParams(f'{begin}{module} is missing: pip install "{install}"{_OR.get(module, "")}')


@contextmanager
def extras_named(what: str = "") -> Iterator[None]:
    """Run the body; if it lacks an optional package, raise the error of `missing_module`."""
    try:
        yield
    except ImportError as error:
        if not (module := _module(error)):
            raise
        raise missing_module(module, what) from None


def _module(error: ImportError) -> str:
    """Return the name of the optional module that was not found, "" for any other error."""
    # an error without a name has a message already, as of clusters
    if isinstance(error, ModuleNotFoundError):
        module = (error.name or "").partition(".")[0]
        return module if module in EXTRAS else ""
    if error.name:  # the module exists, and is broken or of another version
        return ""
    return next((module for module in EXTRAS if module in str(error)), "")  # raised by a library
