"""Filters of HDF5 data sets, checked when a file is opened and not when its samples are read."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import h5py

# filter numbers (The HDF Group, "Registered Filter Plugins") that the package hdf5plugin provides
OF_HDF5PLUGIN = {
    307: "bzip2",
    32001: "Blosc",
    32004: "LZ4",
    32008: "Bitshuffle",
    32013: "ZFP",
    32015: "Zstandard",
    32017: "SZ",
    32018: "FCIDECOMP",
    32024: "SZ3",
    32026: "Blosc2",
    32028: "SPERR",
}
SZIP = 4


def register_filters() -> None:
    """Register the filters of hdf5plugin with HDF5 if that package is installed."""
    with suppress(ImportError):
        import hdf5plugin  # noqa: F401 -- importing it registers them


def open_hdf5(path: str) -> h5py.File:
    """Open an HDF5 file for reading, with all installed filters registered."""
    import h5py

    register_filters()
    return h5py.File(path, "r")


def missing_filter(data: h5py.Dataset) -> str:
    """Return a clause that names a missing filter of a data set and its remedy; "" if none is."""
    import h5py

    register_filters()
    created = data.id.get_create_plist()
    for at in range(created.get_nfilters()):
        number, _, _, name = created.get_filter(at)
        if not h5py.h5z.filter_avail(number):
            return _reason(number, name.decode(errors="replace").partition("\0")[0])
    return ""


def _reason(number: int, name: str) -> str:
    known = OF_HDF5PLUGIN.get(number) or ("SZIP" if number == SZIP else "")
    called = f"HDF5 filter {number} ({known or name or 'of no known name'})"
    if number in OF_HDF5PLUGIN:
        return f"is compressed by {called}, which is not installed: pip install hdf5plugin"
    if number == SZIP:
        return f"is compressed by {called}, which this build of h5py lacks: install another one"
    return (
        f"is compressed by {called}, which is not installed: name the folder of its plugin in "
        "HDF5_PLUGIN_PATH"
    )
