"""MeasurementSets as observatories write them: odd columns, several windows, any subtables."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.command_line import CommandLine
from helpers.radio_files import cells, noise, same_bits, subtables, write

HERE = ("--workers", 0)
tables = pytest.importorskip("casacore.tables", reason="the extra radio is not installed")


def opened(path: Path) -> Any:
    return tables.table(str(path), ack=False, readonly=False)


def round_trip(gangsaw: CommandLine, source: Path, *options: object) -> Path:
    """Compress, verify and decompress; every cell and subtable is the same. Return the store."""
    store, copy = source.with_suffix(".zarr"), source.with_name(f"{source.stem}.copy.ms")
    gangsaw.ok("compress", source, store, *HERE, *options)
    gangsaw.ok("verify", store, "--against", source, *HERE)
    gangsaw.ok("decompress", store, copy, "--workers", 0)
    assert cells(copy) == cells(source)
    assert repr(subtables(copy)) == repr(subtables(source))
    assert keywords(copy) == keywords(source)
    return store


def keywords(path: Path) -> dict[str, object]:
    """Return the keywords of the main table and of its columns."""
    with opened(path) as main:
        own = {k: v for k, v in main.getkeywords().items() if "Table: " not in str(v)}
        return {"": repr(own), **{n: repr(main.getcolkeywords(n)) for n in main.colnames()}}


def add(table: Any, name: str, kind: str, **options: Any) -> None:
    table.addcols(tables.makearrcoldesc(name, None, valuetype=kind, **options))


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A set with a column of each odd kind."""
    source = write(tmp_path / "a.ms")
    with opened(source) as main:
        add(main, "SOME_SPECTRUM", "float", ndim=2)
        add(main, "EXTENTS", "double", ndim=1)
        add(main, "TEXTS", "string", ndim=1)
        add(main, "NO_CELLS", "dcomplex", ndim=2)
        add(main, "EMPTY_CELLS", "int", ndim=1)
        main.addcols(tables.makescacoldesc("COMMENT", ""))
        for row in range(main.nrows()):
            if row % 5 == 2:
                main.putcell("SOME_SPECTRUM", row, np.full((16, 4), row, "f4"))
            main.putcell("EXTENTS", row, np.arange(1.0 + row % 3))
            main.putcell("COMMENT", row, "é" * (row % 4))
            if row % 7:
                main.putcell("TEXTS", row, [f"{row}", "µ"])
                main.putcell("EMPTY_CELLS", row, np.zeros(0, "i4"))
    return source


def test_columns_that_are_no_arrays_are_kept(gangsaw: CommandLine, odd: Path) -> None:
    store = round_trip(gangsaw, odd)
    assert "SOME_SPECTRUM" not in zarr.open_group(store, mode="r")


def test_such_columns_are_left_out_by_name(
    gangsaw: CommandLine, odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gangsaw.tasks.radio.measurement_sets.columns.MOST_WHOLE", 1000)
    store = odd.with_suffix(".zarr")
    line = gangsaw("compress", odd, store, *HERE).failed(2)
    assert "SOME_SPECTRUM has 0 MiB in some rows only" in line
    assert "--variable, or leave this out by --accept-loss" in line
    assert not store.exists()
    gangsaw.ok("compress", odd, store, "--variable", "VISIBILITY", "--variable", "FLAG", *HERE)
    line = gangsaw("decompress", store, odd.with_name("b.ms")).failed(2)
    assert "SOME_SPECTRUM" in line
    assert "must be there to write it again" in line


def test_axes_of_other_extents_have_other_names(gangsaw: CommandLine, tmp_path: Path) -> None:
    """As LOFAR's flags of the full resolution, and vectors of three beside four polarizations."""
    source = write(tmp_path / "a.ms")
    bits = np.random.default_rng(1).integers(0, 256, (50, 3, 2), "u1")
    with opened(source) as main:
        add(main, "LOFAR_FULL_RES_FLAG", "uchar", ndim=2, shape=[3, 2])
        add(main, "VECTOR", "double", ndim=1, shape=[3])
        main.putcol("LOFAR_FULL_RES_FLAG", bits)
        main.putcol("VECTOR", noise((50, 3), 2).real.astype("f8"))
    store = round_trip(gangsaw, source)
    with xr.open_zarr(store, chunks=None) as found:
        assert found["LOFAR_FULL_RES_FLAG"].dims[-2:] == tuple(
            f"LOFAR_FULL_RES_FLAG_{i}" for i in (0, 1)
        )
        assert found["VECTOR"].dims[-1] == "VECTOR_0"
        assert found["VISIBILITY"].dims[-2:] == ("frequency", "polarization")


@pytest.fixture
def windows(tmp_path: Path) -> Path:
    """A set whose times are of two spectral windows in turn."""
    return with_windows(write(tmp_path / "a.ms"))


def with_windows(source: Path) -> Path:
    """Make rows of two spectral windows, of 16 and 8 channels, by tens."""
    kinds = {"DATA": "complex", "FLAG": "boolean"}
    with opened(source) as main:
        described = (np.arange(main.nrows()) // 10 % 2).astype("i4")  # the times in turn
        values = {name: main.getcol(name) for name in kinds}
        main.removecols(list(kinds))
        for name, kind in kinds.items():
            add(main, name, kind, ndim=2)
        add(main, "WEIGHT_SPECTRUM_OF_ONE", "float", ndim=2)
        for row, which in enumerate(described):
            for name in kinds:
                main.putcell(name, row, values[name][row, : 16 - 8 * which])
            if which:
                main.putcell("WEIGHT_SPECTRUM_OF_ONE", row, np.full((8, 4), row, "f4"))
        main.putcol("DATA_DESC_ID", described)
    with opened(source / "DATA_DESCRIPTION") as table:
        table.addrows(1)
        table.putcol("SPECTRAL_WINDOW_ID", [0, 1])
        table.putcol("POLARIZATION_ID", [0, 0])
    with opened(source / "SPECTRAL_WINDOW") as table:
        table.copyrows(table)
        for name in ("CHAN_FREQ", "CHAN_WIDTH", "EFFECTIVE_BW", "RESOLUTION"):
            table.putcell(name, 1, table.getcell(name, 0)[:8] + 5e8 * (name == "CHAN_FREQ"))
        table.putcell("NUM_CHAN", 1, 8)
    return source


def test_all_windows_are_in_one_store(gangsaw: CommandLine, windows: Path) -> None:
    store = round_trip(gangsaw, windows)
    for number, (times, channels) in enumerate([(3, 16), (2, 8)]):
        group = f"data_description_{number}"
        with xr.open_zarr(store, group=group, chunks=None) as found:
            assert found["VISIBILITY"].shape == (times, 10, channels, 4)
            assert found["frequency"].values[0] == 1e8 + 5e8 * number
            assert ("WEIGHT_SPECTRUM_OF_ONE" in found) == bool(number)
        stored = zarr.open_array(store / group / "VISIBILITY", mode="r")
        assert stored.metadata.codecs[0].to_dict()["name"] == "gangsaw.visibility"


def test_windows_of_ragged_rows(gangsaw: CommandLine, tmp_path: Path) -> None:
    store = round_trip(gangsaw, with_windows(write(tmp_path / "a.ms", ragged=True)))
    with xr.open_datatree(store, engine="zarr", chunks=None) as tree:
        assert tree["data_description_1"]["VISIBILITY"].dims[0] == "row"


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("number", [0, 1])
def test_one_window_of_several(gangsaw: CommandLine, windows: Path, number: int) -> None:
    store, copy = windows.with_name("b.zarr"), windows.with_name("b.ms")
    gangsaw.ok("compress", windows, store, "--group", number, *HERE)
    gangsaw.ok("verify", store, "--against", windows, "--group", number, *HERE)
    gangsaw.ok("decompress", store, copy)
    with opened(windows) as main, opened(copy) as back:
        mine = main.query(f"DATA_DESC_ID == {number}")
        assert same_bits(mine.getcol("DATA"), back.getcol("DATA"))
        assert same_bits(mine.getcol("DATA_DESC_ID"), back.getcol("DATA_DESC_ID"))
    gangsaw.ok("decompress", store, windows.with_name("b.uvh5"), "--accept-loss")
    line = gangsaw("compress", windows, windows.with_name("c.zarr"), "--group", "7", *HERE)
    assert "has no data description 7; there are: [0, 1]" in line.failed(2)


def test_a_damaged_chunk_of_a_window_is_named(gangsaw: CommandLine, windows: Path) -> None:
    store = windows.with_suffix(".zarr")
    gangsaw.ok("compress", windows, store, *HERE)
    (chunk,) = (p for p in (store / "data_description_1/VISIBILITY/c").rglob("*") if p.is_file())
    octets = bytearray(chunk.read_bytes())
    octets[-1] ^= 1
    chunk.write_bytes(octets)
    line = gangsaw("decompress", store, windows.with_name("b.ms")).failed(1)
    assert "data_description_1/VISIBILITY, chunk c/0" in line
    assert not windows.with_name("b.ms").exists()


def test_verify_names_what_differs_beside_the_arrays(gangsaw: CommandLine, odd: Path) -> None:
    with opened(odd) as main:
        main.putcolkeyword("UVW", "NOTE", {"nested": {"a": 1}})
        main.putkeyword("LIST", [1, 2])
    store = odd.with_suffix(".zarr")
    gangsaw.ok("compress", odd, store, *HERE)
    gangsaw.ok("verify", store, "--against", odd, *HERE)
    changed = odd.with_name("changed.ms")
    shutil.copytree(odd, changed)
    with opened(changed / "ANTENNA") as antennas, opened(changed) as main:
        antennas.putcell("NAME", 1, "another")
        main.putcell("COMMENT", 3, "another")
        main.putcolkeyword("UVW", "NOTE", {"nested": {"a": 2}})
        main.putkeyword("LIST", [1, 3])
    ran = gangsaw("verify", store, "--against", changed, *HERE)
    assert ran.code == 1
    for line in (
        "template: ANTENNA: column NAME differs from the source's",
        "template: main table: column COMMENT differs",
        "template: main table: column UVW differs",
        "template: main table: keyword LIST differs",
    ):
        assert line in ran.out + ran.err


DYSCO = {
    "TYPE": "DyscoStMan",
    "NAME": "quantised",
    "SPEC": {
        "dataBitCount": 8,
        "weightBitCount": 12,
        "normalization": "AF",
        "distribution": "TruncatedGaussian",
        "distributionTruncation": 2.5,
        "studentTNu": 0.0,
    },
}


@pytest.fixture
def quantised(tmp_path: Path) -> Path:
    """A set whose DATA is stored by Dysco."""
    source = write(tmp_path / "a.ms", special=False)
    with opened(source) as main:
        values = main.getcol("DATA")
        main.removecols(["DATA"])
        main.addcols(
            tables.makearrcoldesc(
                "DATA", None, valuetype="complex", shape=[16, 4], options=5, keywords={"UNIT": "Jy"}
            ),
            DYSCO,
        )
        main.putcol("DATA", values)
    return source


def manager_of_data(path: Path) -> tuple[Any, bytes, Any]:
    """Return type and parameters of the manager of DATA, its file, and keywords of the column."""
    with opened(path) as main:
        (found,) = (m for m in main.getdminfo().values() if "DATA" in m["COLUMNS"])
        keywords = main.getcolkeywords("DATA")
    data = (path / f"table.f{found['SEQNR']}").read_bytes()
    return (found["TYPE"], found["SPEC"]), data, keywords


def test_dysco_keeps_its_bytes(gangsaw: CommandLine, quantised: Path) -> None:
    before = manager_of_data(quantised)
    store = round_trip(gangsaw, quantised)
    assert before[0][0] == "DyscoStMan"
    assert manager_of_data(quantised.with_name("a.copy.ms")) == before
    stored = zarr.open_array(store / "DATA.DyscoStMan", mode="r")
    assert stored[...].tobytes() == before[1]
    assert "VISIBILITY" not in zarr.open_group(store, mode="r")


def test_a_column_of_dysco_can_be_taken_as_numbers(gangsaw: CommandLine, quantised: Path) -> None:
    store = quantised.with_suffix(".zarr")
    gangsaw.ok("compress", quantised, store, "--variable", "VISIBILITY", *HERE)
    with opened(quantised) as main, xr.open_zarr(store, chunks=None) as found:
        assert same_bits(found["VISIBILITY"].values.reshape(50, 16, 4), main.getcol("DATA"))


def test_such_columns_are_left_out_where_the_user_accepts_it(
    gangsaw: CommandLine, odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gangsaw.tasks.radio.measurement_sets.columns.MOST_WHOLE", 3000)
    store, copy = odd.with_suffix(".zarr"), odd.with_name("b.ms")
    ran = gangsaw.ok("compress", odd, store, "--accept-loss", *HERE)
    assert "left out: SOME_SPECTRUM has" in ran.out + ran.err
    assert "SOME_SPECTRUM" in zarr.open_group(store, mode="r").attrs["gangsaw_left_out"][0]
    gangsaw.ok("verify", store, "--against", odd, "--accept-loss", *HERE)
    gangsaw.ok("decompress", store, copy)
    before, after = cells(odd), cells(copy)
    assert before.keys() - after.keys() == {"SOME_SPECTRUM"}
    assert all(after[name] == before[name] for name in after)


@pytest.mark.full
def test_large_files_of_subtables_are_arrays(
    gangsaw: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gangsaw.tasks.radio.measurement_sets.files.SMALL", 30_000)
    source = write(tmp_path / "a.ms")
    with opened(source / "POINTING") as table:
        table.addrows(2000)
        table.putcol("TIME", np.random.default_rng(1).normal(size=table.nrows()))
    store = round_trip(gangsaw, source)
    names = [name for name, _ in zarr.open_group(store, mode="r")["POINTING"].arrays()]
    assert names
    assert zarr.open_array(store / "template", mode="r").shape[0] < 2_000_000
    with opened(source / "POINTING") as table:
        table.putcell("TIME", 1500, 7.0)
    ran = gangsaw("verify", store, "--against", source, *HERE)
    assert ran.code == 1
    assert "POINTING/table.f" in ran.out + ran.err
    gangsaw.ok("compress", source, store, "--variable", "VISIBILITY", "--overwrite", *HERE)
    line = gangsaw("decompress", store, tmp_path / "c.ms").failed(2)
    assert "UVW, FLAG" in line
    assert "with all variables" in line


def test_computed_columns_are_read_and_not_written(gangsaw: CommandLine, tmp_path: Path) -> None:
    """A column of integers and a scale, one of TaQL: their values come from others."""
    source = write(tmp_path / "a.ms", special=False)
    with opened(source) as main:
        values = main.getcol("DATA")
        scale = {"AUTOSCALE": False, "SCALE": 0.001, "OFFSET": 0.0}
        spec = {"SOURCENAME": "QDATA", "TARGETNAME": "QDATA_COMPRESSED", **scale}
        add(main, "QDATA_COMPRESSED", "int", ndim=2)
        main.addcols(
            tables.maketabdesc([tables.makearrcoldesc("QDATA", 0j, valuetype="complex", ndim=2)]),
            {"TYPE": "CompressComplex", "NAME": "QDATA", "SPEC": spec},
        )
        main.addcols(
            tables.maketabdesc([tables.makescacoldesc("TWICE", 0.0, valuetype="double")]),
            {"TYPE": "VirtualTaQLColumn", "NAME": "", "SPEC": {"TAQLCALCEXPR": "TIME*2"}},
        )
        for row in range(main.nrows()):
            main.putcell("QDATA", row, values[row])
        quantised = main.getcol("QDATA")
    store = round_trip(gangsaw, source)
    found = zarr.open_array(store / "QDATA", mode="r")
    assert same_bits(np.asarray(found[...]).reshape(quantised.shape), quantised)
    assert "item" not in found.attrs
    with opened(source.with_name("a.copy.ms")) as main:
        kinds = {m["TYPE"] for m in main.getdminfo().values()}
    assert {"CompressComplex", "VirtualTaQLColumn"} <= kinds
