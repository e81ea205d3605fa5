"""Properties of an image, and supplementary information tables: what its header describes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.plugins.parameters import require_int

MAX_EXTENT = 1 << 16  # the header has 16-bit fields for rows, columns and bands


@dataclass(frozen=True)
class Image:
    """Image properties in a header (CCSDS 123.0-B-2, 5.3.2).

    Parameters
    ----------
    n_bands, n_rows, n_columns : int
        NZ, NY and NX, each in 1..65536.
    bit_depth : int
        D, 2..32 bits.
    signed : bool
        True if samples are two's complement.

    Examples
    --------
    >>> from gangsaw.codecs.ccsds123 import Image
    >>> image = Image(n_bands=4, n_rows=8, n_columns=8, bit_depth=12, signed=False)
    >>> image.shape, image.dtype.name, image.highest
    ((4, 8, 8), 'uint16', 4095)
    """

    n_bands: int
    n_rows: int
    n_columns: int
    bit_depth: int
    signed: bool

    def __post_init__(self) -> None:
        """Check every extent against the 16-bit fields of the header."""
        for name in ("n_bands", "n_rows", "n_columns"):
            require_int(name, getattr(self, name), 1, MAX_EXTENT)
        require_int("bit_depth", self.bit_depth, 2, 32)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape (z, y, x)."""
        return self.n_bands, self.n_rows, self.n_columns

    @property
    def n_samples(self) -> int:
        """Number of samples, NZ * NY * NX."""
        return self.n_bands * self.n_rows * self.n_columns

    @property
    def dtype(self) -> Dtype:
        """Smallest integer dtype of 8, 16 or 32 bits for D bits, in native byte order."""
        width = next(bits for bits in (8, 16, 32) if self.bit_depth <= bits)
        return np.dtype(f"{'' if self.signed else 'u'}int{width}")

    @property
    def lowest(self) -> int:
        """Smallest sample value, s_min."""
        return -(1 << (self.bit_depth - 1)) if self.signed else 0

    @property
    def highest(self) -> int:
        """Largest sample value, s_max."""
        return self.lowest + (1 << self.bit_depth) - 1

    @property
    def middle(self) -> int:
        """Middle sample value, s_mid."""
        return 0 if self.signed else 1 << (self.bit_depth - 1)


@dataclass(frozen=True)
class SupplementaryTable:
    """Supplementary information table (123.0-B-2, 5.3.2), as stored in the header.

    Parameters
    ----------
    data : bytes
        The whole table with its two or more leading header bytes.

    Examples
    --------
    >>> from gangsaw.codecs.ccsds123 import Params, SupplementaryTable
    >>> Params(supplementary=(SupplementaryTable(bytes(4)),)).to_dict()["supplementary"]
    ['00000000']
    """

    data: bytes
