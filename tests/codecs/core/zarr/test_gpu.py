"""GPU backends under zarr with its GPU buffers: bytes of the CPU, emulated or, by -m gpu, not."""

from __future__ import annotations

import random
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.clean_pool import clean_pool
from helpers.counting_store import CountingStore
from helpers.every_codec import (
    Case,
    assert_same_bits,
    coder,
    forged,
    gpu_cases,
    label,
    one_of_each,
    over,
    package,
    v2_type,
)
from helpers.zarr_arrays import CHUNK, PIPELINES, SELECTIONS, create, own_pool
from plain_codec import gpu as plain_gpu
from plain_codec.codec import Plain
from zarr.errors import ZarrUserWarning
from zarr.registry import register_codec
from zarr.storage import LocalStore

from gangsaw.codecs.core import record
from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.cuda import launch as core_gpu
from gangsaw.codecs.core.errors import CorruptChunk, DeviceError

CASES = gpu_cases()
LONG = {"dna-dense-lanes", "dna-dense-masked"}  # shorter ones: tests/codecs/dna/test_gpu_dense.py
SLOW = {False: (), True: pytest.mark.full}
marked = [pytest.param(case, id=label(case), marks=SLOW[label(case) in LONG]) for case in CASES]
every_case = over(marked)
one_case = over(one_of_each(CASES))
# of an encode: cases that kernels take
LAUNCHES = {"ccsds123-default": 2, "visibility-fast": 4, "visibility-default": 8}
LAUNCHES |= {"reads-offset-lengths": 3, "dna-pack-bases": 1}
kernel_case = over([case for case in CASES if label(case) in LAUNCHES])
V3: dict[str, Any] = {"zarr_format": 3, "compressors": None, "config": {"write_empty_chunks": True}}


@contextmanager
def on_gpu(**settings: Any) -> Iterator[None]:
    with zarr.config.enable_gpu(), zarr.config.set(settings):
        yield


def store_of(case: Case, copies: int = 1) -> tuple[CountingStore, zarr.Array[Any]]:
    """An array of chunks that are the sample, along its first axis; nothing is written."""
    store = CountingStore()
    shape = (*(copies * n for n in case.array.shape[:1]), *case.array.shape[1:])
    options = {"shape": shape, "chunks": case.array.shape, "dtype": native(case), **V3}
    return store, zarr.create_array(store, serializer=case.codec, **options)


def native(case: Case) -> np.dtype[Any]:
    """Its dtype in the machine's byte order: CuPy has no other."""
    return case.array.dtype.newbyteorder("=")


def chunks_of(store: CountingStore) -> list[bytes]:
    return [data.to_bytes() for key, data in store._store_dict.items() if key.startswith("c/")]


# the codec alone


@every_case
def test_both_sides_write_and_read_the_same_bytes(case: Case, cupy: Any) -> None:
    data = case.encode()
    assert case.encode(cupy) == data
    assert_same_bits(case.decode(data, cupy), case.array)
    assert_same_bits(case.decode(data), case.array)


@every_case
def test_memory_order_changes_no_byte(case: Case, cupy: Any) -> None:
    strided = cupy.asarray(np.repeat(case.array, 2, axis=-1).T)[::2].T
    data = case.encode()
    assert case.codec.encode_chunk(strided) == data
    out = cupy.zeros(case.array.shape, native(case), order="F")
    case.codec.decode_chunk(data, out)
    assert_same_bits(out.get(), case.array)


@every_case
def test_forged_blocks_decode_as_on_the_cpu(case: Case, cupy: Any) -> None:
    """Damage below checksums that hold: the same error or the same samples, and no fault."""
    plan = coder(case)
    data = case.encode()
    blocks = frame.unpack(data, plan.layout)
    rng = np.random.default_rng(blocks.n_bytes)
    for _ in range(6):
        wrong = frame.pack(forged(blocks, rng), plan.layout)
        expected, found = outcome(case, wrong, np), outcome(case, wrong, cupy)
        if isinstance(expected, CorruptChunk):
            assert isinstance(found, CorruptChunk)
            assert (found.block is None) == (expected.block is None)  # of the frame, or of a block
        else:
            assert_same_bits(found, expected)
    assert_same_bits(case.decode(data, cupy), case.array)  # the context is usable


def outcome(case: Case, data: bytes, library: Any) -> Any:
    try:
        return case.decode(data, library)
    except CorruptChunk as error:
        return error


@one_case
def test_damaged_frames_never_reach_the_device(case: Case, cupy: Any, monkeypatch: Any) -> None:
    data = case.encode()
    rng = random.Random(label(case))
    with monkeypatch.context() as patch:
        patch.delattr(cupy, "RawModule")
        for _ in range(50):
            damaged = bytearray(data)
            damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            with pytest.raises(CorruptChunk):
                case.decode(damaged, cupy)


@one_case
def test_operations_are_recorded_as_the_gpus(case: Case, cupy: Any) -> None:
    name = case.codec_type.codec_name
    record.reset()
    case.decode(case.encode(cupy), cupy)
    totals = record.snapshot()
    assert totals[name, "encode", "gpu"].raw_bytes == case.array.nbytes
    assert totals[name, "decode", "gpu"].count == 1


# under zarr


@every_case
def test_zarr_v3(case: Case, cupy: Any) -> None:
    store, array = store_of(case)
    array[...] = case.array
    with on_gpu():
        again = zarr.open_array(store, mode="r")[...]
        assert isinstance(again, cupy.ndarray if case.array.ndim else np.generic)
        assert_same_bits(cupy.asnumpy(again), case.array)
        other, array = store_of(case)
        array[...] = cupy.asarray(case.array)
    assert chunks_of(other) == chunks_of(store)
    assert_same_bits(zarr.open_array(other, mode="r")[...], case.array)


@one_case
def test_zarr_v2(case: Case, cupy: Any) -> None:
    place = {"shape": case.array.shape, "dtype": case.array.dtype}
    codec = v2_type(case.codec_type)(**place, **vars(case.sample.params))
    store = CountingStore()
    options = {"shape": case.array.shape, "chunks": case.array.shape, "dtype": case.array.dtype}
    with on_gpu():
        array = zarr.create_array(store, zarr_format=2, compressors=codec, **options)
        array[...] = in_order = cupy.asarray(np.asarray(case.array, order="C"))
        assert codec.encode(in_order) == case.encode()
        again = zarr.open_array(store, mode="r")[...]
        assert isinstance(again, cupy.ndarray)
        assert_same_bits(again.get(), case.array)
    assert_same_bits(zarr.open_array(store, mode="r")[...], case.array)


@one_case
def test_xarray(case: Case, cupy: Any, tmp_path: Path) -> None:
    dims = [f"axis{i}" for i in range(case.array.ndim)]
    encoding = {"chunks": case.array.shape, "serializer": case.codec, "compressors": ()}
    xr.Dataset({"cube": (dims, case.array)}).to_zarr(
        tmp_path / "a", zarr_format=3, consolidated=False, encoding={"cube": encoding}
    )
    with on_gpu():
        found = xr.open_zarr(tmp_path / "a", consolidated=False, chunks=None)["cube"].data
    assert isinstance(found, cupy.ndarray)
    assert_same_bits(found.get(), case.array)


@kernel_case
@pytest.mark.parametrize("size", [1, 4], ids=["chunk", "batch"])
def test_a_batch_of_chunks_is_one_call(case: Case, cupy: Any, monkeypatch: Any, size: int) -> None:
    launches: list[str] = []
    operation = "encode"

    @contextmanager
    def counted() -> Iterator[None]:
        launches.append(operation)
        yield

    monkeypatch.setattr(core_gpu, "around_launch", counted)
    samples = np.concatenate([case.array] * 4)
    with on_gpu(**{"codec_pipeline.batch_size": size}):
        store, array = store_of(case, copies=4)
        array[...] = cupy.asarray(samples)
        operation = "decode"
        np.testing.assert_array_equal(zarr.open_array(store, mode="r")[...].get(), samples)
    assert launches.count("decode") == 4 // size
    assert launches.count("encode") == LAUNCHES[label(case)] * (4 // size)


@pytest.fixture(params=PIPELINES)
def plain(request: pytest.FixtureRequest, cupy: Any) -> Iterator[str]:
    """A codec that needs no kernel, under each of zarr's pipelines, on the GPU."""
    register_codec("test.plain", Plain)
    plain_gpu.CALLS.clear()
    path = f"zarr.core.codec_pipeline.{request.param}"
    settings = {"codec_pipeline.path": path, "codec_pipeline.batch_size": 8}
    with on_gpu(**settings), own_pool():
        yield request.param


DATA = np.arange(480, dtype="i2").reshape(24, 20) - 100


@pytest.mark.parametrize("name", sorted(SELECTIONS.keys() - {"vindex"}))  # zarr takes it home
def test_a_selection_reads_the_same_as_numpy(plain: str, cupy: Any, name: str) -> None:
    store = CountingStore()
    create(store, cupy.asarray(DATA))
    found = SELECTIONS[name](zarr.open_array(store, mode="r"))
    np.testing.assert_array_equal(found.get(), SELECTIONS[name](DATA))


def test_a_window_decodes_only_its_blocks_on_the_device(plain: str, cupy: Any) -> None:
    store = CountingStore()
    array = create(store, cupy.asarray(DATA))
    plan = Plain().coder(CHUNK, DATA.dtype)
    store.reads.clear()
    plain_gpu.CALLS.clear()
    np.testing.assert_array_equal(array[10:14, 2:5].get(), DATA[10:14, 2:5])
    block = 5 + 4 * 4 * 2
    index = plan.layout.index_size
    touched = [index, 2 * block, index, 2 * block]  # two blocks, side by side, of each chunk
    assert sorted(size for _, size in store.reads) == sorted(touched)
    assert sum(n for _, n in plain_gpu.CALLS) == 4
    if plain == "BatchedCodecPipeline":
        assert plain_gpu.CALLS == [("decode", 4)]


def test_frames_make_no_way_over_the_device(plain: str, cupy: Any, monkeypatch: Any) -> None:
    """Stores give and take host bytes; only samples cross."""
    from zarr.core.buffer import gpu as zarr_gpu

    made = []
    before = zarr_gpu.Buffer.__init__

    def count(self: Any, array_like: Any) -> None:
        made.append(len(array_like))
        before(self, array_like)

    monkeypatch.setattr(zarr_gpu.Buffer, "__init__", count)
    store = CountingStore()
    create(store, cupy.asarray(DATA))[...]
    assert not {len(frame) for frame in chunks_of(store)} & set(made)


def test_shards_hold_it_as_inner_codec(plain: str, cupy: Any) -> None:
    store = CountingStore()
    with warnings.catch_warnings():  # of zarr, that it copies what lies in a shard to the device
        warnings.simplefilter("ignore", ZarrUserWarning)
        create(store, cupy.asarray(DATA), shards=(24, 20))
        array = zarr.open_array(store, mode="r")
        for name in ("slice", "integer", "step", "oindex", "mask", "all"):
            found = SELECTIONS[name](array)
            np.testing.assert_array_equal(found.get(), SELECTIONS[name](DATA), err_msg=name)


def test_it_goes_with_filters_and_compressors(plain: str, cupy: Any) -> None:
    codecs = {
        "filters": [zarr.codecs.TransposeCodec(order=(1, 0))],
        "compressors": [zarr.codecs.Crc32cCodec()],
        "serializer": Plain(block=(5, 3)),
    }
    with warnings.catch_warnings():  # of zarr's checksum, that it copies to the device
        warnings.simplefilter("ignore", ZarrUserWarning)
        array = create(CountingStore(), cupy.asarray(DATA), **codecs)
        np.testing.assert_array_equal(array[3:20, 5:7].get(), DATA[3:20, 5:7])


@pytest.mark.parametrize("byte", [3, 20, 40, -1], ids=["magic", "header", "index", "block"])
@pytest.mark.parametrize("selection", [np.s_[0, 11], np.s_[:]], ids=["part", "whole"])
def test_damage_names_store_chunk_and_block(
    plain: str, cupy: Any, tmp_path: Path, byte: int, selection: Any
) -> None:
    store = LocalStore(tmp_path / "damaged.zarr")
    create(store, cupy.asarray(DATA), name="cube")
    path = tmp_path / "damaged.zarr/cube/c/0/1"
    plan = Plain().coder(CHUNK, DATA.dtype)
    content = bytearray(path.read_bytes())
    content[byte if byte >= 0 else plan.layout.index_size + 8] ^= 4
    path.write_bytes(content)
    block = r", block 0" if byte < 0 else ""
    with pytest.raises(CorruptChunk, match=rf"damaged\.zarr, chunk cube/c/0/1{block}:"):
        zarr.open_array(store, path="cube", mode="r")[selection]


def test_a_forged_block_of_a_batch_names_its_chunk(plain: str, cupy: Any, tmp_path: Path) -> None:
    """The device finds it, among the blocks of four chunks, by its place in the launch."""
    store = LocalStore(tmp_path / "forged.zarr")
    create(store, cupy.asarray(DATA), name="cube")
    path = tmp_path / "forged.zarr/cube/c/1/0"
    layout = Plain().coder(CHUNK, DATA.dtype).layout
    blocks = frame.unpack(path.read_bytes(), layout)
    parts = [part.copy() for part in blocks.payloads]
    parts[4][0] ^= 1
    path.write_bytes(frame.pack(type(blocks)(tuple(parts), blocks.lane_bits), layout))
    with pytest.raises(CorruptChunk, match=r"forged\.zarr, chunk cube/c/1/0, block 4: wrong"):
        zarr.open_array(store, path="cube", mode="r")[...]


# device memory


@pytest.fixture
def room(cupy: Any) -> Iterator[Any]:
    """Call it with how many bytes beyond those in use the device shall have."""
    pool = clean_pool(cupy)
    yield lambda n_bytes: pool.set_limit(size=pool.used_bytes() + n_bytes)
    pool.set_limit(size=0)


def test_a_batch_that_does_not_fit_is_split(plain: str, cupy: Any, room: Any) -> None:
    samples = cupy.asarray(DATA)
    coder = Plain().coder(CHUNK, DATA.dtype)
    plain_gpu.CALLS.clear()
    room(6 * 512)
    data = coder.encode(samples[: CHUNK[0], : CHUNK[1]])
    assert plain_gpu.CALLS == [("encode", 4), ("encode", 5)]
    assert data == coder.encode(np.ascontiguousarray(DATA[: CHUNK[0], : CHUNK[1]]))


def test_a_block_that_does_not_fit_says_so(plain: str, cupy: Any, room: Any) -> None:
    samples = cupy.asarray(DATA)
    room(100)
    coder = Plain().coder(DATA.shape, DATA.dtype)
    with pytest.raises(DeviceError, match="too little memory on the GPU for block 0: "):
        coder.encode(samples)


def bytes_of_a_block(case: Case, block: Any) -> int:
    """What the codec's formula says that its encoder takes of a device."""
    backend = import_module(f"{package(case.codec_type)}.gpu")
    return int(backend.encoder_bytes(block, case.sample.params))


@kernel_case
def test_the_memory_promise_is_kept_and_splits(case: Case, cupy: Any, room: Any) -> None:
    """What one block needs at most is room enough for all, one by one; and for all at once."""
    plan = coder(case)
    one = bytes_of_a_block(case, plan.views(case.array)[0])
    data, samples = case.encode(), cupy.asarray(case.array)
    out = cupy.empty(case.array.shape, native(case))
    for blocks in (1, plan.grid.n_blocks):
        room(blocks * one)
        assert case.codec.encode_chunk(samples) == data
        case.codec.decode_chunk(data, out)
        assert_same_bits(out.get(), case.array)


TWO = """
import sys
sys.path[:0] = {path!r}
import cupy
from helpers.every_codec import gpu_cases
for case in gpu_cases()[:4]:
    assert (case.decode(case.encode(cupy), cupy) == case.array).all()
print("equal")
"""


@pytest.mark.gpu
def test_two_processes_share_a_device() -> None:
    code = TWO.format(path=sys.path)
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [process.communicate()[0] for process in both] == ["equal\n"] * 2
