"""The table of formats: what the help and the error texts say of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from helpers.command_line import CommandLine
from helpers.envi_files import cube, write_envi
from helpers.small_files import hdf5, unknown

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract import table
from gangsaw.tasks.formats.contract.format import Format, Look, Sure
from gangsaw.tasks.formats.contract.opening import find_format, open_paths
from gangsaw.tasks.jobs.figures import report


def ours() -> list[Format]:
    """The formats that the package brings."""
    entries = entry_points(group=table.GROUP)
    names = {e.name for e in entries if e.value.startswith("gangsaw.tasks.")}
    return [kind for kind in table.formats().values() if kind.name in names]


def test_their_names_are_those_of_the_table() -> None:
    assert len(ours()) == 23
    assert {name: kind.name for name, kind in table.formats().items()} == {
        name: name for name in table.formats()
    }


@pytest.mark.parametrize("command", ["compress", "decompress", "verify"])
def test_the_help_names_them(
    gangsaw: CommandLine, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    text = gangsaw.ok(command, "--help").out
    among = table.writable() if command == "decompress" else table.readable()
    assert table.list_names(among) in text


def test_the_table_loads_nothing_heavy() -> None:
    heavy = "{'numpy', 'zarr', 'h5py', 'xarray', 'dask', 'numba'}"
    names = [kind.name for kind in ours()]
    code = f"""if 1:
        import sys
        from importlib.metadata import entry_points
        for entry in entry_points(group="gangsaw.formats"):
            if entry.name in {names!r}:
                entry.load()
        print(*{heavy} & set(sys.modules))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_what_is_of_no_format_names_all(tmp_path: Path) -> None:
    unknown(tmp_path / "a")
    with pytest.raises(BadParams) as raised:
        open_paths([str(tmp_path / "a")])
    assert table.titles(table.readable()) in str(raised.value)


def test_two_formats_that_are_equally_sure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hdf5(tmp_path / "a")
    rival = Format(
        name="rival", title="Rival", about="", sure=lambda _: Sure.CONTENT, open=lambda *_: None
    )
    found = {"rival": rival, **table.formats()}
    monkeypatch.setattr(table, "formats", lambda: found)
    with pytest.raises(BadParams, match="may be NetCDF, Rival: pass --format netcdf or rival"):
        find_format([str(tmp_path / "a")])


def test_a_module_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.tif").write_bytes(b"II*\0")
    monkeypatch.setitem(sys.modules, "rioxarray", None)
    line = r'is GeoTIFF: rioxarray is missing: pip install "gangsaw\[io\]"'
    with pytest.raises(BadParams, match=line):
        open_paths([str(tmp_path / "a.tif")])


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all that is opened, by formats of the table and for figures of a store."""
    names: list[str] = []

    def counted(open_it: Callable[..., Any]) -> Callable[..., Any]:
        def open_and_count(paths: Any, *rest: Any) -> Any:
            names.append(Path(paths if isinstance(paths, str) else paths[0]).name)
            return open_it(paths, *rest)

        return open_and_count

    for name, kind in table.formats().items():
        if kind.open is not None:
            changed = replace(kind, open=counted(kind.open))
            monkeypatch.setitem(table.formats(), name, changed)
    monkeypatch.setattr(report, "open_zarr", counted(report.open_zarr))
    return names


def test_a_command_opens_its_source_once(
    gangsaw: CommandLine, tmp_path: Path, opened: list[str]
) -> None:
    write_envi(tmp_path / "a.hdr", cube())
    scene, store, here = tmp_path / "a.hdr", tmp_path / "a.zarr", ("--workers", 0)
    once = ("--rounds", 1, "--no-peers")
    for command, expected in (
        (("compress", scene, store, *here), "a.hdr"),
        (("verify", store, "--against", scene, *here), "a.hdr"),
        (("info", store, "--plot", tmp_path / "a.png"), "a.zarr"),
        (("decompress", store, tmp_path / "b.nc", *here), "a.zarr"),
        (("decompress", store, tmp_path / "b.zarr", *here), "a.zarr"),
        (("stream", "encode", scene, tmp_path / "a.c123"), "a.hdr"),
        (("bench", scene, *once), "a.hdr"),
    ):
        opened.clear()
        gangsaw.ok(*command)
        assert opened == [expected], command


def test_the_demo_opens_each_file_once(
    gangsaw: CommandLine, tmp_path: Path, opened: list[str]
) -> None:
    """And the store twice: to decompress it, and for its figures."""
    gangsaw.ok("demo", "--size", "8,16,16", "--out", tmp_path / "demo", "--workers", 0)
    assert opened == ["scene.hdr", "scene.zarr", "copy.hdr", "scene.zarr"]
    write_envi(tmp_path / "a.hdr", cube())
    opened.clear()
    gangsaw.ok("demo", tmp_path / "a.hdr", "--out", tmp_path / "demo", "--workers", 0)
    assert opened == ["a.hdr", "scene.zarr", "copy.hdr", "scene.zarr"]


def test_no_format_is_sure_of_an_address_but_zarr() -> None:
    look = Look("s3://bucket/a.nc", is_address=True)
    assert [kind.name for kind in table.readable() if kind.sure(look)] == ["zarr"]


def test_a_format_that_cannot_be_imported_costs_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "broken_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[gangsaw.formats]\nbroken = no_such_module:X\n")
    monkeypatch.syspath_prepend(tmp_path)
    table.formats.cache_clear()
    with pytest.warns(UserWarning, match="broken of broken-plugin .* is left out"):
        found = table.formats()
    assert "broken" not in found
    assert "envi" in found
    assert table.formats() is found
    table.formats.cache_clear()
