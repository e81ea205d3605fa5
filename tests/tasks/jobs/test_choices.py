"""What is chosen for a user: bit depth, codec parameters, chunks, blocks; and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import gangsaw
from gangsaw.codecs.ccsds123.selection import bit_depth, default_block
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.contents import CONTENT, NUCLEOTIDES, READ_NAMES
from gangsaw.tasks.formats.flat.flat_array import FlatArray
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.hyperspectral.synthetic import make_scene
from gangsaw.tasks.jobs.choice.choose import facts_of
from gangsaw.tasks.jobs.choice.extremes import find_extremes
from gangsaw.tasks.jobs.choice.recipe import Recipe
from gangsaw.tasks.store.arrays.layout import CHUNK_BYTES, default_chunks


def image(values: Any, dims: tuple[str, ...] = ("band", "y", "x")) -> MemoryArray:
    return MemoryArray(values, dims)


@given(
    dtype=st.sampled_from(["u1", "i1", "u2", "i2", ">u2", "u4", "i4"]),
    seed=st.integers(0, 1000),
    shift=st.integers(0, 31),
)
def test_auto_is_the_fewest_bits_that_hold_all(dtype: str, seed: int, shift: int) -> None:
    kind = np.dtype(dtype)
    limits = np.iinfo(kind)
    rng = np.random.default_rng(seed)
    native = kind.newbyteorder("=")
    samples = rng.integers(limits.min, limits.max, (2, 3, 4), native, endpoint=True).astype(kind)
    samples >>= min(shift, 8 * kind.itemsize - 1)
    bits = bit_depth(facts_of(image(samples)), "auto")
    low, high = int(samples.min()), int(samples.max())

    def holds(d: int) -> bool:
        return (
            (-(1 << (d - 1)) <= low and high < 1 << (d - 1)) if kind.kind == "i" else high < 1 << d
        )

    assert holds(bits)
    assert bits == 2 or not holds(bits - 1)
    assert bit_depth(facts_of(image(samples)), bits) == bits
    if bits > 2:
        with pytest.raises(BadParams, match=f"needs {bits} bits, --bit-depth is {bits - 1}"):
            bit_depth(facts_of(image(samples)), bits - 1)


def test_extremes_are_found_over_all_chunks() -> None:
    samples = np.zeros((3, 40, 50), "i4")
    samples[2, 39, 49], samples[1, 0, 3] = 7, -9
    array = MemoryArray(samples, ("band", "y", "x"), chunks=(2, 16, 16))
    found = find_extremes(array)
    assert (found.low, found.low_at) == (-9, (1, 0, 3))
    assert (found.high, found.high_at) == (7, (2, 39, 49))


SHAPES = [
    ((224, 512, 614), ("band", "y", "x")),
    ((512, 614, 224), ("y", "x", "band")),
    ((3, 10_000, 10_000), ("band", "y", "x")),
    ((3000, 1000, 800), ("band", "y", "x")),
    ((7, 50, 600, 600), ("time", "band", "y", "x")),
    ((5000, 5000), ("y", "x")),
    ((30_000_000,), ("x",)),
    ((10**9,), ("sample",)),
    ((3, 10**7), ("run", "sample")),
    ((10**6, 2, 2, 2), ("step", "a", "b", "c")),
]


@pytest.mark.parametrize(("shape", "dims"), SHAPES)
def test_chunks_waste_next_to_no_padding(shape: tuple[int, ...], dims: tuple[str, ...]) -> None:
    array = FlatArray("nowhere", shape, "<u2", dims)
    chunks = default_chunks(array)
    padded = math.prod(-(-n // c) * c for n, c in zip(shape, chunks, strict=True))
    assert padded <= 1.01 * math.prod(shape)
    assert 2 * math.prod(chunks) <= 4 * CHUNK_BYTES  # more only for one tile of all bands


@pytest.mark.parametrize(
    ("shape", "chunks"),
    [
        ((10**6, 2, 2, 2), (62_500, 2, 2, 2)),
        ((1000, 1000, 2, 2, 2), (63, 1000, 2, 2, 2)),
        ((4, 1, 300, 300), (4, 1, 300, 300)),
        ((4, 3, 1000, 1000), (1, 3, 1000, 1000)),
        ((0, 2, 2, 2), (1, 2, 2, 2)),
        ((2, 0, 3, 4, 5), (2, 1, 3, 4, 5)),
    ],
)
def test_chunks_of_small_images_hold_several(
    shape: tuple[int, ...], chunks: tuple[int, ...]
) -> None:
    dims = tuple("uvwxy"[: len(shape)])
    assert default_chunks(FlatArray("nowhere", shape, "<u2", dims)) == chunks


@pytest.mark.parametrize("extent", [1, 10, 127, 128, 129, 145, 191, 193, 256, 300, 349, 1112])
def test_blocks_leave_no_slivers(extent: int) -> None:
    _, y, x = default_block((50, extent, extent), "zyx")
    for block, tile in ((y, 128), (x, 256)):
        rest = extent % block or block
        assert rest == extent or rest > 0.6 * block
        assert block <= 1.5 * tile


@pytest.mark.parametrize(
    ("dims", "axes"),
    [(("band", "y", "x"), "zyx"), (("y", "band", "x"), "yzx"), (("y", "x", "band"), "yxz")],
)
def test_a_named_codec_gets_the_axes(dims: tuple[str, ...], axes: str) -> None:
    source = Holder((image(np.zeros((2, 3, 4), "u2"), dims),))
    for name in ("auto", "ccsds123", "gangsaw.ccsds123"):
        codec: Any = Recipe(name, {"prediction_bands": 1}).codecs(source, None)["data"]
        assert (codec.params.axes, codec.params.prediction_bands) == (axes, 1)


def genome() -> Holder:
    """Letters, and names, which no codec of letters takes."""
    dims, letters = ("residue",), np.frombuffer(b"ACGT" * 1000, np.uint8)
    names = np.frombuffer(b"chr1\n" * 1000, np.uint8)
    return Holder(
        (
            MemoryArray(letters, dims, "sequence", attrs={CONTENT: NUCLEOTIDES}),
            MemoryArray(names, dims, "name", attrs={CONTENT: READ_NAMES}),
        )
    )


@pytest.mark.parametrize("name", ["dna", "auto"])
def test_parameters_go_to_the_codec_that_is_meant(name: str) -> None:
    codecs: Any = Recipe(name, {"mode": "pack"}).codecs(genome(), None)
    assert codecs["sequence"].params.mode == "pack"
    assert codecs["name"].codec_name == "gangsaw.reads"
    with pytest.raises(BadParams, match="unknown parameter 'modes'"):
        Recipe(name, {"modes": "pack"}).codecs(genome(), None)


def test_a_block_of_one_extent_is_a_number_where_the_codec_has_one(tmp_path: Path) -> None:
    """`--block 4096` of a codec of bytes, as `--block 4,32,32` of one of images."""
    (tmp_path / "a.txt").write_text("one line and another\n" * 999)
    gangsaw.compress(tmp_path / "a.txt", tmp_path / "a.zarr", block=(4096,))
    (array,) = gangsaw.info(tmp_path / "a.zarr").arrays
    assert array.params["block"] == 4096
    with pytest.raises(BadParams, match="block must be"):
        gangsaw.compress(tmp_path / "a.txt", tmp_path / "b.zarr", block=(4096, 2))


def test_a_codec_that_no_array_takes_is_refused(tmp_path: Path) -> None:
    """Not replaced by another one in silence."""
    np.ones((3, 20, 30), "<u2").tofile(tmp_path / "a.raw")
    options = {"shape": (3, 20, 30), "dtype": "uint16"}
    with pytest.raises(BadParams, match="no array can be stored with visibility: data"):
        gangsaw.compress(tmp_path / "a.raw", tmp_path / "a.zarr", codec="visibility", **options)


def test_one_axis_is_no_image() -> None:
    source = Holder((image(np.zeros(5, "u2"), ("x",)),))
    with pytest.raises(BadParams, match="codes two axes or more"):
        Recipe("ccsds123").codecs(source, None)


class Holder:
    """A source of arrays in memory."""

    name = "memory"
    coords = ()
    attrs: dict[str, Any] = {}  # noqa: RUF012  # as the protocol has it

    def __init__(self, arrays: tuple[MemoryArray, ...]) -> None:
        self.arrays = arrays

    def identity(self) -> str:
        return "memory"


def test_a_scene_is_seeded_and_like_a_real_one() -> None:
    scene = make_scene(32, 64, 48, bit_depth=12)
    assert scene.cube.shape == (32, 64, 48)
    assert np.array_equal(scene.cube, make_scene(32, 64, 48, bit_depth=12).cube)
    assert not np.array_equal(scene.cube, make_scene(32, 64, 48, bit_depth=12, seed=1).cube)
    assert 1 << 11 < scene.cube.max() < 1 << 12
    # neighbours are alike in space and across bands, or it would not compress like a scene
    cube = make_scene(96, 128, 128).cube
    assert np.corrcoef(cube[20].ravel(), cube[21].ravel())[0, 1] > 0.9
    assert np.corrcoef(cube[20, :, 1:].ravel(), cube[20, :, :-1].ravel())[0, 1] > 0.7
    with pytest.raises(BadParams, match=r"12\.\.16"):
        make_scene(bit_depth=20)
    with pytest.raises(BadParams, match="positive extents"):
        make_scene(0, 1, 1)


def test_integers_of_64_bits_are_told(tmp_path: Path) -> None:
    wide = {f"a{i}": (("y", "x"), np.arange(12).reshape(3, 4)) for i in range(7)}
    data = xr.Dataset({**wide, "one": ("y", np.arange(3)), "image": (("y", "x"), np.ones((3, 4)))})
    (note,) = gangsaw.compress(data, tmp_path / "a.zarr").notes
    assert "64 bits" in note
    assert "zstd: a0, a1, a2, a3, a4 and 2 more" in note
    narrow = gangsaw.compress(data, tmp_path / "b.zarr", codec="ccsds123", variables=["a0"])
    assert not narrow.notes
