"""Order of samples in a stream's body (CCSDS 123.0-B-2, 5.4.2), for encoder and decoder."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.params import Image, Params
from gangsaw.codecs.ccsds123.wave.output import SampleTarget, put_residual
from gangsaw.codecs.core.arrays import Run
from gangsaw.codecs.core.numba.jit import jit


def coding_order(
    delta: npt.NDArray[np.uint32], image: Image, params: Params
) -> npt.NDArray[np.uint32]:
    """Return delta[t, z] in the order of the body (CCSDS 123.0-B-2, 5.4.2): (n_samples,) uint32."""
    if params.order == "bsq":
        return delta.T.reshape(-1)
    rows = delta.reshape(image.n_rows, image.n_columns, image.n_bands)
    out = np.empty((image.n_rows, image.n_columns * image.n_bands), np.uint32)
    for group, place in _groups(image, params):
        out[:, place] = rows[:, :, group].reshape(image.n_rows, -1)
    return out.reshape(-1)


def _groups(image: Image, params: Params) -> list[tuple[Run, Run]]:
    """Return for each group of M bands its bands, and its positions in a coded row of the image."""
    n, depth = image.n_bands, params.interleave_depth
    ends = [(first, min(first + depth, n)) for first in range(0, n, depth)]
    columns = image.n_columns
    return [(slice(a, b), slice(columns * a, columns * b)) for a, b in ends]


def place_coded(
    place: SampleTarget,
    residuals: npt.NDArray[np.uint32],
    first: int,
    image: Image,
    params: Params,
) -> None:
    """Write residuals to the positions of their samples: inverse of `coding_order`.

    first : number of the first residual in the body's order
    """
    bands, rows, columns = image.shape
    if params.order == "bsq":
        z, t = divmod(first, rows * columns)
        _place_bands(place, residuals, z, t, rows, columns)
        return
    y, n = divmod(first, bands * columns)
    depth = params.interleave_depth
    low = n // (columns * depth) * depth
    x, z = divmod(n - columns * low, min(depth, bands - low))
    _place_rows(place, residuals, (low, low + z, y, x), bands, columns, depth)


@jit
def _place_bands(
    place: SampleTarget, residuals: npt.NDArray[np.uint32], z: int, t: int, rows: int, columns: int
) -> None:
    y = t // columns
    x = t - y * columns
    for value in residuals:
        put_residual(place, z, y, x, value)
        x += 1
        if x == columns:
            x, y = 0, y + 1
        if y == rows:
            y, z = 0, z + 1


@jit
def _place_rows(
    place: SampleTarget,
    residuals: npt.NDArray[np.uint32],
    at: tuple[int, int, int, int],
    bands: int,
    columns: int,
    depth: int,
) -> None:
    """Write residuals, which are in BI order, to the positions of their samples.

    at : first band of the group, band, row and column of the first residual
    """
    low, z, y, x = at
    for value in residuals:
        put_residual(place, z, y, x, value)
        z += 1
        if z == min(low + depth, bands):
            z, x = low, x + 1
        if x == columns:
            low, x = low + depth, 0
            if low >= bands:
                low, y = 0, y + 1
            z = low
