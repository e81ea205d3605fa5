"""`verify` holds stores of visibilities against what the field's own library reads."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.radio_files import kat_file, make_uvdata, scaled_uvfits, write, write_as
from hypothesis import given
from hypothesis import strategies as st

import gangsaw
from gangsaw.tasks.formats.contract.opening import (
    SourceOptions,
    open_independent_reader,
    open_source,
)
from gangsaw.tasks.radio import independent_readers
from gangsaw.tasks.radio.independent_readers.row_numbers import find_row_numbers
from gangsaw.tasks.radio.rows import map_rows_to_axes

pytest.importorskip("pyuvdata", reason="the extra radio is not installed")
pytest.importorskip("casacore.tables", reason="the extra radio is not installed")


LOSSY = SourceOptions(accept_loss=True)


def by_baseline(path: Path) -> Path:
    uvdata = make_uvdata()
    uvdata.reorder_blts(order="baseline", minor_order="time", run_check=False)
    return write_as(uvdata, path)


def miriad(path: Path) -> Path:
    return write_as(make_uvdata(special=False), path)


FILES: dict[str, tuple[Callable[..., Path], str]] = {
    "a.ms": (write, "python-casacore"),
    "ragged.ms": (lambda path: write(path, ragged=True), "python-casacore"),
    "baseline.ms": (by_baseline, "python-casacore"),
    "a.uvh5": (write, "h5py"),
    "ragged.uvh5": (lambda path: write(path, ragged=True), "h5py"),
    "baseline.uvh5": (by_baseline, "h5py"),
    "kat.h5": (lambda path: kat_file(path, "3"), "h5py"),
    "a.uvfits": (write, "astropy"),
    "ragged.uvfits": (lambda path: write(path, ragged=True), "astropy"),
    "double.uvfits": (scaled_uvfits, "pyuvdata"),
    "a.uv": (miriad, "pyuvdata"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_library_reads_every_array(tmp_path: Path, name: str) -> None:
    make, reader = FILES[name]
    source, store = make(tmp_path / name), tmp_path / "out.zarr"
    gangsaw.compress(source, store, accept_loss=True)
    report = gangsaw.verify(store, against=source, accept_loss=True)
    assert (report.problems, [r.split()[0] for r in report.readers]) == ((), [reader])
    seen = {array.name for array in open_independent_reader([str(source)], LOSSY).arrays}  # type: ignore[union-attr]
    assert seen >= {array.name for array in open_source(str(source), LOSSY).arrays}


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("variable", ["VISIBILITY", "FLAG", "WEIGHT", "UVW"])
@pytest.mark.parametrize("name", FILES)
def test_a_reader_that_is_wrong_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, variable: str
) -> None:
    source, store = FILES[name][0](tmp_path / name), tmp_path / "out.zarr"
    found = {array.name: array for array in open_source(str(source), LOSSY).arrays}
    if variable not in found:
        pytest.skip(f"{name} has no array {variable}")
    kind: Any = type(found[variable])
    fetch = kind.fetch

    def wrong(self: Any, *of: Any) -> Any:
        values = fetch(self, *of)
        return np.flip(values) if self.name == variable else values

    monkeypatch.setattr(kind, "fetch", wrong)
    gangsaw.compress(source, store, accept_loss=True)
    assert any(
        variable in line
        for line in gangsaw.verify(store, against=source, accept_loss=True).problems
    )


@pytest.mark.parametrize("name", ["a.ms", "a.uvh5", "a.uvfits"])
def test_rows_at_wrong_places_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Our own reader has the times of a chunk in the wrong order."""
    from gangsaw.tasks.radio.rows import Rows

    source, store = write(tmp_path / name), tmp_path / "out.zarr"
    read = Rows.read
    monkeypatch.setattr(Rows, "read", lambda self, *of: np.flip(read(self, *of), 0))
    gangsaw.compress(source, store, accept_loss=True)
    problems = gangsaw.verify(store, against=source, accept_loss=True).problems
    assert any("VISIBILITY" in line for line in problems)


@given(
    n_times=st.integers(1, 4),
    n_baselines=st.integers(1, 4),
    swapped=st.booleans(),
    dropped=st.sets(st.integers(0, 15)),
    order=st.randoms(use_true_random=False),
    shuffled=st.booleans(),
)
def test_places_are_those_of_the_store(
    n_times: int, n_baselines: int, swapped: bool, dropped: set[int], order: Any, shuffled: bool
) -> None:
    places = [(t, b) for t in range(n_times) for b in range(n_baselines)]
    if swapped:
        places.sort(key=lambda place: place[::-1])
    if shuffled:
        order.shuffle(places)
    places = [place for i, place in enumerate(places) if i not in dropped] or [(0, 0)]
    time, baseline = np.array(places).T
    keys = (time * 0.5, baseline, baseline + 1)
    rows, found = map_rows_to_axes(*keys), find_row_numbers(*keys)
    assert found is not None
    assert found.shape == rows.shape
    whole = tuple(slice(0, n) for n in rows.shape)
    numbers = np.arange(len(time))
    assert np.array_equal(found.rows(whole), rows.read(lambda run: numbers[run], whole))


def test_rows_that_keys_do_not_tell_apart_have_no_places() -> None:
    assert find_row_numbers(np.zeros(4), np.zeros(4, int), np.array([1, 1, 2, 2])) is None


def test_no_witness_imports_what_opens_the_format() -> None:
    openers = {"export", "hdf5", "measurement_sets", "radio", "rows", "uvdata"}
    for file in Path(independent_readers.__file__).parent.glob("*.py"):
        nodes = ast.walk(ast.parse(file.read_text()))
        modules = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        ours = {name.removeprefix("gangsaw.tasks.radio.").partition(".")[0] for name in modules}
        assert not openers & ours, file.name
