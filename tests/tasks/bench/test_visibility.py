"""The benchmark of visibilities: peers give all bits back, both packings too, a page is written."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.tasks.bench.host import stored_bytes
from gangsaw.tasks.radio.synthetic import make_visibilities

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SECTIONS = ("visibility", "visibility_speed", "visibility_paper", "visibility_packing")
PARTS = {"one number": np.s_[0, 0, 0], "one channel": np.s_[:, 1]}

Cube = npt.NDArray[Any]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)


def hostile(dtype: str) -> Cube:
    """Return random bits: NaN with payloads, signed zeros, infinities and denormals among them."""
    rng = np.random.default_rng(4)
    component = np.dtype(dtype).itemsize // 2
    bits = rng.integers(0, 256, (3, 5, 8 * 2 * component), np.uint8).view(f"u{component}")
    bits[0, 0, :6] = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-320], f"f{component}").view(
        bits.dtype
    )
    return bits.view(dtype)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_peers_give_all_bits_back(dtype: str) -> None:
    pytest.importorskip("blosc2")
    from visibility_peers import peers

    cube = hostile(dtype)
    sizes = {peer.name: stored_bytes(cube, peer) for peer in peers(cube)}  # raises where not
    assert min(sizes.values()) > cube.nbytes / 2
    assert {"gzip -6", "zstd -3", "blosc2 shuffle4+zstd1"} <= set(sizes)
    assert not any(name.startswith("Sisco") for name in sizes if dtype == "complex128")


words = st.lists(st.integers(0, 32).flatmap(lambda n: st.integers(0, (1 << n) - 1)), max_size=70)


@given(words, st.sampled_from([1, 3, 8, 64]), st.sampled_from([0, 3]), st.booleans())
def test_packed_words_come_back(
    values: list[int], segment: int, shift: int, independent: bool
) -> None:
    from visibility_packing import Room, pack, unpack

    given_words = np.array(values, np.uint32)
    room = Room(given_words.size, segment)
    for array in (room.counts, room.left, room.apart):
        array.fill(0xA5)  # what was there before does not matter
    packed = pack(given_words, segment, shift, independent, room)
    back = np.empty_like(given_words)
    unpack(packed, segment, shift, independent, back)
    assert np.array_equal(back, given_words)


def test_both_ways_of_packing_hold_the_same_bits() -> None:
    from visibility_packing import Room, pack

    given_words = np.random.default_rng(1).integers(0, 1 << 20, 4096, np.uint32)
    rooms = Room(4096, 4096), Room(4096, 4096)
    stream, block = (pack(given_words, 4096, 0, bool(i), rooms[i]) for i in range(2))
    n = -(-int(stream.starts[-1]) // 8)
    assert np.array_equal(rooms[0].left[:n], rooms[1].left[:n])
    assert block.stored_bytes == stream.stored_bytes + 4  # its index


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The program with its own folder, on a cube of a few kilobytes."""
    pytest.importorskip("blosc2")
    import bench_visibility
    import bench_visibility_packing
    import bench_visibility_paper
    import bench_visibility_speed
    import run

    cube = make_visibilities(4, 6, 8).data
    for module in (bench_visibility, bench_visibility_speed, bench_visibility_paper):
        monkeypatch.setattr(module, "synthetic", lambda _=8: cube)
        monkeypatch.setattr(module, "real_cubes", lambda: iter([("a file", cube)]))
    monkeypatch.setattr(bench_visibility_packing, "synthetic", lambda: cube)
    monkeypatch.setattr(bench_visibility_packing, "SEGMENTS", (8, 64))
    monkeypatch.setattr(bench_visibility_speed, "PARTS", PARTS)
    monkeypatch.setattr(run, "HERE", tmp_path)
    return run


def test_one_run_writes_page_figures_and_plots(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", *SECTIONS, "--write"])
    run.main()
    page = (tmp_path / "RESULTS-VISIBILITY.md").read_text()
    found = json.loads((tmp_path / "results-visibility.json").read_text())["sections"]
    titles = [run.SECTIONS[name] for name in SECTIONS]
    assert list(found) == titles
    assert all(row["value"] > 0 for title in titles[:2] for row in found[title][4:])
    what = {row["what"] for rows in found.values() for row in rows}
    assert {"dense, a file", "dense, all 1 real files", "saved, median, difference, bytes"} <= what
    plots = sorted(tmp_path.glob("*.svg"))
    assert len(plots) == 4
    assert all(f"]({plot.name})" in page for plot in plots)
    before = {plot: plot.read_bytes() for plot in plots}
    (written,) = (page for page in run.PAGES if page.plots)
    written.write(tmp_path, ())  # the same rows make the same files
    assert {plot: plot.read_bytes() for plot in plots} == before
    assert (tmp_path / "RESULTS-VISIBILITY.md").read_text() == page
