"""The suite over every codec x sample: it finds codecs through the entry points."""

from __future__ import annotations

import inspect
import json
import pickle
import random
import re
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.every_codec import (
    Case,
    assert_same_bits,
    cases,
    coder,
    forged,
    label,
    over,
    over_codecs,
    place,
    reference,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core import record
from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, GangsawError
from gangsaw.codecs.core.memory import threads

CASES = cases()
every_case = over(CASES)
many_cases = over(CASES, of_each=3)  # what every codec is for
# what lies before the codings: a sample of each codec, kind of numbers and rank does
of_each_kind = {
    (case.codec_type, case.array.dtype.kind, case.array.ndim): case for case in reversed(CASES)
}
each_kind = over([*of_each_kind.values()])


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    threads.set_thread_limit(2)
    yield
    threads.set_thread_limit(None)


@many_cases
def test_round_trip(case: Case) -> None:
    assert_same_bits(case.decode(case.encode()), case.array)


@every_case
def test_memory_and_byte_order_change_no_byte(case: Case) -> None:
    data = case.encode()
    swapped = np.asfortranarray(case.array).astype(case.array.dtype.newbyteorder("S"))
    assert case.codec.encode_chunk(swapped) == data
    out = np.empty_like(swapped)
    case.codec.decode_chunk(data, out)
    assert_same_bits(out, case.array)


@each_kind
def test_an_array_of_another_shape_is_refused_and_left_alone(case: Case) -> None:
    data, shape = case.encode(), case.array.shape
    for axis, extent in enumerate(shape):
        for wrong in {max(extent - 1, 0), extent + 1} - {extent}:
            out = np.zeros((*shape[:axis], wrong, *shape[axis + 1 :]), case.array.dtype)
            with pytest.raises(BadParams, match="shape"):
                coder(case).decode(data, out)
            assert not out.view(np.uint8).any()


@each_kind
def test_an_array_of_another_dtype_is_refused(case: Case) -> None:
    data, array = case.encode(), case.array
    for kind in {"i1", "u1", "i2", "f8", "c8"} - {array.dtype.newbyteorder("=").str[1:]}:
        out = np.zeros(array.shape, kind)
        with pytest.raises(BadParams, match=f"chunk of {out.dtype}, expected"):
            coder(case).decode(data, out)
        with pytest.raises(BadParams, match=f"chunk of {out.dtype}, expected"):
            coder(case).encode(out)
        assert not out.any()


@each_kind
def test_a_read_only_array_is_refused_and_left_alone(case: Case) -> None:
    out = np.zeros_like(case.array)
    out.flags.writeable = False
    with pytest.raises(BadParams, match="read-only"):
        coder(case).decode(case.encode(), out)
    assert not out.any()


@each_kind
def test_extents_of_any_integer_give_the_same_coder(case: Case) -> None:
    for kind in (np.uint16, np.uint32, np.int64):
        of_numpy = case.codec.coder(np.array(case.array.shape, kind), case.array.dtype.str)
        assert of_numpy.grid == coder(case).grid
        assert all(type(extent) is int for extent in of_numpy.grid.chunk_shape)
    assert_same_bits(case.decode(case.encode()), case.array)


@every_case
def test_threads_change_no_byte(case: Case) -> None:
    data = case.encode()
    for limit in (1, 5):
        threads.set_thread_limit(limit)
        assert case.encode() == data
        assert_same_bits(case.decode(data), case.array)


@many_cases
def test_the_reference_agrees(case: Case) -> None:
    """Blocks, decoded and encoded by plain Python that was written from the specification."""
    plan = coder(case)
    blocks = frame.unpack(case.encode(), plan.layout)
    for i in chosen_blocks(plan, samples=1500):
        part = blocks.payloads[i]
        expected = np.asarray(plan.views(case.array)[i])
        configuration = case.sample.params.to_dict()
        values, again = reference(case.codec_type).recode_block(
            part.tobytes(), configuration, expected.shape, expected.dtype
        )
        assert_same_bits(np.reshape(values, expected.shape), expected)
        assert again == part.tobytes()


def chosen_blocks(plan: ChunkCoder, samples: int) -> list[int]:
    """First and last block, and others as long as they hold not too many samples in all."""
    n = plan.grid.n_blocks
    order = list(dict.fromkeys([n - 1, 0, *range(n)]))
    size = int(np.prod(plan.grid.block_shape))
    return order[: max(1, samples // size)]


@every_case
def test_every_truncation_is_corrupt(case: Case) -> None:
    data = memoryview(case.encode())
    plan = coder(case)
    for size in range(len(data)):
        with pytest.raises(CorruptChunk):
            frame.unpack(data[:size], plan.layout)
    for size in (0, 30, len(data) - 1):
        with pytest.raises(CorruptChunk):
            case.decode(data[:size])


@every_case
def test_flipped_bits_never_pass(case: Case) -> None:
    data = case.encode()
    rng = random.Random(label(case))
    for _ in range(200):
        damaged = bytearray(data)
        for bit in rng.sample(range(8 * len(data)), rng.choice([1, 1, 2, 9])):
            damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CorruptChunk):
            case.decode(damaged)


@every_case
def test_forged_blocks_never_crash(case: Case) -> None:
    """Damage below checksums that hold: a Gangsaw error or wrong samples, nothing else."""
    plan = coder(case)
    blocks = frame.unpack(case.encode(), plan.layout)
    rng = np.random.default_rng(blocks.n_bytes)
    for _ in range(24):
        data = frame.pack(forged(blocks, rng), plan.layout)
        with suppress(GangsawError):
            case.decode(data)


@every_case
@pytest.mark.parametrize("times", [1, 6])
def test_the_memory_promise_holds(case: Case, times: int) -> None:
    """For the sample, and for one that is larger along the axes that it may grow along."""
    array = case.array
    for axis in case.sample.grows:
        array = np.concatenate([array] * times, axis)
    codec, out = case.codec, np.empty(array.shape, array.dtype)
    data = codec.encode_chunk(array)
    codec.decode_chunk(data, out)
    promised = codec.peak_bytes(array.shape, array.dtype)
    assert traced_peak(lambda: codec.encode_chunk(array)) <= promised
    assert traced_peak(lambda: codec.decode_chunk(data, out)) <= promised


def traced_peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@every_case
def test_configuration_survives_json_and_pickle(case: Case) -> None:
    codec = case.codec
    assert case.codec_type.from_dict(json.loads(json.dumps(codec.to_dict()))) == codec
    assert pickle.loads(pickle.dumps(codec)) == codec


@each_kind
def test_each_operation_is_recorded(case: Case) -> None:
    name = case.codec_type.codec_name
    record.reset()
    data = case.encode()
    case.decode(data)
    totals = record.snapshot()
    encoded, decoded = totals[name, "encode", "cpu"], totals[name, "decode", "cpu"]
    assert (encoded.count, encoded.raw_bytes) == (1, case.array.nbytes)
    assert encoded.encoded_bytes == len(data)
    assert (decoded.count, decoded.raw_bytes) == (1, case.array.nbytes)


@over_codecs
def test_any_selection_of_a_sample(codec_type: Any) -> None:
    """Hypothesis: shapes, strides, signs of strides, memory orders and dtypes."""
    mine = [case for case in CASES if case.codec_type is codec_type]

    @given(st.data())
    @settings(max_examples=150, suppress_health_check=list(HealthCheck))
    def check(data: st.DataObject) -> None:
        case = data.draw(st.sampled_from(mine))
        array = draw_view(data, case.array)
        try:
            coded = case.codec.encode_chunk(array)
        except BadParams:  # tables of one entry per band fit no other shape
            return
        out = np.empty(array.shape, array.dtype, data.draw(st.sampled_from("CF")))
        case.codec.decode_chunk(coded, out)
        assert_same_bits(out, array)

    check()


def draw_view(data: st.DataObject, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A non-empty strided view, in one of four memory orders."""
    steps = [data.draw(st.sampled_from([1, 1, 2, -1, -3])) for _ in array.shape]
    view = array[tuple(slice(None, None, step) for step in steps)]
    ends = [data.draw(st.integers(1, n)) for n in view.shape]
    view = view[tuple(slice(end) for end in ends)]
    make = data.draw(st.sampled_from([np.asarray, np.ascontiguousarray, np.asfortranarray]))
    result: npt.NDArray[Any] = make(view)
    return result


@over_codecs
@pytest.mark.parametrize(
    "shape", [(), (5,), (5, 6), (2, 3, 4), (2, 1, 3, 4, 2), (0, 3, 4)], ids=str
)
def test_an_array_is_taken_or_refused_at_once(codec_type: Any, shape: Any) -> None:
    for kind in ("?", "i1", "u8", "f2", "f8", "c8", "S3", "U2", "M8[s]", "V5"):
        with suppress(BadParams):
            plan = codec_type().coder(shape, np.dtype(kind))
            assert plan.grid.chunk_shape == shape, kind
            assert (plan.grid.n_blocks == 0) == (0 in shape), kind


@over_codecs
def test_unknown_parameters_are_refused(codec_type: Any) -> None:
    configuration = {"name": codec_type.codec_name, "configuration": {"no_such": 1}}
    with pytest.raises(BadParams, match="no_such"):
        codec_type.from_dict(configuration)


@over_codecs
def test_the_specification_has_a_configuration_that_works(codec_type: Any) -> None:
    text = (place(codec_type) / "SPEC.md").read_text()
    examples = [json.loads(found) for found in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    assert examples, "SPEC.md gives no JSON configuration"
    for example in examples:
        codec = codec_type.from_dict(example)
        assert codec_type.from_dict(codec.to_dict()) == codec


def test_codec_ids_are_distinct() -> None:
    ids = {case.codec_type: coder(case).layout.codec_id for case in CASES}
    assert len(set(ids.values())) == len(ids)


@over_codecs
def test_help_shows_the_parameters(codec_type: Any) -> None:
    assert list(inspect.signature(codec_type).parameters) == list(codec_type().params.to_dict())
