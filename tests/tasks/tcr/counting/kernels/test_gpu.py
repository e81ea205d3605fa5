"""The GPU's path counts against the CPU's and the reference's: on a device, or emulated kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from emulator.host_module import KernelFault, schedule
from emulator.pools import device_memory
from helpers.tcr_cases import (
    CORNERS,
    D1,
    D2,
    WORKED,
    Case,
    Expected,
    J,
    V,
    assert_counts,
    batch_of,
    corner,
    expected,
)
from helpers.tcr_cases import vector_parameters as vectors
from helpers.tcr_strategies import cases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.cuda import launch as core_gpu
from gangsaw.codecs.core.cuda import sources as kernels
from gangsaw.codecs.core.cuda.device import backend
from gangsaw.codecs.core.errors import BadParams, DeviceError
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.tcr import Model
from gangsaw.tasks.tcr.counting.kernels import cpu, gpu
from gangsaw.tasks.tcr.counting.kernels.batch import Batch, Counts
from gangsaw.tasks.tcr.counting.paths import count
from gangsaw.tasks.tcr.counting.paths.synthetic import random_batch

PARTS: dict[str, Sequence[str]] = {
    "v": (V, "TGTGCCAGCAG", "ACGT"),
    "d": (D1, D2, "GGGACTAGCGGGGGGG"),
    "j": (J, "TGAACACTGAAGC", "ACGTAC"),
}
# Each is a separate kernel.
MODELS = {
    "one strand": Model(),
    "all": Model("both", strands=2, min_d_end=0),
    "most": Model("both", max_p=1, max_n=15),
    "few": Model("both", max_p=1, max_n=3),
    "nothing": Model("both", max_p=0, max_n=0),
    "two D": Model(strands=2, d_segments=2),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def on_host(counts: Counts) -> dict[str, Any]:
    arrays = {field.name: getattr(counts, field.name) for field in fields(counts)}
    return {name: None if array is None else array.get() for name, array in arrays.items()}


def assert_same(cupy: ModuleType, batch: Batch, model: Model) -> dict[str, Any]:
    """Hold the counts against the CPU's."""
    found, right = on_host(gpu.count(gpu.uploaded(batch), model)), cpu.count(batch, model)
    for field in fields(Counts):
        wanted = getattr(right, field.name)
        np.testing.assert_array_equal(found[field.name], wanted, field.name, strict=True)
    return found


def assert_right(cupy: ModuleType, case: Case, wanted: Expected | None = None) -> None:
    """Hold the counts against the reference's."""
    found = gpu.count(gpu.uploaded(batch_of(case)), case.model)
    assert_counts(on_host(found), expected(case) if wanted is None else wanted)


@pytest.mark.parametrize(("case", "wanted"), vectors())
def test_vector(cupy: ModuleType, case: Case, wanted: Expected) -> None:
    assert_right(cupy, case, wanted)


@pytest.mark.parametrize("kernel", ["all", "two D"])
@pytest.mark.parametrize("name", CORNERS)
def test_corner(cupy: ModuleType, name: str, kernel: str) -> None:
    case = corner(name, MODELS[kernel])
    assert_right(cupy, replace(case, d={**case.d, "another": D2}))


@every_model
@pytest.mark.parametrize("n_d", [0, 1, 2, 3])
def test_random_references(cupy: ModuleType, model: Model, n_d: int) -> None:
    """Of any lengths, V, J and D genes in one launch; D genes share a warp by two."""
    parts = {**PARTS, "d": PARTS["d"][:n_d]}
    assert_same(cupy, random_batch(**parts, n=60, seed=n_d), model)


@pytest.mark.parametrize("kernel", MODELS)
@given(data=st.data(), seed=st.sampled_from((0, 1, 7)))
@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # the fixture has no state
)
def test_any_reference(cupy: ModuleType, kernel: str, data: st.DataObject, seed: int) -> None:
    """Few letters and wildcards, in references and genes, as the reference counts them."""
    model = MODELS[kernel]
    case = data.draw(cases(st.just(model), n_d=(2 * (model.d_segments - 1), 3)))
    with schedule(seed=seed):
        assert_right(cupy, case)


UNITS = ("A", "AT", "N", "GATTACA", "RY")


@pytest.mark.full
@pytest.mark.parametrize("kernel", ["all", "two D"])
def test_every_length_that_has_room(cupy: ModuleType, kernel: str) -> None:
    """At both sides of each room, with D genes of 32 and of 64 bits; some counts overflow."""
    lengths = sorted({1, 2, *gpu.ROOMS, *(room + 1 for room in gpu.ROOMS[:-1])})
    rng = np.random.default_rng(5)
    cdr3 = ["".join(rng.choice(list("ACGT"), length)) for length in lengths]
    cdr3 += [(unit * 40)[:40] for unit in UNITS]
    for d in ({"one": "GGGACAG", "two": "CCGGTTAA"}, {"long": "GATTACA" * 8, "short": "TAAT"}):
        assert_same(cupy, count.make_batch(cdr3, V, J, d, MODELS[kernel]), MODELS[kernel])


def test_launches_are_by_length(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    launched: list[Any] = []
    monkeypatch.setattr(gpu, "launch", lambda *a: (launched.append(a), LAUNCH(*a)))
    cdr3 = [WORKED, "A" * 200, "C", WORKED, "G" * 49]
    assert_same(cupy, count.make_batch(cdr3, V, J, {"D1": D1}, Model()), Model())
    assert [len(arguments[0]) for _, _, _, arguments, _ in launched] == [3, 1, 1]
    shared = [n_bytes for *_, n_bytes in launched]
    assert shared == sorted(shared)


LAUNCH = gpu.launch


def test_no_references(cupy: ModuleType) -> None:
    batch = random_batch(**PARTS, n=1)
    none = replace(
        batch,
        references=RaggedArray(batch.references.data[:0], np.zeros(1, np.int64)),
        v_of=batch.v_of[:0],
        j_of=batch.j_of[:0],
    )
    found = on_host(gpu.count(gpu.uploaded(none), Model()))
    assert found["full"].shape == (0, 3, 11, 5)


@pytest.mark.parametrize("which", ["v_of", "j_of"])
@pytest.mark.parametrize("number", [-1, 3])
def test_parts_that_are_not_there(cupy: ModuleType, which: str, number: int) -> None:
    batch = random_batch(**PARTS, n=9)
    of = getattr(batch, which).copy()
    of[[4, 7]] = number
    wrong = replace(batch, **{which: of})
    with pytest.raises(BadParams, match="reference 4: v_of or j_of is no V or J part"):
        gpu.count(gpu.uploaded(wrong), Model())
    with device_memory.of(60_000), pytest.raises(BadParams, match="reference 4:"):
        gpu.count_hosted(wrong, Model())


def test_parts_of_a_wrong_length(cupy: ModuleType) -> None:
    batch = random_batch(**PARTS, n=9)
    short = RaggedArray(np.ones(18, np.uint8), np.array([0, 12, 15, 18]))
    first = int(np.flatnonzero(batch.v_of > 0)[0])
    with pytest.raises(BadParams, match=rf"reference {first}: .*less than max_p \(4\) nucl"):
        gpu.count(gpu.uploaded(replace(batch, v=short)), Model())
    for length in (3, 57):
        d = RaggedArray(np.ones(length, np.uint8), np.array([0, length]))
        with pytest.raises(BadParams, match=rf"4\) to 56 nucleotides; got \[{length}\]"):
            gpu.count(gpu.uploaded(replace(batch, d=d)), Model())


def test_references_that_are_too_long(cupy: ModuleType) -> None:
    long = RaggedArray(np.ones(256, np.uint8), np.array([0, 256]))
    batch = replace(random_batch(**PARTS, n=1), references=long)
    with pytest.raises(BadParams, match="up to 255 nucleotides"):
        gpu.count(gpu.uploaded(batch), Model())


def test_arrays_of_other_types_and_strides(cupy: ModuleType) -> None:
    batch = random_batch(**PARTS, n=9)
    wide = np.stack([batch.v_of.astype(np.int64)] * 2, axis=1)
    device = replace(gpu.uploaded(batch), v_of=cupy.asarray(wide)[:, 1])
    found, right = gpu.count(device, Model()), cpu.count(batch, Model())
    np.testing.assert_array_equal(found.full.get(), right.full)


def test_equal_references_are_counted_once(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched: list[Any] = []
    monkeypatch.setattr(gpu, "launch", lambda *a: (launched.append(a), LAUNCH(*a)))
    cdr3 = [WORKED, "GATTACA", WORKED, WORKED[3:], "GATTACA", WORKED]
    batch = count.make_batch(cdr3, [V, V, V, V, J, V], J, {"D1": D1}, Model())
    found = count.count_distinct(batch, Model(), gpu.count_hosted)
    np.testing.assert_array_equal(found.full, cpu.count(batch, Model()).full)
    assert [len(arguments[0]) for _, _, _, arguments, _ in launched] == [4]


# memory of arrays


def test_the_backend_is_where_the_arrays_lie(cupy: ModuleType) -> None:
    batch = random_batch(**PARTS, n=3)
    assert backend(batch.references.data, "gangsaw.tasks.tcr.counting.kernels") is cpu
    device = gpu.uploaded(batch)
    assert backend(device.references.data, "gangsaw.tasks.tcr.counting.kernels") is gpu
    found = count.count_batch(device, Model())
    assert type(found.full) is cupy.ndarray


@pytest.mark.usefixtures("no_cupy")
def test_missing_cupy_is_told() -> None:
    with pytest.raises(DeviceError, match="CuPy is not installed"):
        gpu.count_hosted(random_batch(**PARTS, n=3), Model())


@every_model
def test_references_of_host_memory(cupy: ModuleType, model: Model) -> None:
    batch = random_batch(**PARTS, n=20)
    found, right = gpu.count_hosted(batch, model), cpu.count(batch, model)
    for field in fields(Counts):
        wanted = getattr(right, field.name)
        np.testing.assert_array_equal(getattr(found, field.name), wanted, strict=True)


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
@pytest.mark.parametrize("n", [1, 20, 400])
def test_the_memory_of_a_run_is_enough(cupy: ModuleType, n: int) -> None:
    """What is promised is all that is taken from the device, small arrays and all."""
    batch, model = random_batch(**PARTS, n=n), Model()
    with device_memory.of(1 << 30) as memory:
        before = memory.used
        gpu.count_hosted(batch, model)
    assert memory.peak - before <= gpu.run_bytes(batch, slice(0, n), model)


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
def test_what_exceeds_the_memory_is_split(cupy: ModuleType) -> None:
    batch, model = random_batch(**PARTS, n=40), Model()
    right = cpu.count(batch, model)
    with device_memory.of(100_000) as memory:
        with pytest.raises(DeviceError, match="counts of 40 references need 0 MiB"):
            gpu.count(gpu.uploaded(batch), model)
        found = gpu.count_hosted(batch, model)
    assert memory.peak <= 100_000
    np.testing.assert_array_equal(found.full, right.full)
    np.testing.assert_array_equal(found.n2, right.n2)
    with device_memory.of(4_000), pytest.raises(DeviceError, match="too little memory"):
        gpu.count_hosted(batch, model)


# what the emulation finds


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
@every_model
@pytest.mark.parametrize("seed", range(3))
def test_order_of_threads_changes_nothing(cupy: ModuleType, model: Model, seed: int) -> None:
    """The emulation also finds races and reads of unwritten memory."""
    with schedule(seed=seed, poison=0x5A):
        assert_same(cupy, random_batch(**PARTS, n=6, seed=seed), model)


BARRIER = "__syncwarp();"
SOURCE = kernels.source("gangsaw.tasks.tcr.counting.kernels", "gpu.cu")


@pytest.mark.full
@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
@pytest.mark.parametrize("number", range(SOURCE.count(BARRIER)))
def test_no_barrier_is_missed(
    cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Else the test above would prove little."""
    parts = SOURCE.split(BARRIER)
    mutant = BARRIER.join(parts[: number + 1]) + BARRIER.join(parts[number + 1 :])
    monkeypatch.setattr(kernels, "source", lambda *_: mutant)
    monkeypatch.setattr(core_gpu, "_modules", {})
    batch = gpu.uploaded(random_batch(**PARTS, n=4))
    assert any(is_found(batch, model) for model in (Model("both"), Model(d_segments=2)))


def is_found(batch: Batch, model: Model) -> bool:
    """Whether the emulation finds that a kernel is wrong."""
    try:
        gpu.count(batch, model)
    except KernelFault as fault:
        return "race" in str(fault) or "uninitialised" in str(fault)
    return False
