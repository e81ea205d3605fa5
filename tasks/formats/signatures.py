"""By what first bytes files of HDF5 and NetCDF are known, wherever HDF5 looks for them."""

from __future__ import annotations

import base64
from pathlib import Path

HDF5 = b"\x89HDF\r\n\x1a\n"
NETCDF3 = (b"CDF\x01", b"CDF\x02", b"CDF\x05")
MOST = 1 << 20  # bytes of a user block that are kept; MATLAB writes 512
BLOCK = 512  # bytes of the smallest user block, and twice as many each time
TAR = (257, b"ustar")  # the first member of an archive lies behind 512 bytes, too


def hdf5_start(path: str | Path) -> int | None:
    """Return where HDF5 begins in a file, behind the user block that MATLAB and others write.

    None where it is nowhere.
    """
    with Path(path).open("rb") as file:
        if file.read(len(HDF5)) == HDF5:
            return 0
        file.seek(TAR[0])
        if file.read(len(TAR[1])) == TAR[1]:
            return None
        at, size = BLOCK, Path(path).stat().st_size
        while at + len(HDF5) <= size:
            file.seek(at)
            if file.read(len(HDF5)) == HDF5:
                return at
            at *= 2
    return None


def user_block(path: str | Path) -> str | None:
    """Return the bytes before HDF5 in base64, "" where there are none; None of too many."""
    size = hdf5_start(path) or 0
    if size > MOST:
        return None
    with Path(path).open("rb") as file:
        return base64.b64encode(file.read(size)).decode()


def block_bytes(said: object) -> bytes:
    """Return the user block that an attribute keeps, b"" where it is none that HDF5 allows."""
    try:
        data = base64.b64decode(str(said or ""), validate=True)
    except ValueError:  # somebody changed it
        return b""
    n = len(data)
    return data if n >= BLOCK and n & (n - 1) == 0 else b""
