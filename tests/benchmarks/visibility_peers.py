"""What else compresses visibilities without loss, as it is used: orders and settings by name.

The settings are those that won on a file of the real set when some sixty were tried on each, and
the usual ones. Every codec works on one thread but Sisco, whose CPU seconds are of all its threads.
"""

from __future__ import annotations

import bz2
import gzip
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.bench.peers import Coded, Peer, whole

Cube = npt.NDArray[Any]  # (time, frequency, rest) complex, C order
Order = Callable[[Cube], list[Cube]]  # the arrays that a codec is given, one after the other
Encode = Callable[[Cube], Coded]
Decode = Callable[[Coded, Cube], Cube]  # an array of the bits of the second, which gives the dtype
SISCO = {"no prediction": -1, "quadratic": 2}
DIFFERENCES = "differences in frequency, blosc2 bitshuffle4+zstd5"
LEVEL = 9  # of the deflate within Sisco: its default


def peers(cube: Cube) -> Iterator[Peer]:
    """Yield every codec that is installed and takes the cube's dtype."""
    for setting in _settings(cube):
        yield setting.peer(cube)
    if find_spec("casacore") is not None and cube.dtype == np.complex64:
        for name, level in SISCO.items():
            sisco = _Sisco(cube, level)
            yield whole(f"Sisco {name}", sisco.encode, sisco.decode)


@dataclass(frozen=True)
class _Setting:
    """A codec in one order of the data.

    Attributes
    ----------
    order : the arrays that are encoded, from the cube
    restore : the cube of given shape and dtype, from those arrays
    """

    name: str
    encode: Encode
    decode: Decode
    order: Order
    restore: Callable[[list[Cube], Cube], Cube]

    def peer(self, cube: Cube) -> Peer:
        """Bind the setting to a cube, whose shape and dtype decoding needs."""
        likes = [np.empty_like(part) for part in self.order(cube)]

        def encode(data: Cube) -> list[Coded]:
            return [self.encode(part) for part in self.order(data)]

        def decode(coded: Sequence[Coded]) -> Cube:
            parts = [self.decode(c, like) for c, like in zip(coded, likes, strict=True)]
            return self.restore(parts, cube)

        return Peer(self.name, encode, decode)


def _settings(cube: Cube) -> Iterator[_Setting]:
    for name, codec in _general().items():
        yield _Setting(name, *codec, _as_stored, _from_stored)
    if find_spec("blosc2") is not None:
        yield _Setting(DIFFERENCES, *_blosc2(4, "BIT", "ZSTD", 5), _differences, _from_differences)
    if find_spec("pcodec") is not None:
        pcodec = _pcodec()
        yield _Setting("pcodec level 8", *pcodec, _components, _from_stored)
        yield _Setting("pcodec level 8, re and im split", *pcodec, _split, _from_split)
        yield _Setting("pcodec level 8, time fastest", *pcodec, _time_fastest, _from_time_fastest)
    if find_spec("fpzip") is not None:
        yield _Setting("fpzip", *_fpzip(), _components, _from_stored)
        yield _Setting("fpzip time fastest", *_fpzip(), _time_fastest, _from_time_fastest)


def _general() -> dict[str, tuple[Encode, Decode]]:
    """Codecs of bytes."""
    from numcodecs import Zstd

    found = {
        "gzip -6": (partial(gzip.compress, compresslevel=6), _of_bytes(gzip.decompress)),
        "bzip2 -9": (partial(bz2.compress, compresslevel=9), _of_bytes(bz2.decompress)),
        "zstd -3": (Zstd(level=3).encode, _of_bytes(Zstd().decode)),
    }
    if find_spec("blosc2") is not None:
        found["blosc2 shuffle8+zstd5"] = _blosc2(8, "", "ZSTD", 5)
        found["blosc2 shuffle4+zstd5"] = _blosc2(4, "", "ZSTD", 5)
        found["blosc2 shuffle4+zstd1"] = _blosc2(4, "", "ZSTD", 1)
        found["blosc2 bitshuffle8+lz4"] = _blosc2(8, "BIT", "LZ4", 5)
    return found


def _of_bytes(decode: Callable[[Any], Any]) -> Decode:
    return lambda data, like: np.frombuffer(decode(data), like.dtype)


def _blosc2(typesize: int, filtered: str, codec: str, level: int) -> tuple[Encode, Decode]:
    import blosc2

    settings = {
        "typesize": typesize,
        "codec": blosc2.Codec[codec],
        "clevel": level,
        "filters": [blosc2.Filter[f"{filtered}SHUFFLE"]],
        "nthreads": 1,
    }
    encode = partial(blosc2.compress2, **settings)
    return encode, _of_bytes(partial(blosc2.decompress2, nthreads=1))


def _pcodec() -> tuple[Encode, Decode]:
    from pcodec import ChunkConfig, standalone

    config = ChunkConfig(compression_level=8)
    return (
        lambda part: standalone.simple_compress(part.ravel(), config),
        lambda data, _: standalone.simple_decompress(data),
    )


def _fpzip() -> tuple[Encode, Decode]:
    import fpzip

    return (
        lambda part: fpzip.compress(part, precision=0, order="C"),
        lambda data, _: fpzip.decompress(data, order="C"),
    )


def _component(cube: Cube) -> np.dtype[Any]:
    return np.dtype(f"f{cube.itemsize // 2}")


def _as_stored(cube: Cube) -> list[Cube]:
    return [cube.reshape(-1).view(np.uint8)]


def _components(cube: Cube) -> list[Cube]:
    return [cube.view(_component(cube))]


def _from_stored(parts: list[Cube], cube: Cube) -> Cube:
    return parts[0].view(cube.dtype).reshape(cube.shape)


def _split(cube: Cube) -> list[Cube]:
    return [np.ascontiguousarray(part) for part in (cube.real, cube.imag)]


def _from_split(parts: list[Cube], cube: Cube) -> Cube:
    return _joined([part.reshape(cube.shape) for part in parts], cube)


def _time_fastest(cube: Cube) -> list[Cube]:
    return [np.ascontiguousarray(np.moveaxis(part, 0, -1)) for part in (cube.real, cube.imag)]


def _from_time_fastest(parts: list[Cube], cube: Cube) -> Cube:
    turned = (*cube.shape[1:], cube.shape[0])
    return _joined([np.moveaxis(part.reshape(turned), -1, 0) for part in parts], cube)


def _joined(parts: list[Cube], cube: Cube) -> Cube:
    """Put re and im together bit by bit; `re + 1j * im` would change NaN and zeros."""
    joined = np.empty((*cube.shape, 2), _component(cube))
    for i, part in enumerate(parts):
        joined[..., i] = part
    return joined.view(cube.dtype)[..., 0]


def _differences(cube: Cube) -> list[Cube]:
    """Differences of the bits of neighbours in frequency modulo 2^w, sign last."""
    bits = cube.view(f"u{cube.itemsize // 2}")
    ahead = np.diff(bits, axis=1, prepend=np.zeros_like(bits[:, :1]))
    return [ahead << 1 ^ -(ahead >> 8 * bits.itemsize - 1)]


def _from_differences(parts: list[Cube], cube: Cube) -> Cube:
    coded = parts[0].reshape(*cube.shape[:-1], 2 * cube.shape[-1])
    ahead = coded >> 1 ^ -(coded & 1)
    return np.cumsum(ahead, axis=1, dtype=ahead.dtype).view(cube.dtype)


class _Sisco:
    """Casacore's lossless storage manager, in a column of a table as in a MeasurementSet.

    Its rows are (frequency, polarisation) of one baseline; it predicts in frequency, and codes the
    bytes of sign, exponent and mantissa apart. Times include the table's own.
    """

    def __init__(self, cube: Cube, level: int) -> None:
        self.shape, self.level = cube.shape, level
        n_rest = cube.shape[2]
        self.n_pol = next(n for n in (4, 2, 1) if n_rest % n == 0)
        folder = tempfile.mkdtemp()
        self.path = str(Path(folder) / "table")
        weakref.finalize(self, shutil.rmtree, folder)

    def encode(self, cube: Cube) -> bytes:
        """Write a table; return the column's file."""
        from casacore import tables

        n_times, n_channels, n_rest = self.shape
        n_baselines = n_rest // self.n_pol
        with tables.table(
            self.path,
            self._description(),
            nrow=n_times * n_baselines,
            dminfo=self._manager(),
            ack=False,
        ) as table:
            for name, antennas in (("ANTENNA1", 0), ("ANTENNA2", 1)):
                table.putcol(name, np.tile(np.arange(n_baselines) + antennas, n_times))
            split = cube.reshape(n_times, n_channels, n_baselines, self.n_pol)
            for i, row in enumerate(split.swapaxes(1, 2).reshape(-1, n_channels, self.n_pol)):
                table.putcell("DATA", i, row)
        return (Path(self.path) / "table.f0").read_bytes()

    def decode(self, _: Coded) -> Cube:
        """Read the table that was written last."""
        from casacore import tables

        n_times, n_channels = self.shape[:2]
        with tables.table(self.path, ack=False) as table:
            rows = np.stack([table.getcell("DATA", i) for i in range(table.nrows())])
        split = rows.reshape(n_times, -1, n_channels, self.n_pol).swapaxes(1, 2)
        return np.ascontiguousarray(split).reshape(self.shape)

    def _description(self) -> Any:
        from casacore import tables

        cells = [self.shape[1], self.n_pol]
        data = tables.makearrcoldesc(
            "DATA", 0j, 2, cells, "SiscoStMan", "data", valuetype="complex"
        )
        keys = ("FIELD_ID", "ANTENNA1", "ANTENNA2", "DATA_DESC_ID")  # it tells baselines by them
        return tables.maketabdesc([data, *(tables.makescacoldesc(key, 0) for key in keys)])

    def _manager(self) -> dict[str, Any]:
        spec = {"predict_level": self.level, "deflate_level": LEVEL}
        return {"*1": {"NAME": "data", "TYPE": "SiscoStMan", "COLUMNS": ["DATA"], "SPEC": spec}}
