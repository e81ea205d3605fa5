"""Files of samples: maps that many reads share, and runs that are written by calls."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.engine.report.progress import Meter, Progress
from gangsaw.tasks.formats.exporting import flat_export
from gangsaw.tasks.formats.exporting.flat_export import FlatFile, join_chunks, write_flat
from gangsaw.tasks.formats.flat import memory_maps
from gangsaw.tasks.formats.flat.flat_array import FlatArray
from gangsaw.tasks.sources.open_files import close_files
from gangsaw.tasks.sources.source import Described, Region
from gangsaw.tasks.store.arrays.chunks import ChunkGrid

SHAPE, CHUNKS = (4, 30, 50), (4, 8, 16)


def cube() -> Any:
    return np.arange(np.prod(SHAPE), dtype="<u2").reshape(SHAPE)


@pytest.fixture
def array(tmp_path: Path) -> FlatArray:
    """A file of samples behind three bytes."""
    (tmp_path / "a.img").write_bytes(b"abc" + cube().tobytes())
    return FlatArray(str(tmp_path / "a.img"), SHAPE, "<u2", ("band", "y", "x"), offset=3)


@pytest.mark.parametrize("most", [0, 1 << 17, 1 << 26])
def test_reads_share_maps_of_a_bounded_size(
    array: FlatArray, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    close_files()
    monkeypatch.setattr(memory_maps, "MAPPED_BYTES", most)
    made: list[object] = []
    real = np.memmap
    monkeypatch.setattr(np, "memmap", lambda *args: made.append(args) or real(*args))
    grid = ChunkGrid(SHAPE, CHUNKS)
    for number in range(grid.n_chunks):
        region = grid.region(number)
        np.testing.assert_array_equal(array.read(region), cube()[region])
    assert len(made) == {0: grid.n_chunks, 1 << 17: 4, 1 << 26: 1}[most]
    close_files()


def test_a_map_ends_with_the_public_call_and_with_the_file(array: FlatArray) -> None:
    region = ChunkGrid(SHAPE, CHUNKS).region(0)
    view = array.read(region)
    other = Path(array.path).with_name("b")
    other.write_bytes(b"abc" + (cube() + 1).tobytes())
    other.replace(array.path)
    np.testing.assert_array_equal(array.read(region), view + 1)
    del view
    maps = Path("/proc/self/maps")
    if maps.exists():
        assert str(array.path) in maps.read_text()
        close_files()
        assert str(array.path) not in maps.read_text()
    os.truncate(array.path, 100)
    with pytest.raises(CorruptChunk, match="became shorter"):
        array.read(region)


def test_an_array_without_axes_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\x05\x00")
    assert FlatArray(str(tmp_path / "a"), (), "<u2", ()).read(()) == 5


@dataclass(frozen=True, kw_only=True)
class Cube(Described):
    """A cube in memory that counts reads."""

    reads: list[Region] = field(default_factory=list, compare=False)

    def read(self, region: Region) -> NumpyArray:
        self.reads.append(region)
        found: NumpyArray = cube()[region]
        return found


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
@pytest.mark.parametrize("slab", [1, 5000, 1 << 20])
@pytest.mark.parametrize("step", [0, 1 << 20], ids=["calls", "map"])
def test_every_sample_gets_its_place(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    order: tuple[int, ...],
    slab: int,
    step: int,
) -> None:
    monkeypatch.setattr(flat_export, "SLAB_BYTES", slab)
    monkeypatch.setattr(flat_export, "LEAST_STEP", step)
    source = Cube(
        name="data", shape=SHAPE, dtype=np.dtype("<u2"), dims=("z", "y", "x"), chunks=CHUNKS
    )
    path = tmp_path / "out"
    layout = FlatFile(SHAPE, order, np.dtype(">u2"), 3)
    path.write_bytes(bytes(layout.nbytes))
    told: list[Progress] = []
    grid = ChunkGrid(SHAPE, CHUNKS)
    write_flat(source, path, layout, Meter(grid.n_chunks, told.append), None)
    expected = cube().transpose(order).astype(">u2").tobytes()
    assert path.read_bytes() == bytes(3) + expected
    assert told[-1].done == told[-1].total == grid.n_chunks
    assert len(source.reads) == len(told)
    assert (len(told) == grid.n_chunks) == (slab == 1)


@pytest.mark.parametrize(
    ("shape", "chunks", "order", "wanted"),
    [
        ((256, 1024, 640), (256, 128, 256), (0, 1, 2), (256, 128, 640)),  # whole rows
        ((256, 1024, 640), (256, 32, 32), (0, 1, 2), (256, 64, 640)),  # short rows: several
        ((224, 9000, 6000), (224, 256, 256), (0, 1, 2), (224, 256, 512)),  # no room for more
        ((224, 1024, 640), (224, 128, 256), (1, 2, 0), (224, 128, 256)),  # long runs already
        ((10, 10), (100, 100), (0, 1), (10, 10)),
        ((), (), (), ()),
    ],
)  # fmt: skip
def test_slabs_are_chunks_that_make_longer_runs(
    shape: tuple[int, ...], chunks: tuple[int, ...], order: tuple[int, ...], wanted: tuple[int, ...]
) -> None:
    assert join_chunks(ChunkGrid(shape, chunks), order, 2).chunks == wanted
