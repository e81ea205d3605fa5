"""File signatures of HDF5 and NetCDF, at every offset where HDF5 searches for them."""

from __future__ import annotations

import base64
from pathlib import Path

HDF5 = b"\x89HDF\r\n\x1a\n"
NETCDF3 = (b"CDF\x01", b"CDF\x02", b"CDF\x05")
MOST = 1 << 20  # bytes of the largest user block that is stored; MATLAB writes 512
BLOCK = 512  # bytes of the smallest user block; larger ones are this times a power of two
TAR = (257, b"ustar")  # the first member of a tar archive also starts at byte 512


def hdf5_start(path: str | Path) -> int | None:
    """Return the offset in bytes of the HDF5 signature in a file, None if there is none.

    The offset is the size of the user block that MATLAB and others write.
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
    """Return the user block before HDF5 in base64, "" if empty, None if larger than MOST."""
    size = hdf5_start(path) or 0
    if size > MOST:
        return None
    with Path(path).open("rb") as file:
        return base64.b64encode(file.read(size)).decode()


def decode_user_block(encoded: object) -> bytes:
    """Return the user block that an attribute holds in base64, b"" if HDF5 allows no such block."""
    try:
        data = base64.b64decode(str(encoded or ""), validate=True)
    except ValueError:  # the attribute was edited
        return b""
    n = len(data)
    return data if n >= BLOCK and n & (n - 1) == 0 else b""
